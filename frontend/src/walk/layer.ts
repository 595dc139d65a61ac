// One layer, computed step by step from its weights, as the model does it or as it would be if a step were different.

import type { WalkData } from "./data";
import {
  ACTIVATIONS,
  causal,
  joined,
  layerNorm,
  type Matrix,
  mapped,
  matched,
  product,
  reordered,
  rmsNorm,
  rotated,
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
  rotation: boolean; // turn q and k by their positions
  bias: boolean; // add to scores by distance
  temperature: number;
}

export const MODEL: WhatIf = {
  scaling: true,
  masking: true,
  symmetric: false,
  single: false,
  permuted: false,
  positions: true,
  rotation: true,
  bias: true,
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
  from: number; // the head's first column of W_Q
  shared: number; // its first column of W_K and W_V, which several heads may share
  query: Matrix; // the head's columns of W_Q, W_K, W_V
  key: Matrix;
  value: Matrix;
  plain: { q: Matrix; k: Matrix }; // before they are turned by their positions
  q: Matrix;
  k: Matrix;
  v: Matrix;
  turned: Matrix; // k, rows and columns exchanged
  raw: Matrix;
  scaled: Matrix;
  bias: Matrix | null; // what is added by distance, where the model does that
  biased: Matrix; // scaled, with it
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
  gate: Matrix | null; // what multiplies the hidden numbers, where the network has a gate
  wide: Matrix; // x · W_1 + b_1
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
  const norm = (m: Matrix) => normed(data, part, m);
  const input = header.norm === "pre" ? norm(x) : x;
  const source = part === "cross" ? data.get("memory") : input;
  const made = (letter: string, of: Matrix) =>
    product(of, data.get(`${part}.W_${letter}`), data.find(`${part}.b_${letter}`));
  const heads = what.single ? 1 : header.heads;
  const width = data.get(`${part}.W_Q`).columns / heads;
  const chosen = what.single ? 0 : head;
  const keyed = (h: number) => (what.single ? 0 : keyHead(data, h));
  const all = {
    q: made(what.symmetric ? "K" : "Q", what.symmetric ? source : input),
    k: made("K", source),
    v: made("V", source),
  };
  const one = (h: number) => {
    const cut = (m: Matrix, at: number) => slice(m, at * width, (at + 1) * width);
    const plain = { q: cut(all.q, what.symmetric ? keyed(h) : h), k: cut(all.k, keyed(h)) };
    const v = cut(all.v, keyed(h));
    const turns = data.rotary && what.rotation && part === "decoder";
    const turn = (m: Matrix) => (turns ? rotated(m, data.get("decoder.cos"), data.get("decoder.sin")) : m);
    const [q, k] = [turn(plain.q), turn(plain.k)];
    const turned = transposed(k);
    const raw = product(q, turned);
    const scaled = divides(data, what) ? mapped(raw, (value) => value / Math.sqrt(width)) : raw;
    const bias = biasOf(data, part, h, what);
    const biased = bias ? sum(scaled, bias) : scaled;
    const masked = part === "decoder" && what.masking ? causal(biased, header.window) : biased;
    const weights = softmax(masked, what.temperature);
    return { plain, q, k, v, turned, raw, scaled, bias, biased, masked, weights, mixed: product(weights, v) };
  };
  const each = Array.from({ length: heads }, (_, h) => one(h));
  const together = joined(each.map((item) => item.mixed));
  const output = product(together, data.get(`${part}.W_O`), data.find(`${part}.b_O`));
  // With K in place of Q, cross attention has a row for each source word: there is nothing to add it to.
  const added = output.rows === x.rows ? sum(x, output) : output;
  const [from, shared] = [chosen * width, keyed(chosen) * width];
  const weight = (letter: string) => {
    const at = letter === "Q" ? from : shared;
    return slice(data.get(`${part}.W_${letter}`), at, at + width);
  };
  return {
    x,
    input,
    source,
    width,
    from,
    shared,
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

/** Whether scores are divided by √d. */
export const divides = (data: WalkData, what: WhatIf): boolean => data.header.divided && what.scaling;

/** What a head adds to its scores by distance; nothing in the attention between two texts, nor in other models. */
export const biasOf = (data: WalkData, part: Part, head: number, what: WhatIf): Matrix | null =>
  what.bias && data.has(`${part}.bias`) ? data.block(`${part}.bias`, head) : null;

/** What the scores are called that the softmax, or the mask, is given. */
export function scoreName(data: WalkData, part: Part, what: WhatIf): string {
  const name = divides(data, what) ? "Q·Kᵀ/√d" : "Q·Kᵀ";
  return biasOf(data, part, 0, what) ? `${name} + B` : name;
}

/** The norm of a model, LayerNorm or RMSNorm, with what one place of the layer learned. */
export function normed(data: WalkData, name: string, m: Matrix): Matrix {
  const { epsilon, normed: kind } = data.header;
  const scale = data.get(`${name}.scale`);
  return kind === "rms"
    ? rmsNorm(m, scale, epsilon)
    : layerNorm(m, scale, data.get(`${name}.shift`), epsilon);
}

/** The head whose keys and values a head of queries reads. */
export const keyHead = ({ header: { heads, groups } }: WalkData, head: number): number =>
  groups ? Math.floor((head * groups) / heads) : head;

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
  const normalises = data.has(`${side}.scale`);
  const total = parts.map(({ matrix }) => matrix).reduce(sum);
  const norm = (m: Matrix) =>
    normalises ? layerNorm(m, data.get(`${side}.scale`), data.get(`${side}.shift`), data.header.epsilon) : m;
  const narrow = data.has(`${side}.narrow`) ? norm(total) : null; // tables narrower than X: ALBERT, small ELECTRA
  if (!order && placed)
    return {
      parts,
      normed: normalises,
      narrow: narrow && data.get(`${side}.narrow`),
      x: data.get(`${side}.x`),
    };
  const x = narrow ? product(narrow, data.get(`${side}.W_E`), data.get(`${side}.b_E`)) : norm(total);
  return { parts, normed: normalises, narrow, x };
}

const fed = new WeakMap<Matrix, Feed>();

/** The feed-forward network of the layer, after attention. */
export function feed(data: WalkData, part: "encoder" | "decoder", x: Matrix): Feed {
  const found = fed.get(x) ?? worked(data, part, x);
  fed.set(x, found);
  return found;
}

function worked(data: WalkData, part: "encoder" | "decoder", x: Matrix): Feed {
  const { header } = data;
  const norm = (m: Matrix) => normed(data, `${part}.feed`, m);
  const linear = (m: Matrix, name: string) =>
    product(m, data.get(`${part}.W_${name}`), data.find(`${part}.b_${name}`));
  const input = header.norm === "pre" ? norm(x) : x;
  const bend = ACTIVATIONS[header.activation];
  const wide = linear(input, "1");
  const gate = data.has(`${part}.W_G`) ? mapped(linear(input, "G"), bend) : null;
  const hidden = gate ? matched(gate, wide) : mapped(wide, bend);
  const output = linear(hidden, "2");
  const added = sum(x, output);
  return { input, gate, wide, hidden, output, added, result: header.norm === "post" ? norm(added) : added };
}
