// The steps of the walk as equations of matrices.

import type { Say } from "../frame/context";
import { isKey } from "../words";
import type { WalkData } from "./data";
import { type Attention, attention, embedded, feed, type Part, type WhatIf } from "./layer";
import type { Matrix } from "./maths";
import { partOf, type StepId } from "./order";

/** A matrix on the page. Weights run from 0 up; other numbers have a sign. */
export interface Shown {
  name: string;
  label?: string; // the name in the reader's language, where it has one
  matrix: Matrix;
  rows?: readonly string[];
  columns?: readonly string[];
  weights?: boolean;
  map?: boolean; // queries by keys: a cell is a pair of tokens
}

/** Which cells a cell comes from: its row and column, the same place, or its row. */
export type Rule = "product" | "same" | "row";

/** Matrices and the signs between them; the last matrix is the result. */
export interface Equation {
  rule: Rule;
  items: (Shown | string)[];
}

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

const shown = (name: string, matrix: Matrix, more: Partial<Shown> = {}): Shown => ({ name, matrix, ...more });

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
  const shuffled = what.permuted && id !== "stack" && partOf(id) === "encoder" && id !== "tokens";
  const source = shuffled ? data.header.order.map((i) => words.source[i]) : words.source;
  const part = partOf(id);
  const crossing = id === "cross" || id === "dfeed";
  const rows = part === "encoder" || (crossing && what.symmetric) ? source : words.target;
  return { rows, keys: part === "decoder" ? words.target : source };
}

/** The matrices of a step. */
export function equations(data: WalkData, id: StepId, head: number, what: WhatIf, words: Words): Equation[] {
  const { rows, keys } = shownWords(data, id, what, words);
  const part = partOf(id);
  if (id === "embed") return embedding(data, "source", what, rows);
  if (id === "target") return embedding(data, "target", what, rows);
  if (id === "stack") return states(data, "encoder", rows);
  if (["tokens", "predict", "loss"].includes(id)) return [];
  const a = attention(data, part, head, what);
  if (id === "cross") return crossed(data, a, what, words.target, keys);
  if (id === "dfeed") return fed(data, "decoder", attention(data, "cross", head, what).result, rows);
  if (id === "feed") return fed(data, "encoder", a.result, rows);
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

function states(data: WalkData, stack: string, rows: readonly string[]): Equation[] {
  const items: (Shown | string)[] = [];
  for (let i = 0; i < data.blocks(`${stack}.states`); i++) {
    if (items.length) items.push("→");
    items.push(shown(i ? `x${subscript(i)}` : "x₀", data.block(`${stack}.states`, i), { rows }));
  }
  items.push("→", shown("E", data.get("memory"), { rows }));
  return [{ rule: "same", items }];
}

const subscript = (n: number): string => String(n).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]);

const columnsOf = (m: Matrix): Matrix => ({ rows: 1, columns: m.columns, values: m.values });

/** A bias, the columns of one head. */
const bias = (data: WalkData, name: string, from: number, width: number): Matrix =>
  columnsOf({ rows: 1, columns: width, values: data.get(name).values.subarray(from, from + width) });

function projected(
  data: WalkData,
  part: Part,
  letter: "Q" | "K" | "V",
  a: Attention,
  what: WhatIf,
  rows: readonly string[],
): Equation {
  const used = letter === "Q" && what.symmetric ? "K" : letter;
  const input = used === "Q" ? a.input : a.source;
  const weight = { Q: a.query, K: a.key, V: a.value }[letter];
  const made = { Q: a.q, K: a.k, V: a.v }[letter];
  const name = part === "cross" ? (used === "Q" ? "D" : "E") : data.header.norm === "pre" ? "norm(X)" : "X";
  return {
    rule: "product",
    items: [
      shown(name, input, { rows }),
      "·",
      shown(`W_${used}`, weight),
      "+",
      shown(`b_${used}`, bias(data, `${part}.b_${used}`, a.from, a.width)),
      "=",
      shown(letter, made, { rows }),
    ],
  };
}

