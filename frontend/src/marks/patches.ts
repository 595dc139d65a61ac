// An image made of patches, lit by how much attention each gets.

import type { Axis } from "../compute/axis";
import type { Side } from "../data/wire";
import type { Pen } from "./pen";
import type { Palette } from "./scales";

export interface Grid {
  rows: number;
  columns: number;
  place: Map<number, [number, number]>; // position -> row, column
  order: number[]; // positions in reading order
}

/** Where the patches of an axis lie; null for an axis of words. */
export function gridOf(axis: Axis): Grid | null {
  const { row, column } = axis.side;
  if (!row || !column) return null;
  const place = new Map<number, [number, number]>();
  for (let p = 0; p < axis.count; p++) {
    const at = [row[axis.starts[p]], column[axis.starts[p]]];
    if (at[0] !== null && at[1] !== null) place.set(p, at as [number, number]);
  }
  const all = [...place.values()];
  const order = [...place.keys()].sort((a, b) => {
    const [p, q] = [place.get(a)!, place.get(b)!];
    return p[0] - q[0] || p[1] - q[1];
  });
  return {
    rows: Math.max(...all.map(([row]) => row)) + 1,
    columns: Math.max(...all.map(([, column]) => column)) + 1,
    place,
    order,
  };
}

const canvases = new WeakMap<Side, HTMLCanvasElement>();

/** The image of a side on a canvas of its own; null without an image. */
export function imageCanvas(side: Side): HTMLCanvasElement | null {
  if (!side.image) return null;
  let canvas = canvases.get(side);
  if (!canvas) {
    const [height, width] = side.image.shape;
    canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d")!;
    const pixels = context.createImageData(width, height);
    const rgb = side.image.raw();
    for (let i = 0; i < width * height; i++)
      pixels.data.set([rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2], 255], 4 * i);
    context.putImageData(pixels, 0, 0);
    canvases.set(side, canvas);
  }
  return canvas;
}

const VEIL = 0.86; // how far a patch without attention is covered

/** The image; with values, each patch veiled unless attention lifts it; framed patches are the chosen ones. */
export function patchImage(
  pen: Pen,
  grid: Grid,
  image: HTMLCanvasElement | null,
  values: readonly Float32Array[],
  framed: readonly number[],
  x: number,
  size: number,
  colours: Palette,
): void {
  if (image) pen.image(image, x, 0, size, size);
  else pen.rect(x, 0, size, size, { colour: colours.accent, alpha: 0.6 });
  const w = size / grid.columns;
  const h = size / grid.rows;
  if (values.length) {
    const mean = (position: number) => values.reduce((sum, row) => sum + row[position], 0) / values.length;
    const top = Math.max(1e-12, ...grid.order.map(mean));
    for (const [position, [row, column]] of grid.place)
      pen.rect(x + column * w, row * h, w, h, {
        colour: colours.ground,
        alpha: VEIL * (1 - mean(position) / top),
      });
  }
  for (const position of framed) {
    const at = grid.place.get(position);
    if (!at) continue;
    const [left, top] = [x + at[1] * w, at[0] * h];
    const frame = [
      left,
      top,
      left + w,
      top,
      left + w,
      top,
      left + w,
      top + h,
      left + w,
      top + h,
      left,
      top + h,
      left,
      top + h,
      left,
      top,
    ];
    pen.lines(frame, 4, 3, { colour: colours.ground });
    pen.lines(frame, 4, 1.5, { colour: colours.accent });
  }
}
