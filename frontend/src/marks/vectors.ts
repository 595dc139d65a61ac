// Vectors as strips of cells: blue positive, orange negative, stronger for larger.

import type { Pen } from "./pen";
import { SIGNS } from "./scales";

/** Root mean square of some numbers: the size that a strip shows at three quarters of full colour. */
export function sizeOf(values: Float32Array): number {
  let sum = 0;
  for (const x of values) sum += x * x;
  return Math.sqrt(sum / Math.max(1, values.length)) || 1;
}

/** One vector; `order` says which neuron stands where. */
export function strip(
  pen: Pen,
  values: Float32Array,
  order: readonly number[],
  x: number,
  y: number,
  cell: number,
  height: number,
  size: number,
): void {
  for (let c = 0; c < order.length; c++) {
    const value = values[order[c]];
    const alpha = Math.tanh(Math.abs(value) / size);
    if (alpha < 0.02) continue;
    pen.rect(x + c * cell, y, cell > 3 ? cell - 0.5 : cell, height, {
      colour: value < 0 ? SIGNS.negative : SIGNS.positive,
      alpha,
    });
  }
}
