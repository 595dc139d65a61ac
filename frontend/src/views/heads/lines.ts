// The lines of the head view, the bars beside its columns and what is active, drawn.

import type { Active } from "../../compute/active";
import { type Axis, answerAt } from "../../compute/axis";
import { FAINT } from "../../compute/links";
import { mean } from "../../compute/mean";
import { partNames } from "../../frame/context";
import {
  bars,
  type Geometry,
  type Label,
  labels,
  lineEnd,
  lineStart,
  links,
  longest,
  middle,
} from "../../marks/columns";
import { divideColumn } from "../../marks/parts";
import type { Pen } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { type Store, samePlace } from "../../state/store";
import { coloursOf, type Scene, together } from "./scene";

/** The pair under the pointer, if it is a whole one. */
export function pairOf(store: Store): { query: number; key: number; head?: number } | null {
  const { query, key, head } = store.hover.value;
  return query === null || key === null ? null : { query, key, head };
}

/** What is drawn, and on what: a window of `height` on a picture that is scrolled by `top`. */
export interface Sheet {
  pen: Pen;
  store: Store;
  scene: Scene;
  g: Geometry;
  top: number;
  height: number;
}

function drawLinks({ pen, store, scene, g, top, height }: Sheet, found = scene.links): void {
  const places = { rows: scene.rows.place, columns: scene.columns.place };
  const { kind, layer } = store.site.peek();
  const off = store.off.peek();
  const dashed = together(scene)
    ? [false]
    : scene.heads.map((head) => off.some((one) => samePlace(one, { kind, layer, head })));
  const theme = store.theme.value;
  const inks = {
    colours: coloursOf(scene, theme),
    dashed,
    rests: scene.rests,
    quiet: palette(theme).quiet,
  };
  links(pen, found, places, inks, g, top, height);
}

const QUIET = 0.4; // bars beside all lines stay in the background

/** The picture where nothing is active: all lines, and what each token gives and gets. */
export function drawBack(sheet: Sheet): void {
  drawLinks(sheet);
  const { received, strongest } = sheet.scene.links;
  drawBars(sheet, strongest, "query", QUIET);
  drawBars(sheet, received, "key", QUIET);
}

/** Bars beside one column; a whole bar is the longest of them, and what keys are rested on is grey. */
function drawBars(
  { pen, store, scene, g, top, height }: Sheet,
  values: readonly Float32Array[],
  side: "query" | "key",
  alpha?: number,
): void {
  const theme = store.theme.value;
  const { list } = side === "query" ? scene.rows : scene.columns;
  const own = coloursOf(scene, theme);
  const grey = own.map(() => palette(theme).quiet);
  const coloursAt = (p: number) => (side === "key" && scene.rests(p, p) ? grey : own);
  bars(pen, values, longest(values, list), list, side, coloursAt, g, top, height, palette(theme), alpha);
}

const NONE: Active = { queries: [], keys: [], toKeys: [], toQueries: [] };

/** Labels, and what is active: its lines alone and the cells beside the other column. True if something is. */
export function drawFront(sheet: Sheet): boolean {
  const { store, scene } = sheet;
  // While the next page is being gathered the old one is still in sight: nothing in it is active.
  const active = scene.edition === store.edition ? store.active.value : NONE;
  const some = active.queries.length + active.keys.length > 0;
  drawLabels(sheet, active);
  drawParts(sheet);
  if (!some || active.toKeys.length + active.toQueries.length === 0) return some;
  const pair = pairOf(store);
  if (pair) drawPair(sheet, pair);
  else drawLinks(sheet, activeLinks(store, scene));
  const merged = (values: Float32Array[]) => (together(scene) ? [mean(values)] : values);
  const { toKeys, toQueries } = active;
  if (toKeys.length) drawBars(sheet, merged(toKeys), "key");
  if (toQueries.length) drawBars(sheet, merged(toQueries), "query");
  return some;
}

function drawLabels({ pen, store, scene, g, top, height }: Sheet, active: Active): void {
  const { queries, keys } = store.selection.value;
  const label =
    (axis: Axis, lit: number[], pins: number[]) =>
    (position: number): Label => ({
      text: axis.names[position],
      special: axis.special[position],
      lit: lit.includes(position),
      pinned: pins.includes(axis.starts[position]),
      dim: false,
    });
  const rows = scene.rows.list.map(label(scene.rowAxis, active.queries, queries));
  const columns = scene.columns.list.map(label(scene.columnAxis, active.keys, keys));
  const colours = palette(store.theme.value);
  labels(pen, rows, "query", g, top, height, colours);
  labels(pen, columns, "key", g, top, height, colours);
}

/** Where a text was continued: what was given, and what the model wrote. */
function drawParts({ pen, store, scene, g, top }: Sheet): void {
  const rows = answerAt(scene.rowAxis, scene.rows.list);
  const columns = answerAt(scene.columnAxis, scene.columns.list);
  const colours = palette(store.theme.value);
  if (rows !== null) divideColumn(pen, rows, "query", g, top, partNames(store), colours);
  if (columns !== null) divideColumn(pen, columns, "key", g, top, partNames(store), colours);
}

/** One line, over all others. */
function drawPair(
  { pen, store, scene, g, top }: Sheet,
  pair: { query: number; key: number; head?: number },
): void {
  const [from, to] = [scene.rows.place[pair.query], scene.columns.place[pair.key]];
  if (from < 0 || to < 0) return;
  const colours = coloursOf(scene, store.theme.value);
  const colour = colours[Math.max(0, together(scene) ? 0 : scene.heads.indexOf(pair.head ?? -1))];
  pen.lines([lineStart(g), middle(from, top, g.row), lineEnd(g), middle(to, top, g.row)], 1, 3, { colour });
}

/** Lines of the active tokens, on the same scale as the whole picture. */
function activeLinks(store: Store, scene: Scene): Scene["links"] {
  const { queries, keys } = store.active.value;
  const { threshold } = store.selection.value;
  const found = { query: [] as number[], key: [] as number[], head: [] as number[], weight: [] as number[] };
  const add = (q: number, k: number, h: number, w: number) => {
    if (w <= Math.max(threshold, scene.links.top * FAINT)) return;
    found.query.push(q);
    found.key.push(k);
    found.head.push(h);
    found.weight.push(w);
  };
  scene.seers.forEach((lens, h) => {
    for (const q of queries) {
      const row = lens.row(q);
      if (scene.rows.mask[q]) for (const k of scene.columns.list) add(q, k, h, row[k]);
    }
    for (const k of keys) {
      const column = lens.column(k);
      if (scene.columns.mask[k]) for (const q of scene.rows.list) add(q, k, h, column[q]);
    }
  });
  return {
    count: found.weight.length,
    query: Uint32Array.from(found.query),
    key: Uint32Array.from(found.key),
    head: Uint8Array.from(found.head),
    weight: Float32Array.from(found.weight),
    top: scene.links.top,
    left: false,
    received: [],
    strongest: [],
  };
}
