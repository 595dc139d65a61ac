// One cell of a step, taken apart: what it is made of, the largest terms written out.
// Long on purpose: one function per step of the walk, in the order of the steps.

import type { WalkData } from "./data";
import { attention, embedded, feed, type WhatIf } from "./layer";
import { headsOf, type Matrix, softmax } from "./maths";
import { partOf, type StepId } from "./order";
import { shownWords, told, type Words } from "./steps";
import { losses } from "./tables";

const CELLS = 32; // numbers of a vector that are drawn
const LINES = 10; // words of a row that are drawn
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

/** A row of a map, before and after. */
export interface Bars {
  kind: "bars";
  from: string;
  to: string;
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

export type CellOf = Dot | Strips | Bars | Blocks;

/** Two decimals, with a minus sign; smaller numbers with one digit. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  const text = size >= 0.01 || size < 1e-12 ? value.toFixed(2) : value.toPrecision(1);
  return text.replaceAll("-", "−");
}

const factor = (value: number): string => (value < 0 ? `(${short(value)})` : short(value));

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
function dot(first: Strip, second: Strip, result: number, after: Piece[] = []): Dot {
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
function added(strips: Strip[], result: Strip, ends: Piece[] = []): Strips {
  const at = largest(result.values.slice(0, CELLS), Math.abs);
  const cut = (strip: Strip) => ({ ...strip, values: strip.values.slice(0, CELLS) });
  const written = strips.flatMap((strip, n): Piece[] => [
    ...(n ? [{ text: " + " }] : []),
    { text: factor(strip.values[at]), symbol: strip.symbol },
  ]);
  written.push(...ends, { text: " = " }, { text: short(result.values[at]), symbol: result.symbol });
  return { kind: "strips", strips: strips.map(cut), result: cut(result), at, written };
}

function bars(
  names: readonly string[],
  before: readonly number[],
  after: readonly number[],
  focus: number,
  words: { from: string; to: string; written: Piece[] },
): Bars {
  const rank = after.map((value, i) =>
    i === focus ? Number.POSITIVE_INFINITY : Number.isFinite(value) ? Math.abs(value) : 0,
  );
  const places = leading(rank, LINES);
  const lines = places.map((i) => ({ name: names[i], before: before[i], after: after[i], on: i === focus }));
  return { kind: "bars", lines, left: names.length - lines.length, ...words };
}

/** e^s over the sum of all: the focused one above, the largest below. */
function share(scores: readonly number[], temperature: number, focus: number, weight: number): Piece[] {
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

/** The cell of a step; null where a table says it all. */
export function cellOf(
  data: WalkData,
  id: StepId,
  head: number,
  what: WhatIf,
  words: Words,
  focus: Focus,
): CellOf | null {
  const shown = shownWords(data, id, what, words);
  const [rows, keys] = [told(shown.rows), told(shown.keys)];
  const word = rows[focus.row] ?? "";
  const part = partOf(id);
  const strip = (symbol: string, of: string, m: Matrix, row: number): Strip => ({
    symbol,
    of,
    values: rowOf(m, row),
  });
  if (id === "tokens" || id === "predict") return null;
  if (id === "embed" || id === "target") {
    const { parts, x, normed } = embedded(data, id === "embed" ? "source" : "target", what);
    const strips = parts.map(({ name, matrix }) => strip(name, word, matrix, focus.row));
    return added(strips, strip("X", word, x, focus.row), normed ? [{ text: " → LayerNorm" }] : []);
  }
  if (id === "stack") {
    const strips = Array.from({ length: data.blocks("encoder.states") }, (_, i) =>
      strip(`x${i}`, word, data.block("encoder.states", i), focus.row),
    );
    const cut = strips.map((one) => ({ ...one, values: one.values.slice(0, CELLS) }));
    return { kind: "strips", strips: cut, result: null, at: -1, written: [] };
  }
  if (id === "loss") {
    const costs = losses(data, what.temperature);
    const names = told(costs.map((cost) => data.header.vocabulary[cost.id] ?? String(cost.id)));
    const one = costs[focus.row];
    const written = [
      { text: "−log " },
      { text: short(one.chance), symbol: "A" },
      { text: ` = ${short(one.plain)}` },
    ];
    const [chances, plain] = [costs.map((cost) => cost.chance), costs.map((cost) => cost.plain)];
    return bars(names, chances, plain, focus.row, { from: "p", to: "−log p", written });
  }
  const a = attention(data, part, head, what);
  if (id === "feed" || id === "dfeed") {
    const stack = id === "feed" ? "encoder" : "decoder";
    const f = feed(data, stack, attention(data, id === "feed" ? "encoder" : "cross", head, what).result);
    const row = Math.min(focus.row, f.input.rows - 1);
    const unit = largest(rowOf(f.hidden, row));
    const bias = data.get(`${stack}.b_1`).values[unit];
    const column = { symbol: "W", of: `W_1 [${unit}]`, values: columnOf(data.get(`${stack}.W_1`), unit) };
    const after = [{ text: ` + ${factor(bias)}`, symbol: "b" }, { text: ` → ${data.header.activation}` }];
    return dot(strip("X", word, f.input, row), column, f.hidden.values[row * f.hidden.columns + unit], after);
  }
  const at = focus.row * a.raw.columns + focus.column;
  const row = (m: Matrix) => rowOf(m, focus.row);
  switch (id) {
    case "project": {
      const q = row(a.q);
      const to = largest(q, Math.abs);
      const letter = what.symmetric ? "K" : "Q";
      const bias = data.get(`${part}.b_${letter}`).values[a.from + to];
      const column = { symbol: "W", of: `W_${letter} [${to}]`, values: columnOf(a.query, to) };
      return dot(strip("X", word, a.input, focus.row), column, q[to], [
        { text: ` + ${factor(bias)}`, symbol: "b" },
      ]);
    }
    case "scores": {
      const column = { symbol: "K", of: keys[focus.column], values: rowOf(a.k, focus.column) };
      return dot(strip("Q", word, a.q, focus.row), column, a.raw.values[at]);
    }
    case "scale": {
      const written = [
        { text: short(a.raw.values[at]), symbol: "score" },
        ...(what.scaling
          ? [{ text: ` ÷ √${a.width} = ${short(a.raw.values[at])} ÷ ${short(Math.sqrt(a.width))}` }]
          : []),
        { text: ` = ${short(a.scaled.values[at])}` },
      ];
      const to = what.scaling ? "Q·Kᵀ/√d" : "Q·Kᵀ";
      return bars(keys, row(a.raw), row(a.scaled), focus.column, { from: "Q·Kᵀ", to, written });
    }
    case "mask": {
      const hidden = !Number.isFinite(a.masked.values[at]);
      const written = [
        { text: factor(a.scaled.values[at]), symbol: "score" },
        { text: what.masking ? ` + ${hidden ? "(−∞)" : "0"} = ${short(a.masked.values[at])}` : "" },
      ];
      return bars(keys, row(a.scaled), row(a.masked), focus.column, { from: "Q·Kᵀ/√d", to: "+ M", written });
    }
    case "mix": {
      const mixed = row(a.mixed);
      const to = largest(mixed, Math.abs);
      const column = { symbol: "V", of: `V [${to}]`, values: columnOf(a.v, to) };
      return dot(strip("A", word, a.weights, focus.row), column, mixed[to]);
    }
    case "join": {
      const heads = what.single ? 1 : data.header.heads;
      const whole = row(a.joined);
      const width = whole.length / heads;
      const blocks = Array.from({ length: heads }, (_, h) => ({
        values: whole.slice(h * width, h * width + 8),
        on: what.single || h === head,
      }));
      return { kind: "blocks", blocks, written: [{ text: `${heads} × ${width} = ${whole.length}` }] };
    }
    case "output": {
      const out = row(a.output);
      const to = largest(out, Math.abs);
      const bias = data.get(`${part}.b_O`).values[to];
      const column = { symbol: "W", of: `W_O [${to}]`, values: columnOf(data.get(`${part}.W_O`), to) };
      return dot(strip("AV", word, a.joined, focus.row), column, out[to], [
        { text: ` + ${factor(bias)}`, symbol: "b" },
      ]);
    }
    case "residual": {
      const strips = [strip("X", word, a.x, focus.row), strip("out", word, a.output, focus.row)];
      return added(strips, strip("X", word, a.added, focus.row));
    }
    default: {
      const written = share(row(a.masked), what.temperature, focus.column, a.weights.values[at]);
      return bars(keys, row(a.masked), row(a.weights), focus.column, { from: "Q·Kᵀ/√d", to: "A", written });
    }
  }
}

/** How much each word gives to the new vector of one: weight times the length of its value. */
export function given(weights: readonly number[], v: Matrix): number[] {
  return weights.map((weight, j) => weight * length(rowOf(v, j)));
}

/** How much each head puts into the output of one word. */
export function putBy(joined: readonly number[], out: Matrix, heads: number): number[] {
  const width = joined.length / heads;
  return headsOf(heads).map((h) => {
    const sums = new Float64Array(out.columns);
    for (let i = h * width; i < (h + 1) * width; i++)
      for (let j = 0; j < out.columns; j++) sums[j] += joined[i] * out.values[i * out.columns + j];
    return length(Array.from(sums));
  });
}

export const chancesAt = (data: WalkData, at: number, temperature: number): number[] => {
  const logits = data.get("logits");
  return Array.from(
    softmax({ rows: 1, columns: logits.columns, values: Float32Array.from(rowOf(logits, at)) }, temperature)
      .values,
  );
};
