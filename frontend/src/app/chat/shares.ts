// Where all the attention was when a word was chosen, in parts that add up to it.

import type { Shares } from "../records";

export type Part = "answer" | "prompt" | "first" | "template" | "sink";

export interface Piece {
  part: Part;
  share: number; // of all the attention
  told: number; // in whole percent; those of all pieces add up to 100
}

const WHOLE = 100;

/** The parts of the attention that are there, words first; what is missing from all of it went to a learned sink. */
export function piecesOf(shares: Shares): Piece[] {
  const { answer, prompt, first, template } = shares;
  const sink = Math.max(0, 1 - answer - prompt - first - template);
  const parts: [Part, number][] = [
    ["prompt", prompt],
    ["answer", answer],
    ["first", first],
    ["template", template],
    ["sink", sink],
  ];
  const told = inWholes(parts.map(([, share]) => share));
  return parts.map(([part, share], i) => ({ part, share, told: told[i] })).filter(({ told }) => told > 0);
}

/** Shares in whole percent that add up to 100: those that lose most by rounding down are rounded up. */
export function inWholes(shares: readonly number[]): number[] {
  const sum = shares.reduce((a, b) => a + b, 0) || 1;
  const exact = shares.map((share) => (WHOLE * share) / sum);
  const found = exact.map(Math.floor);
  const lost = exact.map((one, i) => [one - found[i], i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const left = WHOLE - found.reduce((a, b) => a + b, 0);
  for (const [, i] of lost.slice(0, left)) found[i]++;
  return found;
}

/** A share of all the attention as it is read: small ones with a decimal. */
export const inPercent = (share: number): string => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
