// A map as an image: one pixel a value.

import { indexer, ramp, type Theme } from "../scales";

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
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, rows);
  ramps[theme] ??= ramp(theme);
  const colours = ramps[theme];
  const index = indexer(top, log);
  const pixels = image.data;
  for (let i = 0; i < rows * columns; i++) {
    const at = 3 * index(values[i]);
    pixels[4 * i] = colours[at];
    pixels[4 * i + 1] = colours[at + 1];
    pixels[4 * i + 2] = colours[at + 2];
    pixels[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
