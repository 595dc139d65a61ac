// The steps of the walk as equations of matrices.

import type { Say } from "../frame/context";
import { isKey } from "../words";
import type { WalkData } from "./data";
import { type Attention, attention, embedded, feed, normed, type Part, type WhatIf } from "./layer";
import { headRows, type Matrix, picked } from "./maths";
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

const columnsOf = (m: Matrix): Matrix => ({ rows: 1, columns: m.columns, values: m.values });

/** A bias, the columns of one head, with its sign; nothing where the map has none. */
function bias(data: WalkData, part: string, letter: string, from = 0, width?: number): (Shown | string)[] {
  const whole = data.find(`${part}.b_${letter}`);
  if (!whole) return [];
  const values = whole.values.subarray(from, width === undefined ? undefined : from + width);
  return ["+", shown(`b_${letter}`, columnsOf({ rows: 1, columns: values.length, values }))];
}

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
  const made = { Q: a.plain.q, K: a.plain.k, V: a.v }[letter];
  const name = part === "cross" ? (used === "Q" ? "D" : "E") : data.header.norm === "pre" ? "norm(X)" : "X";
  return {
    rule: "product",
    items: [
      shown(name, input, { rows }),
      "·",
      shown(`W_${used}`, weight),
      ...bias(data, part, used, used === "Q" ? a.from : a.shared, a.width),
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
    case "rotate":
      return (["q", "k"] as const).map((letter) => ({
        rule: "row",
        items: [
          shown(letter.toUpperCase(), a.plain[letter], { rows }),
          "→ R →",
          shown(`turned${letter.toUpperCase()}`, a[letter], { rows }),
        ],
      }));
    case "softmax":
      return [{ rule: "row", items: [part === "decoder" ? masked : scaled, "→ softmax →", weights] }];
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
    ...bias(data, part, "O"),
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
  const linear = (name: string) => [
    "·",
    shown(`W_${name}`, data.get(`${part}.W_${name}`)),
    ...bias(data, part, name),
  ];
  const input = shown(data.header.norm === "pre" ? "norm(X)" : "X", f.input, { rows });
  const hidden = shown("hidden", f.hidden, { rows });
  const bent = `→ ${data.header.activation} →`;
  return [
    ...(f.gate
      ? gated(shown("gate", f.gate, { rows }), shown("wide", f.wide, { rows }), hidden, [
          [input, ...linear("G"), bent],
          [input, ...linear("1"), "="],
        ])
      : [{ rule: "product" as const, items: [input, ...linear("1"), bent, hidden] }]),
    { rule: "product", items: [hidden, ...linear("2"), "=", shown("out", f.output, { rows })] },
    ...residual(data, x, f.output, f.added, f.result, rows),
  ];
}

/** A feed-forward network with a gate: two maps of the same numbers, multiplied place by place. */
const gated = (gate: Shown, wide: Shown, hidden: Shown, maps: (Shown | string)[][]): Equation[] => [
  { rule: "product", items: [...maps[0], gate] },
  { rule: "product", items: [...maps[1], wide] },
  { rule: "same", items: [gate, "∘", wide, "=", hidden] },
];
