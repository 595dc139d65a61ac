// Signs in the cells of the neurons that count: what is multiplied, and what comes out. Enters: vectors. Leaves: + and −.

import type { Pen } from "../../marks/pen";
import { inkOn, type Palette, SIGNS } from "../../marks/scales";
import { edgesOf, type Layout } from "./columns";
import { addedTo, type Expanded, keyOf, queryOf } from "./expanded";

const signOf = (value: number): string => (value < 0 ? "−" : "+");

/** The signs of q, above its keys. */
export function querySigns(pen: Pen, shown: Expanded, at: Layout, y: number, colours: Palette): void {
  const q = queryOf(shown);
  written(pen, shown, at, at.q, y, q, shown.sizes.q, colours, (neuron) => signOf(q[neuron]));
}

/** Of one key: the signs of k, and of its product with q. */
export function keySigns(
  pen: Pen,
  shown: Expanded,
  key: number,
  at: Layout,
  y: number,
  colours: Palette,
): void {
  const [k, products] = [keyOf(shown, key), addedTo(shown, key)];
  if (at.k) written(pen, shown, at, at.q, y, k, shown.sizes.k, colours, (n) => signOf(k[n]));
  written(pen, shown, at, at.product, y, products, shown.sizes.product, colours, (n) => signOf(products[n]));
}

/** A text in each wide cell, in the ink that its colour asks for. */
function written(
  pen: Pen,
  shown: Expanded,
  at: Layout,
  start: number,
  y: number,
  values: Float32Array,
  size: number,
  { ground }: Palette,
  text: (neuron: number) => string,
): void {
  const edges = edgesOf(shown, at);
  for (const neuron of shown.counting.slice(0, at.named)) {
    const place = shown.order.indexOf(neuron);
    const colour = inkOn(mixed(ground, values[neuron], size));
    const middle = start + (edges[place] + edges[place + 1]) / 2;
    pen.text(middle, y, text(neuron), { colour, size: 12, bold: true, mono: false, align: "middle" });
  }
}

/** The colour of a cell, as a strip paints it on its ground. */
function mixed(ground: string, value: number, size: number): string {
  const over = value < 0 ? SIGNS.negative : SIGNS.positive;
  const alpha = Math.tanh(Math.abs(value) / size);
  const part = (colour: string, at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  const parts = [1, 3, 5].map((at) => Math.round(part(ground, at) * (1 - alpha) + part(over, at) * alpha));
  return `#${parts.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}
