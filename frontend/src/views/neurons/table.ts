// The neuron table: how its rows are drawn.

import { keyVectors, queryVectors, width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { elided, type Lettering, measure, type Pen } from "../../marks/pen";
import { brief, decimals, type Palette, SMALL, signColour } from "../../marks/scales";
import { even, sizeOf, strip } from "../../marks/vectors";
import { listedName, parted } from "../../words/quoted";
import { edgesOf, type Layout } from "./columns";
import { addedTo, CLEAR, countingOf, type Expanded, keyOf, sees } from "./expanded";
import { keySigns } from "./signs";

const lastSeen = (shown: Expanded): number =>
  shown.rows.reduce((last, _, key) => (sees(shown, key) ? key : last), 0);

/** Rows of keys from `top` down. */
export function keyRows(
  pen: Pen,
  shown: Expanded,
  at: Layout,
  top: number,
  height: number,
  lit: { key: number | null; pinned: readonly number[] }, // the one that is told of, and those kept
  colours: Palette,
  never: string, // what is said of keys that cannot be looked at
): void {
  const { row } = at;
  const last = Math.min(shown.rows.length, Math.ceil((top + height) / row));
  for (let key = Math.max(0, Math.floor(top / row)); key < last; key++) {
    const y = key * row - top;
    if (key === lit.key || key === shown.best) pen.rect(0, y, at.width + 6, row, { colour: colours.band });
    if (lit.pinned.includes(key)) pen.rect(0, y + 2, 2, row - 4, { colour: colours.accent });
    keyRow(pen, shown, key, at, y, colours);
    if (key === lit.key && sees(shown, key)) explained(pen, shown, key, at, y, colours);
    if (!sees(shown, key) && (key === 0 || sees(shown, key - 1)))
      pen.text(at.q, y + row / 2, never, { colour: colours.quiet, size: 12, mono: false });
  }
  const [x] = scoreAt(shown, at, shown.average);
  const below = Math.min(height, (1 + lastSeen(shown)) * row - top);
  pen.lines([x, 0, x, below], 1, 1, { colour: colours.quiet, dashed: true });
}

/** The row that is told of: signs in the neurons that count most, a stroke under them, and arrows from column to column. */
function explained(pen: Pen, shown: Expanded, key: number, at: Layout, y: number, colours: Palette): void {
  const edges = edgesOf(shown, at);
  for (const { place } of countingOf(shown, key)) {
    const wide = edges[place + 1] - edges[place] - 0.5;
    pen.rect(at.product + edges[place], y + at.row - 2, wide, 2, { colour: colours.accent });
  }
  keySigns(pen, shown, key, at, y + at.row / 2, colours);
  if (!at.k) return;
  const sign = (x: number, text: string) =>
    pen.text(x, y + at.row / 2, text, { colour: colours.quiet, size: 14, mono: false, align: "middle" });
  sign(at.product - at.gap / 2, "=");
  sign(at.score - at.gap / 2, "→");
  sign(at.weight - at.gap / 2, "→");
}

/** The name of a row; its position is in the sans face, where two digits stand together. */
function token(pen: Pen, name: string, at: Layout, y: number, ink: Lettering): void {
  const [text, index] = parted(listedName(name));
  const room = measure(index, 13, false);
  const middle = y + at.row / 2;
  pen.text(at.label - room, middle, elided(text, at.label - room - 8), { ...ink, align: "end" });
  if (index) pen.text(at.label, middle, index, { ...ink, mono: false, align: "end" });
}

function keyRow(pen: Pen, shown: Expanded, key: number, at: Layout, y: number, colours: Palette): void {
  const { lens, order, rows } = shown;
  const { columns } = lens;
  const seen = sees(shown, key);
  token(pen, columns.names[key], at, y, {
    colour: columns.special[key] || !seen ? colours.quiet : colours.ink,
    alpha: seen ? 1 : 0.6,
    bold: key === shown.best,
  });
  if (!seen) return;
  if (at.k) {
    const high = Math.round(at.row * 0.6);
    strip(
      pen,
      keyOf(shown, key),
      order,
      edgesOf(shown, at),
      at.q,
      y + (at.row - high) / 2,
      high,
      shown.sizes.k,
    );
  }
  products(pen, addedTo(shown, key), shown, at, y, at.row);
  scoreBar(pen, shown, at, rows[key].score, y, at.row, key === shown.best, colours);
  weightBar(pen, shown, key, at, y, colours);
}

/** What neurons add to a score, the strip that is read. */
export function products(
  pen: Pen,
  values: Float32Array,
  shown: Expanded,
  at: Layout,
  y: number,
  row: number,
): void {
  strip(pen, values, shown.order, edgesOf(shown, at), at.product, y + 2, row - 4, shown.sizes.product);
}

/** Where a score stands in its column, and where 0 does. */
export function scoreAt({ rows }: Expanded, at: Layout, score: number): [x: number, zero: number] {
  const finite = rows.map((row) => row.score).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...finite), Math.max(0, ...finite)];
  const place = (value: number) => at.score + (at.bar * (value - low)) / (high - low || 1);
  return [place(score), place(0)];
}

