// Two columns of tokens and the lines between them.

import type { Links } from "../compute/links";
import { elided, type Pen } from "./pen";
import type { Palette } from "./scales";

export const ROW = 20; // height of a token
const GAP = 7; // between labels and lines

export interface Geometry {
  left: number; // where query labels end
  right: number; // where key labels begin
  strip: number; // width of the cells outside the labels
  width: number;
  text: number; // width a label may take
}

/** Where the columns of a picture of a given width stand. */
export function geometry(width: number, heads: number, widest: number): Geometry {
  const text = Math.max(40, Math.min(widest, Math.min(190, width * 0.26)));
  const strip = Math.min(Math.max(heads, 1) * 9, 72);
  const span = Math.min(width, 2 * text + 2 * strip + 460);
  const margin = (width - span) / 2 + strip + GAP;
  return { left: margin + text, right: width - margin - text, strip, width, text };
}

/** Height of the middle of row `place`, on a picture scrolled by `top`. */
export const middle = (place: number, top: number): number => place * ROW + ROW / 2 - top;

const lineStart = (g: Geometry): number => g.left + GAP;
const lineEnd = (g: Geometry): number => g.right - GAP;

export interface Label {
  text: string;
  special: boolean;
  lit: boolean; // hovered or pinned
  pinned: boolean;
  dim: boolean;
}

/** One column of labels; only those that are on the picture. */
export function labels(
  pen: Pen,
  list: readonly Label[],
  side: "query" | "key",
  g: Geometry,
  top: number,
  height: number,
  colours: Palette,
): void {
  const x = side === "query" ? g.left : g.right;
  const first = Math.max(0, Math.floor(top / ROW));
  const last = Math.min(list.length, Math.ceil((top + height) / ROW));
  for (let i = first; i < last; i++) {
    const label = list[i];
    const y = middle(i, top);
    if (label.lit) {
      const from = side === "query" ? g.left - g.text - 4 : g.right - 4;
      pen.rect(from, y - ROW / 2 + 1, g.text + 8, ROW - 2, { colour: colours.band });
      const edge = side === "query" ? from + g.text + 6 : from;
      if (label.pinned) pen.rect(edge, y - ROW / 2 + 1, 2, ROW - 2, { colour: colours.accent });
    }
    pen.text(x, y, elided(label.text, g.text), {
      colour: label.special ? colours.quiet : colours.ink,
      alpha: label.dim ? 0.45 : 1,
      align: side === "query" ? "end" : "start",
    });
  }
}

const LEVELS = 24; // steps of opacity
const STRONG = 0.4; // from where lines are twice as wide; thin ones are quick to draw

/** Lines from queries to keys: colour is the head, strength the weight. */
export function links(
  pen: Pen,
  found: Links,
  places: { rows: Int32Array; columns: Int32Array },
  colours: readonly string[],
  g: Geometry,
  top: number,
  height: number,
): void {
  const x1 = lineStart(g);
  const x2 = lineEnd(g);
  const buckets = bucketsOf(found, colours.length);
  const segments = new Float32Array(4 * found.count);
  // Faint lines first: strong ones stay on top.
  for (let level = 0; level < LEVELS; level++)
    for (let head = 0; head < colours.length; head++) {
      let n = 0;
      for (const i of buckets[level * colours.length + head] ?? []) {
        const y1 = middle(places.rows[found.query[i]], top);
        const y2 = middle(places.columns[found.key[i]], top);
        if ((y1 < 0 && y2 < 0) || (y1 > height && y2 > height)) continue;
        segments.set([x1, y1, x2, y2], 4 * n++);
      }
      const strength = (level + 0.5) / LEVELS;
      if (n) pen.lines(segments, n, strength > STRONG ? 2 : 1, { colour: colours[head], alpha: strength });
    }
}

function bucketsOf(found: Links, heads: number): (number[] | undefined)[] {
  const buckets: (number[] | undefined)[] = new Array(LEVELS * heads);
  for (let i = 0; i < found.count; i++) {
    const level = Math.min(LEVELS - 1, Math.floor((found.weight[i] / found.top) * LEVELS));
    const at = level * heads + found.head[i];
    const bucket = buckets[at];
    if (bucket) bucket.push(i);
    else buckets[at] = [i];
  }
  return buckets;
}

/** Cells outside a column: for each position the weight of each head. `values[h][p]` up to `top`. */
export function cells(
  pen: Pen,
  values: readonly Float32Array[],
  strongest: number,
  positions: readonly number[],
  side: "query" | "key",
  colours: readonly string[],
  g: Geometry,
  top: number,
  height: number,
): void {
  const cell = g.strip / Math.max(1, colours.length);
  const x = side === "query" ? g.left - g.text - GAP - g.strip : g.right + g.text + GAP;
  const first = Math.max(0, Math.floor(top / ROW));
  const last = Math.min(positions.length, Math.ceil((top + height) / ROW));
  for (let i = first; i < last; i++)
    for (let h = 0; h < colours.length; h++) {
      const strength = Math.min(1, values[h][positions[i]] / strongest);
      if (strength < 0.01) continue;
      const y = middle(i, top) - ROW / 2 + 2;
      pen.rect(x + h * cell, y, Math.max(1, cell - (cell > 4 ? 1 : 0)), ROW - 4, {
        colour: colours[h],
        alpha: strength,
      });
    }
}
