// A map as an image: one pixel a value.

import { greys, indexer, palette, ramp, type Theme, twoSided } from "./scales";

const ramps: Partial<Record<Theme, Uint8Array>> = {};
const resting: Partial<Record<Theme, Uint8Array>> = {};

/** Fill a canvas with (rows, columns) values up to `top`; zero is the ground. Places that rest are grey. */
export function heat(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  rows: number,
  columns: number,
  top: number,
  log: boolean,
  theme: Theme,
  rests: (i: number) => boolean = () => false,
): void {
  ramps[theme] ??= ramp(theme);
  resting[theme] ??= greys(theme);
  const [colours, grey] = [ramps[theme], resting[theme]];
  const index = indexer(top, log);
  fill(
    canvas,
    rows,
    columns,
    (i) => (rests(i) ? grey : colours),
    (i) => index(values[i]),
  );
}

const sides: Partial<Record<Theme, Uint8Array>> = {};

/** The same for values of both signs: blue above zero, orange below, the ground between; grey where it is NaN. */
export function signedHeat(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  rows: number,
  columns: number,
  top: number,
  theme: Theme,
  even = true, // false: the square root keeps small values in sight
): void {
  sides[theme] ??= Uint8Array.from([...twoSided(theme), ...unknown(theme)]);
  const colours = sides[theme];
  const index = (i: number) => {
    if (Number.isNaN(values[i])) return UNKNOWN;
    const share = Math.max(-1, Math.min(1, values[i] / (top || 1)));
    return 255 + Math.round(255 * (even ? share : Math.sign(share) * Math.sqrt(Math.abs(share))));
  };
  fill(canvas, rows, columns, () => colours, index);
}

const UNKNOWN = 511; // the colour after those of numbers

/** Grey between ground and letters (r, g, b). */
function unknown(theme: Theme): number[] {
  const { ground, quiet } = palette(theme);
  const part = (colour: string, i: number) => Number.parseInt(colour.slice(i, i + 2), 16);
  return [1, 3, 5].map((i) => Math.round(0.7 * part(ground, i) + 0.3 * part(quiet, i)));
}

function fill(
  canvas: HTMLCanvasElement,
  rows: number,
  columns: number,
  coloursOf: (i: number) => Uint8Array,
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
    const [colours, at] = [coloursOf(i), 3 * index(i)];
    pixels[4 * i] = colours[at];
    pixels[4 * i + 1] = colours[at + 1];
    pixels[4 * i + 2] = colours[at + 2];
    pixels[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
