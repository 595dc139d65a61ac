// What is tinted in a conversation: the parts of its turns that a word looked at.

import type { Word } from "./chat";

export interface Tint {
  start: number; // characters, not units of UTF-16: Python counts them
  end: number;
  share: number; // of all the attention
}

/** The tints of each turn. */
export function tintsOf(word: Word | null): Map<number, Tint[]> {
  const found = new Map<number, Tint[]>();
  for (const [, , weight, spot] of word?.looks ?? []) {
    if (!spot) continue;
    const [turn, start, end] = spot;
    found.set(turn, [...(found.get(turn) ?? []), { start, end, share: weight }]);
  }
  return found;
}

/** The largest share that touches some characters; 0 where none does. */
export const shareAt = (tints: readonly Tint[] | undefined, start: number, end: number): number =>
  Math.max(0, ...(tints ?? []).map((one) => (one.start < end && start < one.end ? one.share : 0)));

/** A text in pieces, each tinted or not. */
export function inPieces(text: string, tints: readonly Tint[] = []): { text: string; share: number }[] {
  const letters = [...text];
  const pieces: { text: string; share: number }[] = [];
  let at = 0;
  const take = (end: number, share: number) => {
    if (end > at) pieces.push({ text: letters.slice(at, end).join(""), share });
    at = Math.max(at, end);
  };
  for (const { start, end, share } of [...tints].sort((a, b) => a.start - b.start)) {
    let word = Math.max(at, start);
    while (word < end && !letters[word].trim()) word++; // a space before a word is not marked
    take(word, 0);
    take(end, share);
  }
  take(letters.length, 0);
  return pieces;
}
