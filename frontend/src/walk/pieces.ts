// What a cell of a step is made of: rows that meet columns, vectors that add up, scores that become shares.

import type { Matrix } from "./maths";

export const CELLS = 32; // numbers of a vector that are drawn
export const LINES = 10; // words of a row that are drawn
const WRITTEN = 3; // terms that are written out

/** The cell that a step looks at, as places on the page. */
export interface Focus {
  row: number;
  column: number;
}

/** A piece of a calculation; `symbol` is the matrix a number belongs to. */
export interface Piece {
  text: string;
  symbol?: string;
  power?: string; // stands above
}

/** A vector: the row or column of a matrix that belongs to a word. */
export interface Strip {
  symbol: string;
  of: string;
  column?: number; // of the matrix
  values: number[];
}

/** A row meets a column: products, their sum, and what is done with it. */
export interface Dot {
  kind: "dot";
  strips: [Strip, Strip];
  products: number[];
  left: number; // numbers that are not drawn
  written: Piece[];
  result: number;
}

/** Vectors of one word added up, number by number, or following each other. */
export interface Strips {
  kind: "strips";
  strips: Strip[];
  result: Strip | null;
  at: number; // the number that is written out
  written: Piece[];
}

export interface Line {
  name: string;
  before: number;
  after: number;
  on: boolean;
}

/** What comes of a row in a later step, one number for each line. */
export interface End {
  key: "walk_unscaled" | "walk_scaled"; // what it is
  values: number[];
}

/** A row of a map, before and after. */
export interface Bars {
  kind: "bars";
  from: string;
  by?: string; // what is done to it
  to: string;
  ends: End[];
  lines: Line[];
  left: number;
  written: Piece[];
}

/** The heads' results side by side. */
export interface Blocks {
  kind: "blocks";
  blocks: { values: number[]; on: boolean }[];
  written: Piece[];
}

/** An arrow of two numbers, before and after it is turned. */
export interface Arrow {
  symbol: string;
  of: string;
  from: [number, number];
  to: [number, number];
  angle: number; // radians
}

/** A pair of numbers of a query and of a key, each turned by its position. */
export interface Turn {
  kind: "turn";
  arrows: Arrow[];
  written: Piece[];
}

/** Heads of queries under the head of keys that they share. */
export interface Sharing {
  kind: "sharing";
  groups: { head: number; on: boolean }[][];
  written: Piece[];
}

/** What is kept of earlier tokens, and what the last one adds. */
export interface Kept {
  kind: "kept";
  lines: { name: string; q: number[] | null; k: number[]; v: number[] }[];
  left: number; // earlier ones that are not drawn
  written: Piece[];
}

export type CellOf = Dot | Strips | Bars | Blocks | Turn | Sharing | Kept;

/** Two decimals, with a minus sign; smaller numbers with one digit. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  const text = size >= 0.01 || size < 1e-12 ? value.toFixed(2) : value.toPrecision(1);
  return text.replaceAll("-", "−");
}

export const factor = (value: number): string => (value < 0 ? `(${short(value)})` : short(value));

export const rowOf = (m: Matrix, row: number): number[] =>
  Array.from(m.values.subarray(row * m.columns, (row + 1) * m.columns));

export const columnOf = (m: Matrix, column: number): number[] =>
  Array.from({ length: m.rows }, (_, i) => m.values[i * m.columns + column]);

/** The place of the largest number, by size or as it is. */
export const largest = (values: readonly number[], by: (value: number) => number = (v) => v): number =>
  values.reduce((best, value, i) => (by(value) > by(values[best]) ? i : best), 0);

export const length = (values: readonly number[]): number =>
  Math.sqrt(values.reduce((all, value) => all + value * value, 0));

/** The places of the `count` largest, in their order. */
function leading(values: readonly number[], count: number): number[] {
  const places = values.map((_, i) => i);
  if (places.length <= count) return places;
  return places
    .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]))
    .slice(0, count)
    .sort((a, b) => a - b);
}

