// The steps of the walk as equations of matrices.

import type { Say } from "../frame/context";
import { isKey } from "../words";
import { attended, crossed, fed } from "./attended";
import type { WalkData } from "./data";
import { columnsOf, type Equation, type Shown, shown } from "./equation";
import { attention, embedded, normed, type WhatIf } from "./layer";
import { headRows, type Matrix, picked } from "./maths";
import { partOf, type StepId } from "./order";

export interface Words {
  source: readonly string[];
  target: readonly string[];
}

/** Matrices that have a word for a name, in the reader's language. */
export function named(made: Equation[], tell: Say): Equation[] {
  const label = (item: Shown | string): Shown | string => {
    const key = typeof item === "string" ? "" : `walk_matrix_${item.name}`;
    return typeof item !== "string" && isKey(key) ? { ...item, label: tell(key) } : item;
  };
  return made.map(({ rule, items }) => ({ rule, items: items.map(label) }));
}

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** Words as they are told apart: one that occurs twice carries its position. */
export function told(words: readonly string[]): string[] {
  const plain = words.map((text) => text.trim());
  return plain.map((text, i) =>
    plain.indexOf(text) === plain.lastIndexOf(text)
      ? text
      : text + String(i).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]),
  );
}

/** The words beside the rows and columns of a step, in the order they have on the page. */
export function shownWords(data: WalkData, id: StepId, what: WhatIf, words: Words) {
  const part = partOf(data, id);
  const shuffled = what.permuted && id !== "stack" && part === "encoder" && id !== "tokens";
  const source = shuffled ? data.header.order.map((i) => words.source[i]) : words.source;
  const crossing = id === "cross" || id === "dfeed";
  const rows = part === "encoder" || (crossing && what.symmetric) ? source : words.target;
  return { rows, keys: part === "decoder" ? words.target : source };
}

/** The matrices of a step; `at` is the word whose row is looked at. */
export function equations(
  data: WalkData,
  id: StepId,
  head: number,
  what: WhatIf,
  words: Words,
  at: number,
): Equation[] {
  const { rows, keys } = shownWords(data, id, what, words);
  const part = partOf(data, id);
  if (id === "embed") return embedding(data, "source", what, rows);
  if (id === "target") return embedding(data, "target", what, rows);
  if (id === "stack") return states(data, rows);
  if (id === "predict" && data.has("W_U")) return unembedded(data, rows);
  if (["tokens", "group", "predict", "loss"].includes(id)) return [];
  const a = attention(data, part, head, what);
  if (id === "cross") return crossed(data, a, what, words.target, keys);
  if (id === "dfeed") return fed(data, "decoder", attention(data, "cross", head, what).result, rows);
  if (id === "feed") return fed(data, data.reader, a.result, rows);
  if (id === "norm") return [{ rule: "row", items: normalised(data, a.x, a.input, rows) }];
  if (id === "cache") {
    const kept = (name: string, m: Matrix) =>
      shown(name, headRows(m, at + 1), { rows: rows.slice(0, at + 1) });
    return [{ rule: "row", items: [kept("K", a.k), "", kept("V", a.v)] }];
  }
  return attended(data, id, part, a, what, rows, keys);
}

function embedding(
  data: WalkData,
  side: "source" | "target",
  what: WhatIf,
  rows: readonly string[],
): Equation[] {
  const { parts, normed, narrow: within, x: made } = embedded(data, side, what);
  const items: (Shown | string)[] = [];
  for (const { name, matrix } of parts) {
    if (items.length) items.push("+");
    items.push(shown(name, matrix, { rows }));
  }
  const x = shown("X", made, { rows });
  const narrow = within ? shown("norm", within, { rows }) : x;
  items.push(normed ? "→ LayerNorm →" : "=", narrow);
  const sum: Equation = { rule: normed ? "row" : "same", items };
  if (!within) return [sum];
  const weights = [
    shown("W_E", data.get(`${side}.W_E`)),
    "+",
    shown("b_E", columnsOf(data.get(`${side}.b_E`))),
  ];
  return [sum, { rule: "product", items: [narrow, "·", ...weights, "=", x] }];
}

function states(data: WalkData, rows: readonly string[]): Equation[] {
  const stack = `${data.reader}.states`;
  const items: (Shown | string)[] = [];
  for (let i = 0; i < data.blocks(stack); i++) {
    if (items.length) items.push("→");
    items.push(shown(i ? `x${subscript(i)}` : "x₀", data.block(stack, i), { rows }));
  }
  if (data.has("memory")) items.push("→", shown("E", data.get("memory"), { rows }));
  return [{ rule: "same", items }];
}

const normOf = (data: WalkData): string => (data.header.normed === "rms" ? "RMSNorm" : "LayerNorm");

const normalised = (data: WalkData, x: Matrix, norm: Matrix, rows: readonly string[]): (Shown | string)[] => [
  shown("X", x, { rows }),
  `→ ${normOf(data)} →`,
  shown("norm(X)", norm, { rows }),
];

/** The last norm, and the columns of the vocabulary's matrix for the words that are likely. */
function unembedded(data: WalkData, rows: readonly string[]): Equation[] {
  const { candidates } = data.header;
  const x = data.block("decoder.states", data.blocks("decoder.states") - 1);
  const final = normed(data, "final", x);
  const columns = candidates.map((id) => data.word(id));
  const logits = shown("logits", picked(data.get("logits"), candidates), { rows, columns });
  return [
    { rule: "row", items: normalised(data, x, final, rows) },
    {
      rule: "product",
      items: [
        shown("norm(X)", final, { rows }),
        "·",
        shown("W_U", data.get("W_U"), { columns }),
        "=",
        logits,
      ],
    },
  ];
}

const subscript = (n: number): string => String(n).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]);
