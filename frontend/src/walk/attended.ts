// Attention and the network after it as equations of matrices.

import type { WalkData } from "./data";
import { columnsOf, type Equation, type Shown, shown } from "./equation";
import { type Attention, divides, feed, type Part, scoreName, type WhatIf } from "./layer";
import type { Matrix } from "./maths";
import type { StepId } from "./order";

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
  const own = part === "cross" ? "D" : "X";
  const name = part === "cross" && used !== "Q" ? "E" : data.header.norm === "pre" ? `norm(${own})` : own;
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

/** The matrices of a step of attention. */
export function attended(
  data: WalkData,
  id: StepId,
  part: Part,
  a: Attention,
  what: WhatIf,
  rows: readonly string[],
  keys: readonly string[],
): Equation[] {
  const map = { rows, columns: keys, map: true };
  const root = divides(data, what) ? `÷ √${a.width} =` : "=";
  const raw = shown("Q·Kᵀ", a.raw, map);
  const scaled = shown(divides(data, what) ? "Q·Kᵀ/√d" : "Q·Kᵀ", a.scaled, map);
  const biased = shown(scoreName(data, part, what), a.biased, map);
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
    case "bias":
      return [
        { rule: "same", items: a.bias ? [scaled, "+", shown("B", a.bias, map), "=", biased] : [scaled] },
      ];
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
      return [{ rule: "row", items: [part === "decoder" ? masked : biased, "→ softmax →", weights] }];
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
      return [{ rule: "same", items: [biased, what.masking ? "+ M =" : "=", masked] }];
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

/** Attention from one text to the other. */
export function crossed(
  data: WalkData,
  a: Attention,
  what: WhatIf,
  targets: readonly string[],
  keys: readonly string[],
): Equation[] {
  const rows = what.symmetric ? keys : targets;
  const map = { rows, columns: keys, map: !what.symmetric };
  const scaled = shown(scoreName(data, "cross", what), a.scaled, map);
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

/** The feed-forward network. */
export function fed(
  data: WalkData,
  part: "encoder" | "decoder",
  x: Matrix,
  rows: readonly string[],
): Equation[] {
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