/** The terms of a sum: the three largest, and the rest as one. */
export function terms(a: readonly number[], b: readonly number[]) {
  const products = a.map((value, i) => value * b[i]);
  const first = products
    .map((_, i) => i)
    .sort((i, j) => Math.abs(products[j]) - Math.abs(products[i]))
    .slice(0, WRITTEN);
  const total = products.reduce((all, value) => all + value, 0);
  return { products, first, total, rest: total - first.reduce((all, i) => all + products[i], 0) };
}

/** A row meets a column. `after` is what follows the sum: a bias, an activation. */
export function dot(first: Strip, second: Strip, result: number, after: Piece[] = []): Dot {
  const { products, first: places, rest } = terms(first.values, second.values);
  const written = places.flatMap((i, n): Piece[] => [
    ...(n ? [{ text: " + " }] : []),
    { text: factor(first.values[i]), symbol: first.symbol },
    { text: "·" },
    { text: factor(second.values[i]), symbol: second.symbol },
  ]);
  const others = products.length - places.length;
  if (others) written.push({ text: ` + ${factor(rest)}` }, { text: ` [${others}]`, symbol: "rest" });
  written.push(...after, { text: ` = ${short(result)}` });
  const drawn = leading(products, CELLS);
  const pick = (values: readonly number[]) => drawn.map((i) => values[i]);
  return {
    ...{ kind: "dot", written, result, left: products.length - drawn.length },
    strips: [
      { ...first, values: pick(first.values) },
      { ...second, values: pick(second.values) },
    ],
    products: pick(products),
  };
}

/** Vectors added number by number; the largest of the sum is written out. */
export function added(strips: Strip[], result: Strip, ends: Piece[] = []): Strips {
  const at = largest(result.values.slice(0, CELLS), Math.abs);
  const cut = (strip: Strip) => ({ ...strip, values: strip.values.slice(0, CELLS) });
  const written = strips.flatMap((strip, n): Piece[] => [
    ...(n ? [{ text: " + " }] : []),
    { text: factor(strip.values[at]), symbol: strip.symbol },
  ]);
  written.push(...ends, { text: " = " }, { text: short(result.values[at]), symbol: result.symbol });
  return { kind: "strips", strips: strips.map(cut), result: cut(result), at, written };
}

export function bars(
  names: readonly string[],
  before: readonly number[],
  after: readonly number[],
  focus: number,
  words: { from: string; by?: string; to: string; written: Piece[] },
  ends: readonly End[] = [],
): Bars {
  const rank = after.map((value, i) =>
    i === focus ? Number.POSITIVE_INFINITY : Number.isFinite(value) ? Math.abs(value) : 0,
  );
  const places = leading(rank, LINES);
  const lines = places.map((i) => ({ name: names[i], before: before[i], after: after[i], on: i === focus }));
  const kept = ends.map(({ key, values }) => ({ key, values: places.map((i) => values[i]) }));
  return { kind: "bars", lines, left: names.length - lines.length, ends: kept, ...words };
}

/** e^s over the sum of all: the focused one above, the largest below. */
export function share(
  scores: readonly number[],
  temperature: number,
  focus: number,
  weight: number,
): Piece[] {
  const powers = scores.map((value) => Math.exp(value / temperature));
  const over = temperature === 1 ? "" : `/${short(temperature)}`;
  const first = powers
    .map((_, i) => i)
    .filter((i) => powers[i] > 0)
    .sort((i, j) => powers[j] - powers[i])
    .slice(0, WRITTEN);
  const power = (i: number): Piece => ({ text: "e", power: short(scores[i]) + over, symbol: "score" });
  const more = powers.filter((value) => value > 0).length > first.length ? [{ text: " + …" }] : [];
  const below = first.flatMap((i, n): Piece[] => [...(n ? [{ text: " + " }] : []), power(i)]);
  const top =
    scores[focus] === Number.NEGATIVE_INFINITY ? { text: "e", power: "−∞", symbol: "score" } : power(focus);
  return [top, { text: " / (" }, ...below, ...more, { text: ") = " }, { text: short(weight), symbol: "A" }];
}
