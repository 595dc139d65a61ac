// One layer, computed step by step from its weights, as the model does it or as it would be if a step were different.

import type { WalkData } from "./data";
import {
  ACTIVATIONS,
  causal,
  joined,
  layerNorm,
  type Matrix,
  mapped,
  product,
  reordered,
  slice,
  softmax,
  sum,
  transposed,
} from "./maths";

export type Part = "encoder" | "decoder" | "cross";

/** What is different from the model; the defaults are the model. */
export interface WhatIf {
  scaling: boolean; // divide by √d
  masking: boolean; // hide later words in the decoder
  symmetric: boolean; // K in place of Q
  single: boolean; // one head of full width
  permuted: boolean; // words in another order
  positions: boolean; // add positions
  temperature: number;
}

export const MODEL: WhatIf = {
  scaling: true,
  masking: true,
  symmetric: false,
  single: false,
  permuted: false,
  positions: true,
  temperature: 1,
};

export const differs = (what: WhatIf): boolean =>
  (Object.keys(MODEL) as (keyof WhatIf)[]).some((name) => what[name] !== MODEL[name]);

/** Every matrix of one head's attention, and of the heads together. */
export interface Attention {
  x: Matrix; // what enters, and is added back
  input: Matrix; // x, normalised first where the model does that
  source: Matrix; // what keys and values are made of
  width: number; // d, of one head
  from: number; // the head's first column
  query: Matrix; // the head's columns of W_Q, W_K, W_V
  key: Matrix;
  value: Matrix;
  q: Matrix;
  k: Matrix;
  v: Matrix;
  turned: Matrix; // k, rows and columns exchanged
  raw: Matrix;
  scaled: Matrix;
  masked: Matrix;
  weights: Matrix;
  mixed: Matrix;
  joined: Matrix;
  output: Matrix;
  added: Matrix;
  result: Matrix;
}

export interface Feed {
  input: Matrix;
  hidden: Matrix;
  output: Matrix;
  added: Matrix;
  result: Matrix;
}

/** What enters the encoder's layer: words in either order, with or without positions. */
function entering(data: WalkData, part: Part, what: WhatIf): Matrix {
  if (part === "decoder") return data.get("decoder.in");
  const name = [what.permuted ? "permuted" : "", what.positions ? "" : "placeless"].filter(Boolean).join(".");
  return data.get(name ? `encoder.in.${name}` : "encoder.in");
}

const KEPT = 24;
const kept = new WeakMap<WalkData, Map<string, Attention>>();

/** Attention of one part of the layer; what is changed reaches it from the layer's first step on. */
export function attention(data: WalkData, part: Part, head: number, what: WhatIf = MODEL): Attention {
  const known = kept.get(data) ?? new Map<string, Attention>();
  kept.set(data, known);
  const name = JSON.stringify([part, head, what]);
  let found = known.get(name);
  if (!found) {
    found = computed(data, part, head, what);
    if (known.size >= KEPT) known.clear();
    known.set(name, found);
  }
  return found;
}

function computed(data: WalkData, part: Part, head: number, what: WhatIf): Attention {
  const { header } = data;
  const x = part === "cross" ? attention(data, "decoder", head, what).result : entering(data, part, what);
  const norm = (m: Matrix) =>
    layerNorm(m, data.get(`${part}.scale`), data.get(`${part}.shift`), header.epsilon);
  const input = header.norm === "pre" ? norm(x) : x;
  const source = part === "cross" ? data.get("memory") : input;
  const made = (letter: string, of: Matrix) =>
    product(of, data.get(`${part}.W_${letter}`), data.get(`${part}.b_${letter}`));
  const heads = what.single ? 1 : header.heads;
  const width = x.columns / heads;
  const chosen = what.single ? 0 : head;
  const all = {
    q: made(what.symmetric ? "K" : "Q", what.symmetric ? source : input),
    k: made("K", source),
    v: made("V", source),
  };
  const one = (h: number) => {
    const cut = (m: Matrix) => slice(m, h * width, (h + 1) * width);
    const [q, k, v] = [cut(all.q), cut(all.k), cut(all.v)];
    const turned = transposed(k);
    const raw = product(q, turned);
    const scaled = what.scaling ? mapped(raw, (value) => value / Math.sqrt(width)) : raw;
    const masked = part === "decoder" && what.masking ? causal(scaled) : scaled;
    const weights = softmax(masked, what.temperature);
    return { q, k, v, turned, raw, scaled, masked, weights, mixed: product(weights, v) };
  };
  const each = Array.from({ length: heads }, (_, h) => one(h));
  const together = joined(each.map((item) => item.mixed));
  const output = product(together, data.get(`${part}.W_O`), data.get(`${part}.b_O`));
  // With K in place of Q, cross attention has a row for each source word: there is nothing to add it to.
  const added = output.rows === x.rows ? sum(x, output) : output;
  const weight = (letter: string) =>
    slice(data.get(`${part}.W_${letter}`), chosen * width, (chosen + 1) * width);
  return {
    x,
    input,
    source,
    width,
    from: chosen * width,
    query: weight(what.symmetric ? "K" : "Q"),
    key: weight("K"),
    value: weight("V"),
    ...each[chosen],
    joined: together,
    output,
    added,
    result: header.norm === "post" ? norm(added) : added,
  };
}

/** The parts of an embedding and their sum: words in either order, with or without positions. */
export function embedded(data: WalkData, side: "source" | "target", what: WhatIf) {
  const source = side === "source";
  const order = source && what.permuted ? data.header.order : null;
  const placed = !source || what.positions;
  const names = ["word", ...(placed ? ["position"] : []), "segment"].filter((name) =>
    data.has(`${side}.${name}`),
  );
  const parts = names.map((name) => {
    const whole = data.get(`${side}.${name}`);
    return { name, matrix: order && name === "word" ? reordered(whole, order) : whole };
  });
  const normed = data.has(`${side}.scale`);
  const total = parts.map(({ matrix }) => matrix).reduce(sum);
  const norm = (m: Matrix) =>
    normed ? layerNorm(m, data.get(`${side}.scale`), data.get(`${side}.shift`), data.header.epsilon) : m;
  const narrow = data.has(`${side}.narrow`) ? norm(total) : null; // tables narrower than X: ALBERT, small ELECTRA
  if (!order && placed)
    return { parts, normed, narrow: narrow && data.get(`${side}.narrow`), x: data.get(`${side}.x`) };
  const x = narrow ? product(narrow, data.get(`${side}.W_E`), data.get(`${side}.b_E`)) : norm(total);
  return { parts, normed, narrow, x };
}

/** The feed-forward network of the layer, after attention. */
export function feed(data: WalkData, part: "encoder" | "decoder", x: Matrix): Feed {
  const { header } = data;
  const norm = (m: Matrix) =>
    layerNorm(m, data.get(`${part}.feed.scale`), data.get(`${part}.feed.shift`), header.epsilon);
  const input = header.norm === "pre" ? norm(x) : x;
  const bend = ACTIVATIONS[header.activation];
  const hidden = mapped(product(input, data.get(`${part}.W_1`), data.get(`${part}.b_1`)), bend);
  const output = product(hidden, data.get(`${part}.W_2`), data.get(`${part}.b_2`));
  const added = sum(x, output);
  return { input, hidden, output, added, result: header.norm === "post" ? norm(added) : added };
}
