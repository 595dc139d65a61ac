// What the positions of a picture stand for: tokens, or the words they form.

import type { Side } from "../data/wire";

export type Level = "tokens" | "words";

/** Display positions of a side; position p covers tokens starts[p] .. starts[p + 1]. */
export interface Axis {
  side: Side;
  level: Level;
  count: number;
  starts: Int32Array;
  labels: string[]; // texts
  names: string[]; // what is drawn: a text that occurs twice carries its position, the₄
  special: boolean[];
  border: boolean[]; // special tokens but those that stand for a word
  segment: number[];
  folded: boolean[]; // whether a position is a whole segment
}

/** Segments of a side that are shown as one position each, by their numbers, with what they are called. */
export type Folds = Readonly<Record<number, string>>;

const SYMBOLS: Record<string, string> = { "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽" };

/** A token as it is drawn: spaces and line ends visible, control characters as symbols. */
export function visible(text: string): string {
  if (text === "") return "∅";
  const bare = text
    .replace(/^[Ġ▁]+/, (spaces) => "␣".repeat(spaces.length))
    .replace(/^ +/, (spaces) => "␣".repeat(spaces.length));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  return bare.replace(/Ċ/g, "⏎").replace(/[\u0000-\u001f\u007f\u00a0]/g, (c) => SYMBOLS[c] ?? "·");
}

/** Whether a token belongs to the word of the one before it. */
function continuesWord({ word, segment }: Side, i: number): boolean {
  const own = word?.[i] ?? null;
  return i > 0 && own !== null && own === word?.[i - 1] && segment[i] === segment[i - 1];
}

/** Whether a token belongs to the folded segment of the one before it. */
const continuesFold = ({ segment }: Side, folds: Folds, i: number): boolean =>
  i > 0 && segment[i] in folds && segment[i] === segment[i - 1];

/** The first tokens of the positions of a side at a level, and where the last one ends. */
export function startsOf(side: Side, level: Level, folds: Folds = {}): number[] {
  const n = side.text.length;
  const starts: number[] = [];
  for (let i = 0; i < n; i++)
    if (!continuesFold(side, folds, i) && (level === "tokens" || !continuesWord(side, i))) starts.push(i);
  return [...starts, n];
}

/** Positions of a side at a level. A word is a run of tokens with one word number in one segment. */
export function axisOf(side: Side, level: Level, folds: Folds = {}): Axis {
  const starts = startsOf(side, level, folds);
  const firsts = starts.slice(0, -1);
  const folded = firsts.map((first) => side.segment[first] in folds);
  const labels = firsts.map((first, p) =>
    folded[p] ? folds[side.segment[first]] : written(side, first, starts[p + 1]),
  );
  const special = firsts.map((first, p) => !folded[p] && side.special[first] === 1);
  return {
    side,
    level,
    count: firsts.length,
    starts: Int32Array.from(starts),
    labels,
    names: named(labels, firsts),
    special,
    border: firsts.map((first, p) => special[p] && !side.stand_ins?.includes(first)),
    segment: firsts.map((first) => side.segment[first]),
    folded,
  };
}

/** A token as a sentence has it: without the space before it. */
export const bare = (token: string): string => visible(token).replace(/^␣(?=[^␣])/, "");

/** Whether a token begins with a space, however its tokenizer writes that. */
export const isSpaced = (token: string): boolean => /^[ Ġ▁]/.test(token);

const LETTER = /^[\p{L}\p{N}]/u;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u; // scripts

const SILENT = "·";

/** Whether a token is a column of a line of text, in a picture of one row, that says no letter. */
function isSilent({ text, row, column, medium }: Side, i: number): boolean {
  return (
    medium?.kind === "picture" &&
    row?.[i] === 0 &&
    text[i] === `0,${column?.[i]}` &&
    !row.some((r) => r !== null && r > 0)
  );
}

/**
 * A token of a text as it is drawn: without the space that nearly every word begins with. Where there is none, in the
 * middle of a word, it has the sign that WordPiece gives such pieces.
 */
function written(side: Side, first: number, end: number): string {
  if (isSilent(side, first)) return SILENT;
  const text = bare(wordText(side, first, end));
  const piece = continuesWord(side, first) && LETTER.test(text) && !UNSPACED.test(text);
  return piece ? `##${text}` : text;
}

/** A token by itself in the words of its text. */
export const tokenIn = (side: Side, i: number): string => written(side, i, i + 1);

/** Tokens in a list without their spaces, but for those that only a space tells apart. */
export function listed(tokens: readonly string[]): string[] {
  const all = tokens.map(bare);
  return all.map((text, i) =>
    all.some((other, j) => other === text && tokens[j] !== tokens[i]) ? visible(tokens[i]) : text,
  );
}

const DIGITS = "₀₁₂₃₄₅₆₇₈₉";

/** A text with its position as a subscript. */
export const numbered = (text: string, position: number): string =>
  text + String(position).replace(/\d/g, (digit) => DIGITS[Number(digit)]);

function named(labels: readonly string[], firsts: readonly number[]): string[] {
  const seen = new Map<string, number>();
  for (const label of labels) seen.set(label, (seen.get(label) ?? 0) + 1);
  return labels.map((label, p) => (seen.get(label)! > 1 ? numbered(label, firsts[p]) : label));
}

function wordText({ text, adds }: Side, first: number, end: number): string {
  return text
    .slice(first, end)
    .map((piece, n) => (n ? (adds?.[first + n] ?? piece.replace(/^##/, "")) : piece))
    .join("");
}

/** Where a part of a text begins: prompt, answer, or a turn of a conversation. */
export interface Bound {
  at: number; // in a list of positions
  before: string;
  after: string;
}

const SENTENCES = ["A", "B"]; // parts that have a token of their own between them

/** Among these positions of an axis, where another part of the text begins. */
export function boundsOf({ side, segment }: Axis, list: readonly number[]): Bound[] {
  if (side.segments.every(({ name }) => SENTENCES.includes(name))) return [];
  const name = (p: number) => side.segments[segment[p]]?.name ?? "";
  return [...list.keys()]
    .filter((at) => at > 0 && segment[list[at]] !== segment[list[at - 1]])
    .map((at) => ({ at, before: name(list[at - 1]), after: name(list[at]) }));
}

/** The display position that shows a token. */
export function positionOf(axis: Axis, token: number): number {
  let low = 0;
  let high = axis.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (axis.starts[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether words differ from tokens on this side. */
export function hasWords(side: Side): boolean {
  return side.text.some((_, i) => continuesWord(side, i));
}
