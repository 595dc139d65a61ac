// A picture, lit where attention is: patches know their place in it, and light is spread between their middles.

import { type Axis, positionOf } from "../compute/axis";
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
  if (!row || !column || row.some((r) => r !== null && r > 0)) return found; // a picture of several rows of patches
  for (let p = 0; p < count; p++) {
    const [r, c] = [row[starts[p]], column[starts[p]]];
    if (!folded[p] && r !== null && text[starts[p]] !== `${r},${c}`) found.set(p, text[starts[p]]);
  }
  return found;
}

/**
 * The position that looks where none is chosen: [CLS] of a picture; the letter in the middle of a line of text in a
 * picture; in a text the one from which the answer begins, or goes on.
 */
export function firstLooker(axis: Axis): number {
  const letters = [...lettersOf(axis)].filter(([, letter]) => letter.trim()).map(([p]) => p);
  if (letters.length) return letters[letters.length >> 1];
  const { segments } = axis.side;
  const alone = segments.length < 2 || segments.every(({ name }) => PICTURE.includes(name));
  if (placesOf(axis) && alone) return 0;
  const answer = segments.find(({ name, start }) => name === "answer" && start > 0);
  return answer ? positionOf(axis, answer.start - 1) : axis.count - 1;
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

const VEIL = { light: 0.7, dark: 0.8, inverted: 0.72 }; // how far the picture is covered where nothing is looked at
const PAPER = 0.7; // mean luminance from which a picture is one of paper: on a dark page its maps have light ink
const TINT = { patch: 0.9, light: 0.6 }; // how strongly the place with most attention is coloured: a patch as on ink so on paper
const DIMMED = { light: 1, dark: 0.8, paper: 0.7 }; // how bright the picture itself is, beside a dark ground
const COARSE = 12; // patches across up to which each has one colour: larger ones would be blurred
const ROOT = 0.7; // the power of a share that is seen: a faint look is still one

/** One pixel a cell, the more opaque the more attention. */
function masked(cells: Float32Array, [rows, columns]: readonly [number, number]): HTMLCanvasElement {
  const [canvas, context] = blank(columns, rows);
  const top = cells.reduce((most, value) => Math.max(most, value), 1e-12);
  for (let i = 0; i < cells.length; i++) {
    context.globalAlpha = Math.max(0, cells[i] / top) ** ROOT;
    context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
  }
  return canvas;
}

function blank(width: number, height: number): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return [canvas, canvas.getContext("2d")!];
}

interface Under {
  grey: HTMLCanvasElement; // without colours
  inverted: HTMLCanvasElement | null; // the same with light ink on dark paper; null unless it is of paper
}

const unders = new WeakMap<HTMLCanvasElement, Under>();

/** A picture without its colours, and with light ink if it is one of dark ink on paper. */
function underOf(image: HTMLCanvasElement): Under {
  let under = unders.get(image);
  if (!under) {
    const grey = blended(image, "saturation", "#808080");
    const [r, g, b] = meanColour(image, [0, 0, 1, 1]).map((value) => value / 255);
    const paper = 0.2126 * r + 0.7152 * g + 0.0722 * b > PAPER;
    under = { grey, inverted: paper ? blended(grey, "difference", "#ffffff") : null };
    unders.set(image, under);
  }
  return under;
}

function blended(image: HTMLCanvasElement, how: GlobalCompositeOperation, colour: string): HTMLCanvasElement {
  const [canvas, context] = blank(image.width, image.height);
  context.drawImage(image, 0, 0);
  context.globalCompositeOperation = how;
  context.fillStyle = colour;
  context.fillRect(0, 0, image.width, image.height);
  return canvas;
}

const SAMPLED = 16; // pixels across that a mean is taken of

/** The mean colour of a part of a picture: red, green and blue up to 255. */
function meanColour(image: HTMLCanvasElement, [left, top, right, bottom]: Box): number[] {
  const [, context] = blank(SAMPLED, SAMPLED);
  const [width, height] = [image.width, image.height];
  const part = [left * width, top * height, (right - left) * width, (bottom - top) * height] as const;
  context.drawImage(image, ...part, 0, 0, SAMPLED, SAMPLED);
  const { data } = context.getImageData(0, 0, SAMPLED, SAMPLED);
  return [0, 1, 2].map(
    (i) => data.reduce((sum, value, k) => (k % 4 === i ? sum + value : sum), 0) / SAMPLED ** 2,
  );
}

/** The mean colour of a patch of what was drawn, as #rrggbb. */
export const meanOf = (image: HTMLCanvasElement, box: Box): string =>
  `#${meanColour(image, box)
    .map((value) => Math.round(value).toString(16).padStart(2, "0"))
    .join("")}`;

/** The picture grey and faint, and in its colours, with some of the accent, where the mask is. */
function lit(
  image: HTMLCanvasElement | null,
  mask: HTMLCanvasElement,
  [width, height]: readonly [number, number],
  { theme, ground, band, accent }: Palette,
): HTMLCanvasElement {
  const [light, over] = blank(width, height);
  const smooth = Math.max(mask.width, mask.height) > COARSE;
  over.imageSmoothingEnabled = smooth;
  over.drawImage(mask, 0, 0, width, height);
  over.globalCompositeOperation = "source-in";
  over.imageSmoothingEnabled = true;
  const under = image && underOf(image);
  const inverted = theme === "dark" && under ? under.inverted : null;
  if (image) over.drawImage(inverted ?? image, 0, 0, width, height);
  over.globalCompositeOperation = "source-atop";
  over.fillStyle = accent;
  over.globalAlpha = image ? (smooth ? TINT.light : TINT.patch) : 1;
  over.fillRect(0, 0, width, height);
  const [canvas, context] = blank(width, height);
  context.fillStyle = image ? ground : band;
  context.fillRect(0, 0, width, height);
  context.globalAlpha = 1 - VEIL[inverted ? "inverted" : theme];
  if (under) context.drawImage(inverted ?? under.grey, 0, 0, width, height);
  context.globalAlpha = 1;
  context.drawImage(light, 0, 0);
  return canvas;
}

export interface Canvas {
  x: number;
  y: number;
  width: number;
  height: number;
}

const SHARP = 2; // pixels of what is drawn for one of the page

/** The picture; with values, grey unless attention lights it. Light between many patches is smooth for the eye; numbers are of patches. What was drawn, where it is lit. */
export function litPicture(
  pen: Pen,
  image: HTMLCanvasElement | null,
  places: ReadonlyMap<number, Box>,
  values: readonly Float32Array[],
  at: Canvas,
  colours: Palette,
): HTMLCanvasElement | null {
  const { x, y, width, height } = at;
  if (!values.length) {
    pen.rect(x, y, width, height, { colour: image ? colours.ground : colours.band });
    if (image) pen.image(image, x, y, width, height);
    const { theme, ground } = colours;
    const bright = DIMMED[theme === "dark" && image && underOf(image).inverted ? "paper" : theme];
    if (image) pen.rect(x, y, width, height, { colour: ground, alpha: 1 - bright });
    return null;
  }
  const mean = (position: number) => values.reduce((sum, row) => sum + row[position], 0) / values.length;
  const size = rasterSize(places);
  const pixels = [Math.round(SHARP * width), Math.round(SHARP * height)] as const;
  const drawn = lit(image, masked(raster(places, mean, size), size), pixels, colours);
  pen.image(drawn, x, y, width, height, true);
  return drawn;
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