function attended(
  data: WalkData,
  id: StepId,
  part: Part,
  a: Attention,
  what: WhatIf,
  rows: readonly string[],
  keys: readonly string[],
): Equation[] {
  const map = { rows, columns: keys, map: true };
  const root = what.scaling ? `÷ √${a.width} =` : "=";
  const raw = shown("Q·Kᵀ", a.raw, map);
  const scaled = shown(what.scaling ? "Q·Kᵀ/√d" : "Q·Kᵀ", a.scaled, map);
  const masked = shown("masked", a.masked, map);
  const weights = shown("A", a.weights, { ...map, weights: true });
  const v = shown("V", a.v, { rows: keys });
  switch (id) {
    case "project":
      return (["Q", "K", "V"] as const).map((letter) => projected(data, part, letter, a, what, rows));
    case "scores":
      return [
        {
          rule: "product",
          items: [shown("Q", a.q, { rows }), "·", shown("Kᵀ", a.turned, { columns: keys }), "=", raw],
        },
      ];
    case "scale":
      return [{ rule: "same", items: [raw, root, scaled] }];
    case "softmax":
      return [{ rule: "row", items: [scaled, "→ softmax →", weights] }];
    case "mix":
      return [{ rule: "product", items: [weights, "·", v, "=", shown("A·V", a.mixed, { rows })] }];
    case "join":
      return [
        { rule: "row", items: [shown("A·V", a.mixed, { rows }), "→", shown("joined", a.joined, { rows })] },
      ];
    case "output":
      return [outputOf(data, part, a, rows)];
    case "residual":
      return residual(data, a.x, a.output, a.added, a.result, rows);
    case "mask":
      return [{ rule: "same", items: [scaled, what.masking ? "+ M =" : "=", masked] }];
    default:
      return [
        { rule: "row", items: [masked, "→ softmax →", weights] },
        { rule: "product", items: [weights, "·", v, "=", shown("A·V", a.mixed, { rows })] },
        outputOf(data, part, a, rows),
        ...residual(data, a.x, a.output, a.added, a.result, rows),
      ];
  }
}

function outputOf(data: WalkData, part: Part, a: Attention, rows: readonly string[]): Equation {
  const items = [
    shown("joined", a.joined, { rows }),
    "·",
    shown("W_O", data.get(`${part}.W_O`)),
    "+",
    shown("b_O", columnsOf(data.get(`${part}.b_O`))),
    "=",
    shown("out", a.output, { rows }),
  ];
  return { rule: "product", items };
}

function residual(
  data: WalkData,
  x: Matrix,
  output: Matrix,
  added: Matrix,
  result: Matrix,
  rows: readonly string[],
): Equation[] {
  const items = [
    shown("X", x, { rows }),
    "+",
    shown("out", output, { rows }),
    "=",
    shown("X + out", added, { rows }),
  ];
  const first: Equation = { rule: "same", items };
  if (data.header.norm === "pre") return [first];
  const normed = [shown("X + out", added, { rows }), "→ LayerNorm →", shown("norm", result, { rows })];
  return [first, { rule: "row", items: normed }];
}

function crossed(
  data: WalkData,
  a: Attention,
  what: WhatIf,
  targets: readonly string[],
  keys: readonly string[],
): Equation[] {
  const rows = what.symmetric ? keys : targets;
  const map = { rows, columns: keys, map: !what.symmetric };
  const scaled = shown(what.scaling ? "Q·Kᵀ/√d" : "Q·Kᵀ", a.scaled, map);
  const weights = shown("A", a.weights, { ...map, weights: true });
  return [
    { rule: "row", items: [scaled, "→ softmax →", weights] },
    projected(data, "cross", "Q", a, what, rows),
    projected(data, "cross", "K", a, what, keys),
    projected(data, "cross", "V", a, what, keys),
    {
      rule: "product",
      items: [
        shown("Q", a.q, { rows }),
        "·",
        shown("Kᵀ", a.turned, { columns: keys }),
        "=",
        shown("Q·Kᵀ", a.raw, map),
      ],
    },
    {
      rule: "product",
      items: [weights, "·", shown("V", a.v, { rows: keys }), "=", shown("A·V", a.mixed, { rows })],
    },
  ];
}

function fed(data: WalkData, part: "encoder" | "decoder", x: Matrix, rows: readonly string[]): Equation[] {
  const f = feed(data, part, x);
  const linear = (number: 1 | 2) => [
    "·",
    shown(`W_${number}`, data.get(`${part}.W_${number}`)),
    "+",
    shown(`b_${number}`, columnsOf(data.get(`${part}.b_${number}`))),
  ];
  const input = shown(data.header.norm === "pre" ? "norm(X)" : "X", f.input, { rows });
  const hidden = shown("hidden", f.hidden, { rows });
  return [
    { rule: "product", items: [input, ...linear(1), `→ ${data.header.activation} →`, hidden] },
    { rule: "product", items: [hidden, ...linear(2), "=", shown("out", f.output, { rows })] },
    ...residual(data, x, f.output, f.added, f.result, rows),
  ];
}
