// Cells of decoders: a row before and after its norm, arrows that turn, heads that share keys, what is kept, the next word.

import type { WalkData } from "./data";
import { type Attention, keyHead, normed } from "./layer";
import { headsOf, type Matrix } from "./maths";
import {
  type Arrow,
  CELLS,
  columnOf,
  type Dot,
  dot,
  type Focus,
  factor,
  type Kept,
  LINES,
  largest,
  type Piece,
  rowOf,
  type Sharing,
  type Strips,
  short,
  type Turn,
} from "./pieces";

/** A bias that is added, where the map has one. */
export function plus(data: WalkData, name: string, at: number): Piece[] {
  const bias = data.find(name);
  return bias ? [{ text: ` + ${factor(bias.values[at])}`, symbol: "b" }] : [];
}

/** A row before and after its norm; the largest number is written out. */
export function divided(data: WalkData, a: Attention, word: string, row: number): Strips {
  const [x, norm] = [rowOf(a.x, row), rowOf(a.input, row)];
  const rms = data.header.normed === "rms";
  const mean = rms ? 0 : x.reduce((all, value) => all + value, 0) / x.length;
  const spread = Math.sqrt(
    x.reduce((all, value) => all + (value - mean) ** 2, 0) / x.length + data.header.epsilon,
  );
  const at = largest(norm.slice(0, CELLS), Math.abs);
  const scale = data.get(`${data.reader}.scale`).values[at];
  const from = { text: factor(x[at]), symbol: "X" };
  const top = rms ? [from] : [{ text: "(" }, from, { text: ` − ${factor(mean)})` }];
  const cut = (symbol: string, values: number[]) => ({ symbol, of: word, values: values.slice(0, CELLS) });
  return {
    ...{ kind: "strips", at, strips: [cut("X", x)], result: cut("norm", norm) },
    written: [
      ...top,
      { text: ` ÷ ${short(spread)} · ` },
      { text: factor(scale), symbol: "W" },
      ...plus(data, `${data.reader}.shift`, at),
      { text: ` = ${short(norm[at])}` },
    ],
  };
}

export function sharing(data: WalkData, head: number): Sharing {
  const { heads, groups } = data.header;
  const all = headsOf(heads).map((one) => ({ head: one, on: one === head }));
  return {
    kind: "sharing",
    groups: headsOf(groups).map((g) => all.filter((one) => keyHead(data, one.head) === g)),
    written: [{ text: `${heads} ÷ ${groups} = ${heads / groups}` }],
  };
}

/** The pair of numbers of a query that its position moves most, and the same pair of a key. */
export function turn(data: WalkData, a: Attention, names: [string, string], focus: Focus, on: boolean): Turn {
  const rates = data.get("decoder.rates").values;
  const half = rates.length;
  const angle = (place: number, i: number) => (on ? place * rates[i] : 0);
  const pair = (m: Matrix, row: number, i: number): [number, number] => [
    m.values[row * m.columns + i],
    m.values[row * m.columns + i + half],
  ];
  const moved = Array.from(rates, (_, i) => {
    const [before, after] = [pair(a.plain.q, focus.row, i), pair(a.q, focus.row, i)];
    return Math.hypot(after[0] - before[0], after[1] - before[1]) || 1e-9 * Math.hypot(...before);
  });
  const i = largest(moved);
  const arrow = (symbol: "Q" | "K", of: string, row: number): Arrow => {
    const [before, after] = symbol === "Q" ? [a.plain.q, a.q] : [a.plain.k, a.k];
    return { symbol, of, from: pair(before, row, i), to: pair(after, row, i), angle: angle(row, i) };
  };
  const arrows = [arrow("Q", names[0], focus.row), arrow("K", names[1], focus.column)];
  const [{ from, to }] = arrows;
  const written = [
    { text: `φ = ${focus.row} · ${short(rates[i])} = ${short(arrows[0].angle)};  ` },
    { text: factor(from[0]), symbol: "Q" },
    { text: " · cos φ − " },
    { text: factor(from[1]), symbol: "Q" },
    { text: ` · sin φ = ${short(to[0])}` },
  ];
  return { kind: "turn", arrows, written };
}

export function kept(data: WalkData, a: Attention, rows: readonly string[], at: number): Kept {
  const first = Math.max(0, at + 1 - LINES);
  const few = (m: Matrix, row: number) => rowOf(m, row).slice(0, 16);
  const lines = rows.slice(first, at + 1).map((name, n) => {
    const row = first + n;
    return { name, q: row === at ? few(a.q, row) : null, k: few(a.k, row), v: few(a.v, row) };
  });
  const [layers, heads] = [data.blocks("decoder.states") - 1, data.header.groups || data.header.heads];
  const written = [{ text: `2 · ${layers} · ${heads} · ${a.width} = ${2 * layers * heads * a.width}` }];
  return { kind: "kept", lines, left: first, written };
}

/** The last state of a word meets the column of the likeliest next one. */
export function wordOf(data: WalkData, word: string, row: number): Dot {
  const { candidates } = data.header;
  const logits = rowOf(data.get("logits"), row);
  const best = largest(candidates.map((id) => logits[id]));
  const id = candidates[best];
  const x = data.block("decoder.states", data.blocks("decoder.states") - 1);
  const final = rowOf(normed(data, "final", x), row);
  const column = {
    symbol: "W",
    of: `W_U [${data.word(id).trim()}]`,
    values: columnOf(data.get("W_U"), best),
  };
  return dot({ symbol: "X", of: word, values: final }, column, logits[id]);
}
