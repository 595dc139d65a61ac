// A picture, lit where attention is: patches know their place in it, and light is spread between their middles.

import type { Axis } from "../compute/axis";
import type { Pen } from "./pen";
import type { Palette } from "./scales";

export type Box = readonly [number, number, number, number]; // left, top, right, bottom, as shares of the picture

/** Where the positions of an axis lie in its picture; null for an axis of words alone. */
export function placesOf(axis: Axis): Map<number, Box> | null {
  const { spans, medium } = axis.side;
  const place = new Map<number, Box>();
  if (medium?.kind === "picture" && spans) {
    const all = spans.all();
    for (let p = 0; p < axis.count; p++) {
      if (axis.folded[p]) continue;
      const box = all.subarray(4 * axis.starts[p], 4 * axis.starts[p] + 4);
      if (!Number.isNaN(box[0])) place.set(p, [box[0], box[1], box[2], box[3]]);
    }
  } else gridPlaces(axis, place);
  return place.size ? place : null;
}

/** Patches of traces without a picture: a grid over all of it. */
function gridPlaces(axis: Axis, place: Map<number, Box>): void {
  const { row, column } = axis.side;
  if (!row || !column) return;
  const known = [...Array(axis.count).keys()].filter((p) => !axis.folded[p] && row[axis.starts[p]] !== null);
  if (!known.length) return;
  const of = (list: (number | null)[], p: number) => list[axis.starts[p]] ?? 0;
  const rows = Math.max(...known.map((p) => of(row, p))) + 1;
  const columns = Math.max(...known.map((p) => of(column, p))) + 1;
  for (const p of known) {
    const [r, c] = [of(row, p), of(column, p)];
    place.set(p, [c / columns, r / rows, (c + 1) / columns, (r + 1) / rows]);
  }
}

/** Letters that a model reads in a picture, by the positions that say them. */
export function lettersOf({ side, count, starts, folded }: Axis): Map<number, string> {
  const { row, column, text } = side;
  const found = new Map<number, string>();
  for (let p = 0; row && column && p < count; p++) {
    const [r, c] = [row[starts[p]], column[starts[p]]];
    if (!folded[p] && r !== null && text[starts[p]] !== `${r},${c}`) found.set(p, text[starts[p]]);
  }
  return found;
}

/**
 * The position that looks where none is chosen: [CLS] of a picture; the letter in the middle of a line of text in a
 * picture; in a text the last, from which the next is chosen.
 */
export function firstLooker(axis: Axis): number {
  if (!placesOf(axis)) return axis.count - 1;
  const letters = [...lettersOf(axis)].filter(([, letter]) => letter.trim()).map(([p]) => p);
  if (letters.length) return letters[letters.length >> 1];
  return axis.side.segments.every(({ name }) => PICTURE.includes(name)) ? 0 : axis.count - 1;
}

const PICTURE = ["image", "padding"]; // segments of a side that is a picture alone

const FINEST = 96; // cells of a side of a raster at most

/** How many cells of equal size a picture is rastered into: as many as its smallest patch fits in. */
export function rasterSize(places: ReadonlyMap<number, Box>): [number, number] {
  let [wide, high] = [1, 1];
  for (const [left, top, right, bottom] of places.values()) {
    wide = Math.min(wide, right - left);
    high = Math.min(high, bottom - top);
  }
  const cells = (size: number) => Math.max(1, Math.min(FINEST, Math.round(1 / Math.max(size, 1e-3))));
  return [cells(high), cells(wide)];
}

/** Values of positions spread over the cells of a raster, by the share of each box that lies in a cell, per cell. */
export function raster(
  places: ReadonlyMap<number, Box>,
  value: (position: number) => number,
  [rows, columns]: readonly [number, number],
): Float32Array {
  const found = new Float32Array(rows * columns);
  for (const [position, [left, top, right, bottom]] of places) {
    const dense = value(position) / Math.max(1e-9, (right - left) * (bottom - top) * rows * columns);
    const lowest = Math.min(rows, Math.ceil(bottom * rows - 0.02));
    const last = Math.min(columns, Math.ceil(right * columns - 0.02));
    for (let r = Math.floor(top * rows + 0.02); r < lowest; r++) {
      const high = Math.min(bottom * rows, r + 1) - Math.max(top * rows, r);
      for (let c = Math.floor(left * columns + 0.02); c < last; c++) {
        const wide = Math.min(right * columns, c + 1) - Math.max(left * columns, c);
        found[r * columns + c] += dense * Math.max(0, high) * Math.max(0, wide);
      }
    }
  }
  return found;
}

const VEIL = 0.86; // how far a place without attention is covered
const TINT = 0.5; // how strongly the place with most attention is coloured

/** A veil over the picture, one pixel a cell: the less attention the denser, the more the more coloured. */
function veil(
  cells: Float32Array,
  [rows, columns]: readonly [number, number],
  { ground, accent }: Palette,
): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d")!;
  const top = cells.reduce((most, value) => Math.max(most, value), 1e-12);
  for (let i = 0; i < cells.length; i++) {
    const lit = cells[i] / top;
    const [x, y] = [i % columns, Math.floor(i / columns)];
    context.fillStyle = ground;
    context.globalAlpha = VEIL * (1 - lit);
    context.fillRect(x, y, 1, 1);
    context.fillStyle = accent;
    context.globalAlpha = TINT * lit;
    context.fillRect(x, y, 1, 1);
  }
  return canvas;
}

export interface Canvas {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The picture; with values, veiled unless attention lifts it. Light is smooth for the eye; numbers are of patches. */
export function litPicture(
  pen: Pen,
  image: HTMLCanvasElement | null,
  places: ReadonlyMap<number, Box>,
  values: readonly Float32Array[],
  at: Canvas,
  colours: Palette,
): void {
  const { x, y, width, height } = at;
  if (image) pen.image(image, x, y, width, height);
  else pen.rect(x, y, width, height, { colour: colours.accent, alpha: 0.6 });
  if (!values.length) return;
  const mean = (position: number) => values.reduce((sum, row) => sum + row[position], 0) / values.length;
  const size = rasterSize(places);
  pen.image(veil(raster(places, mean, size), size, colours), x, y, width, height, true);
}

/** Frames around the patches that are chosen. */
export function framePatches(
  pen: Pen,
  places: ReadonlyMap<number, Box>,
  framed: readonly number[],
  at: Canvas,
  colours: Palette,
): void {
  for (const position of framed) {
    const box = places.get(position);
    if (!box) continue;
    const [l, r] = [box[0], box[2]].map((share) => at.x + share * at.width);
    const [t, b] = [box[1], box[3]].map((share) => at.y + share * at.height);
    const frame = [l, t, r, t, r, t, r, b, r, b, l, b, l, b, l, t];
    pen.lines(frame, 4, 3.5, { colour: colours.ground });
    pen.lines(frame, 4, 1.75, { colour: colours.accent });
  }
}

/** The position whose middle is nearest to one's in a direction; itself at the edge. */
export function neighbour(
  places: ReadonlyMap<number, Box>,
  from: number,
  [dx, dy]: readonly [number, number],
): number {
  const middle = ([l, t, r, b]: Box) => [(l + r) / 2, (t + b) / 2] as const;
  const own = places.get(from);
  if (!own) return from;
  const [x, y] = middle(own);
  let [best, least] = [from, Number.POSITIVE_INFINITY];
  for (const [position, box] of places) {
    const [u, v] = middle(box);
    const along = (u - x) * dx + (v - y) * dy;
    const aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
    if (along > 1e-4 && along + 4 * aside < least) [best, least] = [position, along + 4 * aside];
  }
  return best;
}
