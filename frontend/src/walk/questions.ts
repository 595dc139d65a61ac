// One question for each step, to be answered by clicking; the answer is measured on what is on the page.

import type { Say } from "../frame/context";
import type { WalkData } from "./data";
import { attention, feed, keyHead, type WhatIf } from "./layer";
import { headsOf } from "./maths";
import { keyOf, partOf, type StepId } from "./order";
import { type Focus, largest, length, rowOf, short } from "./pieces";
import { shownWords, told, type Words } from "./steps";
import { losses } from "./tables";
import { chancesAt, given, putBy } from "./terms";

const OFFERED = 4; // words to choose from
const EVEN = 0.5; // the probability whose cost is asked for

export interface Question {
  text: string;
  options: string[];
  right: number; // its place among the options
  because: string;
  row?: number; // whose weights are the answer, and are not shown before it
}

/** The right one of some words, and those that come closest, in their order. */
function among(
  names: readonly string[],
  values: readonly number[],
): { options: string[]; right: number; best: number } {
  const best = largest(values.map((value) => (Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value)));
  const places = values
    .map((_, i) => i)
    .filter((i) => Number.isFinite(values[i]))
    .sort((i, j) => values[j] - values[i])
    .slice(0, OFFERED)
    .sort((i, j) => i - j);
  return { options: places.map((i) => names[i]), right: places.indexOf(best), best };
}

/** The right answer among others, smallest number first; equal ones are offered once. */
function numbers(right: number, others: readonly number[], write: (n: number) => string = String) {
  const sorted = [...new Set([right, ...others])].sort((a, b) => a - b);
  return { options: sorted.map(write), right: sorted.indexOf(right) };
}

