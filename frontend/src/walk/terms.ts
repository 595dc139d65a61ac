// One cell of a step, taken apart: what it is made of, the largest terms written out.
// Long on purpose: one case per step of the walk, in the order of the steps.

import type { WalkData } from "./data";
import { divided, kept, plus, sharing, turn, wordOf } from "./decoding";
import { attention, divides, embedded, feed, scoreName, type WhatIf } from "./layer";
import { headsOf, type Matrix, softmax } from "./maths";
import { partOf, type StepId } from "./order";
import {
  added,
  bars,
  CELLS,
  type CellOf,
  columnOf,
  dot,
  type End,
  type Focus,
  factor,
  largest,
  length,
  rowOf,
  type Strip,
  share,
  short,
} from "./pieces";
import { shownWords, told, type Words } from "./steps";
import { losses } from "./tables";

/** The cell of a step; null where a table says it all. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each step, over the same names
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
  const part = partOf(data, id);
  const strip = (symbol: string, of: string, m: Matrix, row: number): Strip => ({
    symbol,
    of,
    values: rowOf(m, row),
  });
  if (id === "tokens" || (id === "predict" && !data.has("W_U"))) return null;
  if (id === "predict") return wordOf(data, word, focus.row);
  if (id === "embed" || id === "target") {
    const { parts, x, normed } = embedded(data, id === "embed" ? "source" : "target", what);
    const strips = parts.map(({ name, matrix }) => strip(name, word, matrix, focus.row));
    return added(strips, strip("X", word, x, focus.row), normed ? [{ text: " → LayerNorm" }] : []);
  }
  if (id === "stack") {
    const stack = `${data.reader}.states`;
    const strips = Array.from({ length: data.blocks(stack) }, (_, i) =>
      strip(`x_${i}`, word, data.block(stack, i), focus.row),
    );
    const cut = strips.map((one) => ({ ...one, values: one.values.slice(0, CELLS) }));
    return { kind: "strips", strips: cut, result: null, at: -1, written: [] };
  }
  if (id === "loss") {
    const costs = losses(data, what.temperature);
    const names = told(costs.map((cost) => data.header.vocabulary[cost.id] ?? String(cost.id)));
    const at = Math.min(focus.row, costs.length - 1); // nothing follows the last word of a text
    const one = costs[at];
    const written = [
      { text: "−log " },
      { text: short(one.chance), symbol: "A" },
      { text: ` = ${short(one.plain)}` },
    ];
    const [chances, plain] = [costs.map((cost) => cost.chance), costs.map((cost) => cost.plain)];
    return bars(names, chances, plain, at, { from: "p", to: "−log p", written });
  }
  const a = attention(data, part, head, what);
  if (id === "feed" || id === "dfeed") {
    const stack = id === "feed" ? data.reader : "decoder";
    const f = feed(data, stack, attention(data, id === "feed" ? data.reader : "cross", head, what).result);
    const row = Math.min(focus.row, f.input.rows - 1);
    const unit = largest(rowOf(f.hidden, row));
    const name = f.gate ? "G" : "1";
    const column = {
      symbol: "W",
      of: `W_${name}`,
      column: unit,
      values: columnOf(data.get(`${stack}.W_${name}`), unit),
    };
    const times = f.gate
      ? [{ text: " · " }, { text: factor(f.wide.values[row * f.wide.columns + unit]) }]
      : [];
    const after = [
      ...plus(data, `${stack}.b_${name}`, unit),
      { text: ` → ${data.header.activation}` },
      ...times,
    ];
    return dot(strip("X", word, f.input, row), column, f.hidden.values[row * f.hidden.columns + unit], after);
  }
  const at = focus.row * a.raw.columns + focus.column;
  const row = (m: Matrix) => rowOf(m, focus.row);
  switch (id) {
    case "project": {
      const q = row(a.plain.q);
      const to = largest(q, Math.abs);
      const letter = what.symmetric ? "K" : "Q";
      const from = what.symmetric ? a.shared : a.from;
      const column = { symbol: "W", of: `W_${letter}`, column: to, values: columnOf(a.query, to) };
      const after = plus(data, `${part}.b_${letter}`, from + to);
      return dot(strip("X", word, a.input, focus.row), column, q[to], after);
    }
    case "norm":
      return divided(data, a, word, focus.row);
    case "group":
      return sharing(data, head);
    case "rotate":
      return turn(data, a, [word, keys[focus.column]], focus, what.rotation);
    case "cache":
      return kept(data, a, rows, focus.row);
    case "scores": {
      const column = { symbol: "K", of: keys[focus.column], values: rowOf(a.k, focus.column) };
      return dot(strip("Q", word, a.q, focus.row), column, a.raw.values[at]);
    }
    case "scale": {
      const written = [
        { text: short(a.raw.values[at]), symbol: "score" },
        ...(divides(data, what)
          ? [{ text: ` ÷ √${a.width} = ${short(a.raw.values[at])} ÷ ${short(Math.sqrt(a.width))}` }]
          : []),
        { text: ` = ${short(a.scaled.values[at])}` },
      ];
      if (!divides(data, what))
        return bars(keys, row(a.raw), row(a.scaled), focus.column, { from: "Q·Kᵀ", to: "Q·Kᵀ", written });
      const said = { from: "Q·Kᵀ", by: `÷ ${short(Math.sqrt(a.width))}`, to: "Q·Kᵀ/√d", written };
      const shares = (m: Matrix) => rowOf(softmax(m, what.temperature), focus.row);
      const ends = data.reader === "encoder" ? scaledEnds(shares(a.raw), shares(a.scaled)) : [];
      return bars(keys, row(a.raw), row(a.scaled), focus.column, said, ends);
    }
    case "bias": {
      const added = a.bias ? [{ text: ` + ${factor(a.bias.values[at])}`, symbol: "b" }] : [];
      const written = [
        { text: factor(a.scaled.values[at]), symbol: "score" },
        ...added,
        { text: ` = ${short(a.biased.values[at])}` },
      ];
      const to = a.bias ? "+ B" : "Q·Kᵀ";
      return bars(keys, row(a.scaled), row(a.biased), focus.column, { from: "Q·Kᵀ", to, written });
    }
    case "mask": {
      const hidden = !Number.isFinite(a.masked.values[at]);
      const written = [
        { text: factor(a.biased.values[at]), symbol: "score" },
        { text: what.masking ? ` + ${hidden ? "(−∞)" : "0"} = ${short(a.masked.values[at])}` : "" },
      ];
      const from = scoreName(data, part, what);
      return bars(keys, row(a.biased), row(a.masked), focus.column, { from, to: "+ M", written });
    }
    case "mix": {
      const mixed = row(a.mixed);
      const to = largest(mixed, Math.abs);
      const column = { symbol: "V", of: "", column: to, values: columnOf(a.v, to) };
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
      const column = { symbol: "W", of: "W_O", column: to, values: columnOf(data.get(`${part}.W_O`), to) };
      return dot(strip("AV", word, a.joined, focus.row), column, out[to], plus(data, `${part}.b_O`, to));
    }
    case "residual": {
      const strips = [strip("X", word, a.x, focus.row), strip("out", word, a.output, focus.row)];
      return added(strips, strip("X", word, a.added, focus.row));
    }
    default: {
      const written = share(row(a.masked), what.temperature, focus.column, a.weights.values[at]);
      const from = scoreName(data, part, what);
      const said = { from, by: "softmax", to: "A", written };
      return bars(keys, row(a.masked), row(a.weights), focus.column, said);
    }
  }
}

/** What a softmax makes of scores that are not divided, and of those that are. */
const scaledEnds = (without: number[], divided: number[]): End[] => [
  { key: "walk_unscaled", values: without },
  { key: "walk_scaled", values: divided },
];

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
