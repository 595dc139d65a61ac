// Two columns of tokens and the lines between them.

import type { Links } from "../compute/links";
import type { Rests } from "../compute/rest";
import { elided, type Ink, type Pen } from "./pen";
import { brief, type Palette, type Theme } from "./scales";

const LOWEST = 18; // height of a token's row
const HIGHEST = 34;
const LOWEST_TOUCH = 24; // where fingers point
const WIDEST_GAP = 640; // between the two columns of labels
const NARROWEST_GAP = 200;
const WIDEST_STRIP = 352;
const WIDEST_BEFORE = 110; // of the bars before queries, which only a chosen token has; lines take the rest
const NO_STRIP = 480;
export const GAP = 7; // between labels and lines

export interface Geometry {
  left: number; // where query labels end
  right: number; // where key labels begin
  before: number; // width of the bars before the query labels
  strip: number; // of those behind the key labels
  width: number;
  text: number; // width a label may take
  row: number; // height of a token
  size: number; // of its letters
}

/** Height of a row, from the free height. */
export function rowHeight(height: number, rows: number, touch = false): number {
  const lowest = touch ? LOWEST_TOUCH : LOWEST;
  return Math.max(lowest, Math.min(HIGHEST, Math.floor(height / Math.max(1, rows))));
}

/** Where the columns of a picture of a given width stand, `outer` left free; `widest` is the longest label's width at 13 px. */
export function geometry(width: number, row: number, widest: number, outer = 0): Geometry {
  const size = row < 22 ? 13 : row < 29 ? 14 : 16;
  const text = Math.max(40, Math.min((widest * size) / 13 + 4, Math.min(240, width * 0.26)));
  const free = width - 2 * (text + outer) - 4 * GAP;
  const most = Math.min(
    WIDEST_STRIP,
    (free - Math.min(WIDEST_GAP, Math.max(NARROWEST_GAP, 0.72 * free))) / 2,
  );
  const strip = width < NO_STRIP ? 0 : Math.max(14, most); // on a phone lines alone: bars without numbers say little
  const span = Math.min(width - 2 * outer, 2 * text + 4 * GAP + 2 * strip + WIDEST_GAP);
  const before = Math.min(strip, WIDEST_BEFORE);
  const margin = (width - span) / 2 + GAP + text;
  return { left: margin + before, right: width - margin - strip, before, strip, width, text, row, size };
}

/** Width of the bars of a column. */
export const barsOf = (g: Geometry, side: "query" | "key"): number => (side === "query" ? g.before : g.strip);

/** Height of the middle of row `place`, on a picture scrolled by `top`. */
export const middle = (place: number, top: number, row: number): number => place * row + row / 2 - top;

export const lineStart = (g: Geometry): number => g.left + GAP;
export const lineEnd = (g: Geometry): number => g.right - GAP;

export interface Label {
  text: string;
  special: boolean;
  lit: boolean; // hovered or pinned
  pinned: boolean;
  dim: boolean;
}

/** One column of so many labels; only those that are on the picture are asked for. */
export function labels(
  pen: Pen,
  count: number,
  labelOf: (place: number) => Label,
  side: "query" | "key",
  g: Geometry,
  top: number,
  height: number,
  colours: Palette,
): void {
  const x = side === "query" ? g.left : g.right;
  const first = Math.max(0, Math.floor(top / g.row));
  const last = Math.min(count, Math.ceil((top + height) / g.row));
  for (let i = first; i < last; i++) {
    const label = labelOf(i);
    const y = middle(i, top, g.row);
    if (label.lit) {
      const from = side === "query" ? g.left - g.text - 4 : g.right - 4;
      pen.rect(from, y - g.row / 2 + 1, g.text + 8, g.row - 2, { colour: colours.band });
      const edge = side === "query" ? from + g.text + 6 : from;
      if (label.pinned) pen.rect(edge, y - g.row / 2 + 1, 2, g.row - 2, { colour: colours.accent });
    }
    pen.text(x, y, elided(label.text, g.text, g.size), {
      size: g.size,
      colour: label.special ? colours.quiet : colours.ink,
      alpha: label.dim ? 0.45 : 1,
      align: side === "query" ? "end" : "start",
    });
  }
}

const LEVELS = 24; // steps of opacity
const STRONG = 0.6; // from where lines are twice as wide; thin ones are quick to draw

const UNKNOWN = 0.4; // how opaque is drawn what has no number

/** How opaque a weight is drawn, whatever its sign: the square root keeps weak ones in sight. */
export const strengthOf = (weight: number, top: number): number =>
  Number.isNaN(weight) ? UNKNOWN : Math.sqrt(Math.min(1, Math.abs(weight) / (top || 1)));

const LIFTED = 0.85;

/** How opaque a line of some strength is on a ground: on a dark one faint lines would be lost. */
export const opacityOn = (theme: Theme, strength: number): number =>
  theme === "dark" ? strength ** LIFTED : strength;

/** How lines are drawn: the colours of the heads, which of them are dashed, and what rests in the background. */
export interface Inks {
  colours: readonly string[];
  dashed: readonly boolean[];
  rests: Rests;
  resting: number; // how strong lines that rest are, of the strength of others
  quiet: string;
  theme: Theme;
  of?: (weight: number) => number; // which colour a weight has; without it, that of its head
}