/** A score as a bar from 0, with its number. */
export function scoreBar(
  pen: Pen,
  shown: Expanded,
  at: Layout,
  score: number,
  y: number,
  row: number,
  bold: boolean,
  colours: Palette,
): void {
  const [x, zero] = scoreAt(shown, at, score);
  const high = Math.round(row * 0.5);
  pen.rect(Math.min(x, zero), y + (row - high) / 2, Math.max(1, Math.abs(x - zero)), high, {
    colour: signColour(score, colours.theme),
    alpha: bold ? 0.95 : 0.5,
  });
  pen.text(at.score + at.bar + at.number, y + row / 2, fixed(score, shown), {
    ...{ colour: colours.ink, size: 12, align: "end", bold, mono: false },
  });
}

/** What softmax makes of a score; below a thousandth there is nothing to see. */
function weightBar(pen: Pen, shown: Expanded, key: number, at: Layout, y: number, colours: Palette): void {
  const { weights, top } = shown;
  if (weights[key] < SMALL) return;
  const high = Math.round(at.row * 0.5);
  pen.rect(at.weight, y + (at.row - high) / 2, (at.bar * weights[key]) / top, high, {
    colour: colours.accent,
  });
  pen.text(at.width, y + at.row / 2, brief(weights[key]), {
    ...{ colour: colours.ink, size: 12, align: "end", bold: key === shown.best, mono: false },
  });
}

/** Scores of a table with as many decimals each, so that their points are below each other. */
export function fixed(value: number, { rows }: Expanded): string {
  if (!Number.isFinite(value)) return "−∞";
  const largest = Math.max(...rows.map(({ score }) => (Number.isFinite(score) ? Math.abs(score) : 0)));
  return decimals(value, largest >= 100 ? 0 : largest >= 10 ? 1 : 2);
}

/** Which neuron lies under x, and in which strip. */
export function neuronAt(shown: Expanded, at: Layout, x: number): number | null {
  const edges = edgesOf(shown, at);
  for (const start of at.k ? [at.product, at.q] : [at.product]) {
    const place = edges.findIndex((edge) => edge > x - start) - 1;
    if (place >= 0) return shown.order[place];
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
  const [q, k] = [queryVectors(head), keyVectors(head)];
  const sizes = [CLEAR * sizeOf(q), CLEAR * sizeOf(k)];
  const edges = even(d, at.cell);
  const last = Math.min(rows.count, Math.ceil((top + height) / at.row));
  for (let i = Math.floor(top / at.row); i < last; i++) {
    const y = i * at.row - top;
    token(pen, rows.names[i], at, y, { colour: rows.special[i] ? colours.quiet : colours.ink });
    const one = (values: Float32Array, x: number, size: number) =>
      strip(pen, values.subarray(i * d, (i + 1) * d), order, edges, x, y + 3, at.row - 6, size);
    one(q, at.q, sizes[0]);
    if (own && at.k) one(k, at.product, sizes[1]);
  }
}
