// Vectors as strips of cells: blue positive, orange negative, stronger for larger.

import type { Pen } from "./pen";
import { SIGNS } from "./scales";

/** Root mean square of some numbers: the size that a strip shows at three quarters of full colour. */
export function sizeOf(values: Float32Array): number {
  let sum = 0;
  for (const x of values) sum += x * x;
  return Math.sqrt(sum / Math.max(1, values.length)) || 1;
}

/** The edges of so many cells of one width. */
export const even = (count: number, cell: number): number[] =>
  Array.from({ length: count + 1 }, (_, c) => c * cell);

/** One vector; `order` says which neuron stands where, and `edges` where each begins and the last one ends. */
export function strip(
  pen: Pen,
  values: Float32Array,
  order: readonly number[],
  edges: ArrayLike<number>,
  x: number,
  y: number,
  height: number,
  size: number,
): void {
  for (let c = 0; c < order.length; c++) {
    const value = values[order[c]];
    const alpha = Math.tanh(Math.abs(value) / size);
    if (alpha < 0.02) continue;
    const cell = edges[c + 1] - edges[c];
    pen.rect(x + edges[c], y, cell > 3 ? cell - 0.5 : cell, height, {
      colour: value < 0 ? SIGNS.negative : SIGNS.positive,
      alpha,
    });
  }
}
