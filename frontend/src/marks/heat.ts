// A map as an image: one pixel a value.

import { indexer, ramp, type Theme, twoSided } from "./scales";

const ramps: Partial<Record<Theme, Uint8Array>> = {};

/** Fill a canvas with (rows, columns) values up to `top`; zero is the ground. */
export function heat(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  rows: number,
  columns: number,
  top: number,
  log: boolean,
  theme: Theme,
): void {
  ramps[theme] ??= ramp(theme);
  const index = indexer(top, log);
  fill(canvas, rows, columns, ramps[theme], (i) => index(values[i]));
}

const sides: Partial<Record<Theme, Uint8Array>> = {};

/** The same for values of both signs: blue above zero, orange below, the ground between. */
export function signedHeat(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  rows: number,
  columns: number,
  top: number,
  theme: Theme,
): void {
  sides[theme] ??= twoSided(theme);
  fill(canvas, rows, columns, sides[theme], (i) => 255 + Math.round((255 * values[i]) / (top || 1)));
}

function fill(
  canvas: HTMLCanvasElement,
  rows: number,
  columns: number,
  colours: Uint8Array,
  index: (i: number) => number,
): void {
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, rows);
  const pixels = image.data;
  for (let i = 0; i < rows * columns; i++) {
    const at = 3 * index(i);
    pixels[4 * i] = colours[at];
    pixels[4 * i + 1] = colours[at + 1];
    pixels[4 * i + 2] = colours[at + 2];
    pixels[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