/** The question of a step. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each step, over the same names
export function questionOf(
  data: WalkData,
  id: StepId,
  head: number,
  what: WhatIf,
  words: Words,
  focus: Focus,
  tell: Say,
): Question | null {
  const { rows, keys } = shownWords(data, id, what, words);
  const [names, others] = [told(rows), told(keys)];
  const part = partOf(data, id);
  const { header } = data;
  // About the word after the one whose numbers are on the page: there the answer could be read off.
  const after = (Math.min(focus.row, rows.length - 1) + 1) % rows.length;
  const alone = data.reader === "decoder"; // whose first word sees only itself
  const asked = alone && !after ? Math.max(0, focus.row - 1) : after;
  const word = names[asked] ?? "";
  type Values = Record<string, string | number>;
  const say = (start: "ask" | "because", values: Values) =>
    tell(keyOf(data, `${start}_${id}`)!, { word, ...values });
  const ask = (values: Values = {}) => say("ask", values);
  const because = (values: Values = {}) => say("because", values);
  const width = data.get(`${data.reader}.in`).columns;
  const a = attention(data, part, head, what);
  const row = Math.min(asked, a.weights.rows - 1);
  switch (id) {
    case "tokens":
      return {
        text: ask(),
        ...numbers(1, [words.source.length, width]),
        because: because({ id: header.ids[asked] }),
      };
    case "embed": {
      const size = (name: string) => short(length(rowOf(data.get(`source.${name}`), asked)));
      const place = data.has("source.position") ? size("position") : "";
      const said = because({ own: size("word"), place });
      return { text: ask(), options: [tell("walk_yes"), tell("walk_no")], right: 1, because: said };
    }
    case "project":
      return {
        text: ask({ head }),
        ...numbers(a.width, [width, a.q.rows]),
        because: because({ width: a.joined.columns, heads: what.single ? 1 : header.heads, d: a.width }),
      };
    case "norm": {
      const x = rowOf(a.x, row);
      const mean = x.reduce((all, value) => all + value, 0) / x.length;
      const rms = length(x) / Math.sqrt(x.length);
      if (header.normed === "rms")
        return { text: ask(), ...numbers(1, [rms, 0], short), because: because({ rms: short(rms) }) };
      return { text: ask(), ...numbers(0, [mean, 1], short), because: because({ mean: short(mean) }) };
    }
    case "group": {
      const other = (head + header.heads / header.groups) % header.heads;
      const right = keyHead(data, other);
      return {
        text: ask({ head: other }),
        ...numbers(right, [other, (right + 1) % header.groups]),
        because: because({ head: other, each: header.heads / header.groups, key: right }),
      };
    }
    case "rotate": {
      const score = (q: typeof a.q, k: typeof a.k) =>
        rowOf(q, row).reduce((all, value, i) => all + value * rowOf(k, row)[i], 0);
      return {
        text: ask(),
        options: [tell("walk_changes"), tell("walk_stays")],
        right: 1,
        because: because({ before: short(score(a.plain.q, a.plain.k)), after: short(score(a.q, a.k)) }),
      };
    }
    case "cache":
      return {
        text: ask(),
        ...numbers(1, [asked + 1, a.k.rows + 1]),
        because: because({ kept: asked }),
      };
    case "scores": {
      const values = rowOf(a.raw, row).map((value, j) => (alone && j > row ? Number.NaN : value));
      const { best, ...choice } = among(others, values);
      return { text: ask(), ...choice, because: because({ best: others[best], value: short(values[best]) }) };
    }
    case "scale": {
      const score = a.raw.values[row * a.raw.columns + focus.column];
      const root = Math.sqrt(a.width);
      if (Math.abs(score) < 0.01) return null;
      const wrong = [score / a.width, score * root];
      const choice = numbers(score / root, wrong, short);
      return {
        text: ask({ key: others[focus.column], score: short(score), d: a.width }),
        ...choice,
        because: because({ root: short(root), value: short(score / root) }),
      };
    }
    case "bias": {
      if (!a.bias || focus.column === row) return null;
      const at = row * a.raw.columns + focus.column;
      const apart = Math.abs(focus.column - row);
      return {
        text: ask({ key: others[focus.column] }),
        ...numbers(a.bias.values[at], [a.raw.values[at], 0], short),
        because: because({ value: short(a.bias.values[at]), apart }),
      };
    }
    case "softmax":
      return {
        text: ask(),
        ...numbers(1, [0.5, a.weights.columns]),
        because: because({ sum: rowOf(a.weights, row).slice(0, 4).map(short).join(" + ") }),
      };
    case "mix": {
      const weights = rowOf(a.weights, row);
      const values = given(weights, a.v);
      const { best, ...choice } = among(others, values);
      const said = because({ best: others[best], weight: short(weights[best]), value: short(values[best]) });
      return { text: ask(), ...choice, because: said };
    }
    case "join": {
      if (what.single || header.heads < 2) return null;
      const other = (head + 1) % header.heads || 1; // head 0 begins where everything begins
      const from = other * a.width;
      return {
        text: ask({ head: other }),
        ...numbers(from, [other, from + a.width]),
        because: because({ head: other, from, d: a.width }),
      };
    }
    case "output": {
      if (what.single || header.heads < 2) return null;
      const put = putBy(rowOf(a.joined, row), data.get(`${data.reader}.W_O`), header.heads);
      const called = headsOf(header.heads).map((h) => tell("walk_head", { head: h }));
      const { best, ...choice } = among(called, put);
      return { text: ask(), ...choice, because: because({ best: called[best], value: short(put[best]) }) };
    }
    case "residual": {
      const [came, found] = [a.x, a.output].map((m) => alike(rowOf(a.added, row), rowOf(m, row)));
      const options = [tell("walk_came"), tell("walk_found")];
      const said = because({ came: short(came), found: short(found) });
      return { text: ask(), options, right: came >= found ? 0 : 1, because: said };
    }
    case "feed":
    case "dfeed": {
      const from = attention(data, id === "feed" ? data.reader : "cross", head, what).result;
      const fed = feed(data, id === "feed" ? data.reader : "decoder", from);
      const hidden = fed.gate ?? fed.hidden;
      const above = rowOf(hidden, Math.min(asked, hidden.rows - 1)).filter((value) => value > 0).length;
      const options = [tell("walk_fewer"), tell("walk_more")];
      const said = because({ count: above, all: hidden.columns });
      return {
        text: ask({ all: hidden.columns }),
        options,
        right: 2 * above > hidden.columns ? 1 : 0,
        because: said,
      };
    }
    case "stack": {
      const stack = `${data.reader}.states`;
      const states = headsOf(data.blocks(stack)).map((i) => rowOf(data.block(stack, i), asked));
      if (states.length < 3) return null;
      const moved = states.slice(1).map((state, i) => length(state.map((value, j) => value - states[i][j])));
      const called = moved.map((_, i) => tell("walk_layer", { layer: i }));
      const { best, ...choice } = among(called, moved);
      return { text: ask(), ...choice, because: because({ best: called[best], value: short(moved[best]) }) };
    }
    case "target": {
      const options = [
        ...new Set([words.source[0], words.target[1] ?? "", words.target[0]].map((t) => t.trim())),
      ];
      const right = options.indexOf(words.target[0].trim());
      return { text: ask(), options, right, because: because({ start: words.target[0].trim() }) };
    }
    case "mask": {
      const most = Math.min(asked + 1, header.window ?? a.weights.columns);
      const seen = what.masking ? most : a.weights.columns;
      const choice = numbers(seen, [asked, a.weights.columns, asked + 1]);
      return { text: ask(), ...choice, because: because({ seen }) };
    }
    case "predict": {
      const chances = chancesAt(data, asked, what.temperature);
      const { best, options, right } = among(headsOf(chances.length).map(String), chances);
      if (!header.vocabulary.length) return null;
      return {
        text: ask(),
        options: options.map((id) => data.word(Number(id))),
        right,
        because: because({ best: data.word(best), value: short(chances[best]) }),
      };
    }
    case "loss": {
      const costs = losses(data, what.temperature);
      const worst = costs[largest(costs.map((cost) => cost.plain))];
      const said = because({
        best: header.vocabulary[worst.id] ?? String(worst.id),
        chance: short(worst.chance),
        value: short(worst.plain),
      });
      return { text: ask(), ...numbers(-Math.log(EVEN), [EVEN, 1 / EVEN], short), because: said };
    }
    default: {
      const values = rowOf(a.weights, row);
      const seen = rowOf(a.masked, row).map((score, j) => (Number.isFinite(score) ? values[j] : Number.NaN));
      const best = largest(values);
      const { options, right } = among(others, seen);
      if (options.length < 2) return null;
      const said = because({ best: others[best], value: short(values[best]) });
      return { text: ask(), options, right, because: said, row };
    }
  }
}

/** Cosine of the angle between two vectors. */
function alike(a: readonly number[], b: readonly number[]): number {
  return a.reduce((all, value, i) => all + value * b[i], 0) / (length(a) * length(b) || 1);
}