export const RESTING = 0.55; // of the strength of other lines: what rests stays in the background
export const FADED = 0.22; // the same where all lines are shown: most of them may rest, and hide those that do not

/** Lines from queries to keys: colour is the head, strength the weight; what rests is grey, thin and below. */
export function links(
  pen: Pen,
  found: Links,
  places: { rows: Int32Array; columns: Int32Array },
  { colours, dashed, rests, resting, quiet, theme, of }: Inks,
  g: Geometry,
  top: number,
  height: number,
): void {
  const ink = (i: number) => (of ? of(found.weight[i]) : found.head[i]);
  const buckets = bucketsOf(found, colours.length, rests, ink);
  const segments = new Float32Array(4 * found.count);
  const draw = (bucket: readonly number[], width: number, ink: Ink) => {
    let n = 0;
    for (const i of bucket) {
      const y1 = middle(places.rows[found.query[i]], top, g.row);
      const y2 = middle(places.columns[found.key[i]], top, g.row);
      if ((y1 < 0 && y2 < 0) || (y1 > height && y2 > height)) continue;
      const level = y1 === y2 ? onPixel(y1, width) : null;
      segments.set([lineStart(g), level ?? y1, lineEnd(g), level ?? y2], 4 * n++);
    }
    if (n) pen.lines(segments, n, width, ink);
  };
  // Faint lines first: strong ones stay on top.
  buckets.resting.forEach((bucket, level) => {
    draw(bucket, 1, { colour: quiet, alpha: resting * opacityOn(theme, opacityOf(level)) });
  });
  buckets.awake.forEach((bucket, at) => {
    const [level, head] = [Math.floor(at / colours.length), at % colours.length];
    const strength = opacityOf(level);
    const ink = { colour: colours[head], alpha: opacityOn(theme, strength), dashed: dashed[head] };
    draw(bucket, strength > STRONG ? 2 : 1, ink);
  });
}

/** Where a level line is as wide as it is said to be: between two rows of pixels it would be twice as wide, and pale. */
export const onPixel = (y: number, width: number): number =>
  width % 2 ? Math.floor(y) + 0.5 : Math.round(y);

const opacityOf = (level: number): number => (level + 0.5) / LEVELS;

/** Lines by level, and those that are awake by colour as well; arrays have holes where there are none. */
function bucketsOf(
  found: Links,
  inks: number,
  rests: Rests,
  ink: (i: number) => number,
): { resting: number[][]; awake: number[][] } {
  const resting: number[][] = new Array(LEVELS);
  const awake: number[][] = new Array(LEVELS * inks);
  for (let i = 0; i < found.count; i++) {
    const level = Math.min(LEVELS - 1, Math.floor(strengthOf(found.weight[i], found.top) * LEVELS));
    const [list, at] = rests(found.query[i], found.key[i])
      ? [resting, level]
      : [awake, level * inks + ink(i)];
    list[at] ??= [];
    list[at].push(i);
  }
  return { resting, awake };
}

/** Bars outside a column: for each position the mean over heads, the part of each in its colour. */
export function bars(
  pen: Pen,
  values: readonly Float32Array[],
  strongest: number,
  positions: readonly number[],
  side: "query" | "key",
  coloursAt: (position: number) => readonly string[], // of the same heads
  g: Geometry,
  top: number,
  height: number,
  palette: Palette,
  alpha = 0.85,
  write = told,
): void {
  const from = side === "query" ? g.left - g.text - 2 * GAP : g.right + g.text + 2 * GAP;
  const away = side === "query" ? -1 : 1;
  const wide = barsOf(g, side);
  const numbers = wide >= 80;
  const room = wide - GAP - (numbers ? (write === told ? 44 : 62) : 0); // with its sign a number is longer
  const thick = Math.max(6, Math.min(14, g.row - 8));
  const first = Math.max(0, Math.floor(top / g.row));
  const last = Math.min(positions.length, Math.ceil((top + height) / g.row));
  for (let i = first; i < last; i++) {
    let x = from;
    const total = values.reduce((sum, row) => sum + row[positions[i]], 0) / values.length;
    const text = numbers && write(total, strongest);
    if (numbers && !text) continue; // no bar without its number
    const y = middle(i, top, g.row);
    const colours = coloursAt(positions[i]);
    for (let h = 0; h < values.length; h++) {
      const value = values[h][positions[i]] / values.length;
      const long = Math.min(1, Math.abs(value) / strongest) * room;
      if (long >= 0.5)
        pen.rect(away > 0 ? x : x - long, y - thick / 2, long, thick, { colour: colours[h], alpha });
      x += away * long;
    }
    if (text)
      pen.text(x + away * 6, y, text, {
        colour: palette.quiet,
        size: 12,
        mono: false,
        align: away > 0 ? "start" : "end",
      });
  }
}

/** A number beside its bar; where no bar can be seen there is none. */
const told = (total: number, strongest: number): string =>
  total < Math.max(0.005, 0.01 * strongest)
    ? ""
    : total >= 10 && total < 100
      ? total.toFixed(1)
      : brief(total);

/** The largest mean over heads among some positions, whatever its sign. */
export function longest(values: readonly Float32Array[], positions: readonly number[]): number {
  let top = 1e-12;
  for (const p of positions) {
    let sum = 0;
    for (const row of values) sum += row[p];
    if (Math.abs(sum) / values.length > top) top = Math.abs(sum) / values.length;
  }
  return top;
}
