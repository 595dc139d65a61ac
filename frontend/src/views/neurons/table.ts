// The neuron table: where its columns stand, and how its rows are drawn.

import { keyVectors, queryVectors, width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { bySize, movers, productOf, type Row, riseOf, rowOf } from "../../compute/pairs";
import { elided, type Pen } from "../../marks/pen";
import { brief, type Palette, SMALL } from "../../marks/scales";
import { sizeOf, strip } from "../../marks/vectors";

export const LINE = 20; // height of a row
const USUAL = { label: 110, number: 62, beside: 120, gap: 14, least: 1.25 };
const TIGHT = { label: 84, number: 52, beside: 62, gap: 8, least: 0.75 }; // on a phone, where sums before scaling are left out
const ROOMY = 520; // pixels from which everything is shown

export interface Layout {
  cell: number;
  label: number; // where names of keys end
  number: number; // room of a number
  k: number; // where the strips and numbers begin
  product: number;
  dot: number | null; // null where there is no room
  score: number;
  bar: number;
  beside: number; // room of a bar and its number
  width: number;
}

/** Columns of the table in a given width, for vectors of dimension d. */
export function layout(available: number, d: number): Layout {
  const roomy = available >= ROOMY;
  const { label, number, beside, gap, least } = roomy ? USUAL : TIGHT;
  const room = (available - label - (roomy ? 2 : 1) * number - beside - 5 * gap) / (2 * d);
  const cell = Math.max(least, Math.min(10, Math.floor(room * 4) / 4));
  const k = label + gap;
  const product = k + d * cell + gap;
  const dotted = product + d * cell + gap;
  const score = dotted + (roomy ? number : 0);
  const bar = score + number + gap;
  return {
    cell,
    label,
    number,
    k,
    product,
    dot: roomy ? dotted : null,
    score,
    bar,
    beside,
    width: bar + beside,
  };
}

/** A query expanded: everything its rows need. */
export interface Expanded {
  lens: Lens;
  query: number; // token
  order: number[];
  rows: Row[];
  weights: Float32Array;
  top: number;
  best: number; // the key with the largest score
  sizes: { q: number; k: number; product: number };
}

export function expand(lens: Lens, query: number, ordered: boolean): Expanded {
  const { head } = lens;
  const d = width(head.site);
  const weights = lens.row(query);
  const [q, k] = [queryVectors(head), keyVectors(head)];
  const rows = rowOf(head, query);
  const sizes = { q: 1.4 * sizeOf(q), k: 1.4 * sizeOf(k), product: 1.4 * sizeOf(q) * sizeOf(k) };
  return {
    lens,
    query,
    order: ordered ? bySize(head, query) : Array.from({ length: d }, (_, c) => c),
    rows,
    weights,
    top: weights.reduce((top, x) => Math.max(top, x), 1e-12),
    best: rows.reduce((best, { score }, key) => (score > rows[best].score ? key : best), 0),
    sizes,
  };
}

/** The strip of the query's own vector. */
export function queryStrip(pen: Pen, shown: Expanded, at: Layout, y: number): void {
  const d = shown.order.length;
  const q = queryVectors(shown.lens.head).subarray(shown.query * d, (shown.query + 1) * d);
  strip(pen, q, shown.order, at.k, y + 3, at.cell, LINE - 6, shown.sizes.q);
}

export const LISTED = 6; // neurons of a pair that are named

/** Above the products: the neurons that the inspector names for one key, by number where there is room. */
export function namedMarks(
  pen: Pen,
  shown: Expanded,
  key: number,
  at: Layout,
  bottom: number,
  colours: Palette,
): void {
  const named = movers(riseOf(shown.lens.head, shown.query, key), LISTED);
  const places = named.map((c) => shown.order.indexOf(c)).sort((a, b) => a - b);
  let free = 0;
  for (const place of places) {
    const x = at.product + place * at.cell;
    pen.rect(x, bottom - 4, Math.max(1, at.cell - 1), 4, { colour: colours.accent });
    const text = String(shown.order[place]);
    const half = 3 * text.length;
    const middle = x + at.cell / 2;
    if (middle - half < free) continue;
    pen.text(middle, bottom - 11, text, { colour: colours.ink, size: 10, align: "middle", mono: false });
    free = middle + half + 1;
  }
}

/** Rows of keys from `top` down. */
export function keyRows(
  pen: Pen,
  shown: Expanded,
  keys: readonly number[],
  at: Layout,
  top: number,
  height: number,
  lit: { hovered: number | null; pinned: readonly number[] },
  colours: Palette,
): void {
  const first = Math.max(0, Math.floor(top / LINE));
  const last = Math.min(keys.length, Math.ceil((top + height) / LINE));
  for (let i = first; i < last; i++) {
    const y = i * LINE - top;
    if (keys[i] === lit.hovered || keys[i] === shown.best)
      pen.rect(0, y, at.width, LINE, { colour: colours.band });
    if (lit.pinned.includes(keys[i])) pen.rect(0, y + 2, 2, LINE - 4, { colour: colours.accent });
    keyRow(pen, shown, keys[i], at, y, colours);
  }
}

function keyRow(pen: Pen, shown: Expanded, key: number, at: Layout, y: number, colours: Palette): void {
  const { lens, order, rows, weights } = shown;
  const d = order.length;
  const middle = y + LINE / 2;
  const { columns, head } = lens;
  pen.text(at.label, middle, elided(columns.names[key], at.label - 8), {
    colour: columns.special[key] ? colours.quiet : colours.ink,
    align: "end",
    bold: key === shown.best,
  });
  const k = keyVectors(head).subarray(key * d, (key + 1) * d);
  strip(pen, k, order, at.k, y + 3, at.cell, LINE - 6, shown.sizes.k);
  strip(
    pen,
    productOf(head, shown.query, key),
    order,
    at.product,
    y + 3,
    at.cell,
    LINE - 6,
    shown.sizes.product,
  );
  const number = (x: number, value: number) =>
    pen.text(x + at.number - 6, middle, fixed(value), { colour: colours.ink, size: 12, align: "end" });
  if (at.dot !== null) number(at.dot, rows[key].product);
  number(at.score, rows[key].score);
  pen.rect(at.bar, y + 4, (Math.max(16, at.beside - 56) * weights[key]) / shown.top, LINE - 8, {
    colour: colours.accent,
    alpha: 0.75,
  });
  const small = weights[key] < SMALL;
  pen.text(at.bar + at.beside, middle, small ? "·" : brief(weights[key]), {
    colour: small ? colours.quiet : colours.ink,
    size: 12,
    align: "end",
  });
}

const fixed = (value: number): string => (Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "−∞");

/** Which neuron lies under x, and in which strip. */
export function neuronAt(shown: Expanded, at: Layout, x: number): number | null {
  for (const start of [at.k, at.product]) {
    const place = Math.floor((x - start) / at.cell);
    if (x >= start && place < shown.order.length) return shown.order[place];
  }
  return null;
}

/** q and k of every token, where no query is expanded. */
export function overview(
  pen: Pen,
  lens: Lens,
  at: Layout,
  top: number,
  height: number,
  colours: Palette,
): void {
  const { head, rows } = lens;
  const d = width(head.site);
  const order = Array.from({ length: d }, (_, c) => c);
  const own = head.site.query === head.site.key;
  const sizes = [1.4 * sizeOf(queryVectors(head)), 1.4 * sizeOf(keyVectors(head))];
  for (let i = Math.floor(top / LINE); i < Math.min(rows.count, Math.ceil((top + height) / LINE)); i++) {
    const y = i * LINE - top;
    pen.text(at.label, y + LINE / 2, elided(rows.names[i], at.label - 8), {
      colour: rows.special[i] ? colours.quiet : colours.ink,
      align: "end",
    });
    strip(
      pen,
      queryVectors(head).subarray(i * d, (i + 1) * d),
      order,
      at.k,
      y + 3,
      at.cell,
      LINE - 6,
      sizes[0],
    );
    if (own)
      strip(
        pen,
        keyVectors(head).subarray(i * d, (i + 1) * d),
        order,
        at.product,
        y + 3,
        at.cell,
        LINE - 6,
        sizes[1],
      );
  }
}
