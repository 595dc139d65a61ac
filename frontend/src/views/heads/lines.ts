// The lines of the head view, the bars beside its columns and what is active, drawn.

import type { Active } from "../../compute/active";
import { type Axis, boundsOf } from "../../compute/axis";
import { FAINT, type Links } from "../../compute/links";
import { mean } from "../../compute/mean";
import { partNames } from "../../frame/context";
import { nameOn } from "../../frame/folds";
import {
  bars,
  FADED,
  type Geometry,
  type Label,
  labels,
  lineEnd,
  lineStart,
  links,
  longest,
  middle,
  RESTING,
  strengthOf,
} from "../../marks/columns";
import { cutLine } from "../../marks/cut";
import { divideColumns } from "../../marks/parts";
import type { Pen } from "../../marks/pen";
import { palette, signed } from "../../marks/scales";
import { pinnedPair } from "../../state/edges";
import { samePlace } from "../../state/selection";
import type { Positions } from "../../state/shown";
import type { Store } from "../../state/store";
import { coloursOf, cutIn, inkOf, type Scene, signColours, signOf, together } from "./scene";

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

function drawLinks({ pen, store, scene, g, top, height }: Sheet, found: Links, resting: number): void {
  const places = { rows: scene.rows.place, columns: scene.columns.place };
  const { kind, layer } = store.site.peek();
  const off = store.off.peek();
  const dashed = together(scene)
    ? [false]
    : scene.heads.map((head) => off.some((one) => samePlace(one, { kind, layer, head })));
  const theme = store.theme.value;
  const inks = {
    ...(scene.signed
      ? { colours: signColours(theme), dashed: [false, false, true], of: signOf }
      : { colours: coloursOf(scene, theme), dashed }),
    rests: scene.rests,
    resting,
    quiet: palette(theme).quiet,
    theme,
  };
  const cut = cutIn(store, scene);
  if (!cut) {
    links(pen, found, places, inks, g, top, height);
    return;
  }
  const all = Array.from({ length: found.count }, (_, i) => i);
  const isCut = (i: number) => cut(found.query[i], found.key[i], scene.heads[found.head[i]]);
  links(
    pen,
    only(
      found,
      all.filter((i) => !isCut(i)),
    ),
    places,
    inks,
    g,
    top,
    height,
  );
  for (const i of all.filter(isCut))
    drawLine({ pen, store, scene, g, top, height }, found.query[i], found.key[i], {
      colour: inkOf(scene, theme)(found.head[i], found.weight[i]),
      alpha: Math.max(0.4, strengthOf(found.weight[i], found.top)),
      width: 2,
      isCut: true,
    });
}

/** Some of the links. */
function only(found: Links, list: readonly number[]): Links {
  return {
    ...found,
    count: list.length,
    query: Uint32Array.from(list, (i) => found.query[i]),
    key: Uint32Array.from(list, (i) => found.key[i]),
    head: Uint8Array.from(list, (i) => found.head[i]),
    weight: Float32Array.from(list, (i) => found.weight[i]),
  };
}

interface Single {
  colour: string;
  alpha: number;
  width: number;
  dashed?: boolean; // what it is worth is not known
  isCut: boolean;
}

/** One line; a cut one is dashed, with a gap. */
function drawLine(
  { pen, store, scene, g, top }: Sheet,
  query: number,
  key: number,
  { colour, alpha, width, dashed = false, isCut }: Single,
): void {
  const [from, to] = [scene.rows.place[query], scene.columns.place[key]];
  if (from < 0 || to < 0) return;
  const line = [lineStart(g), middle(from, top, g.row), lineEnd(g), middle(to, top, g.row)] as const;
  const { ground, ink } = palette(store.theme.value);
  if (isCut) cutLine(pen, line, width, { colour, alpha }, ground, ink);
  else pen.lines(line, 1, width, { colour, alpha, dashed });
}

const QUIET = { light: 0.4, dark: 0.55 }; // bars beside all lines stay in the background

/** The picture where nothing is active: all lines, and what each token gets. */
export function drawBack(sheet: Sheet): void {
  drawLinks(sheet, sheet.scene.links, FADED);
  drawBars(sheet, sheet.scene.links.received, "key", QUIET[sheet.store.theme.value]);
}

/** Bars beside one column; a whole bar is the longest of them, and what keys are rested on is grey. */
function drawBars(
  { pen, store, scene, g, top, height }: Sheet,
  values: readonly Float32Array[],
  side: "query" | "key",
  alpha?: number,
): void {
  const theme = store.theme.value;
  if (scene.signed) {
    drawSigned({ pen, store, scene, g, top, height }, values, side, alpha);
    return;
  }
  const { list } = side === "query" ? scene.rows : scene.columns;
  const own = coloursOf(scene, theme);
  const grey = (p: number) => side === "key" && scene.rests(p, p);
  const coloursAt = (p: number) => own.map((colour) => (grey(p) ? palette(theme).quiet : colour));
  bars(pen, values, longest(values, list), list, side, coloursAt, g, top, height, palette(theme), alpha);
}

/** The same for numbers of both signs: the mean of the heads, with the colour of its sign. */
function drawSigned(
  { pen, store, scene, g, top, height }: Sheet,
  values: readonly Float32Array[],
  side: "query" | "key",
  alpha?: number,
): void {
  const theme = store.theme.value;
  const { list } = side === "query" ? scene.rows : scene.columns;
  const total = [mean(values)];
  const ink = inkOf(scene, theme);
  const most = longest(total, list);
  const coloursAt = (p: number) => [ink(0, total[0][p])];
  const write = (value: number) => (Math.abs(value) < 0.02 * most ? "" : signed(value));
  bars(pen, total, most, list, side, coloursAt, g, top, height, palette(theme), alpha, write);
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
  else {
    drawLinks(sheet, activeLinks(store, scene), RESTING);
    const kept = pinnedPair(store.selection.value, scene.rowAxis, scene.columnAxis);
    if (kept) drawPair(sheet, { ...kept, head: store.lead });
  }
  const merged = (values: Float32Array[]) => (together(scene) ? [mean(values)] : values);
  const { toKeys, toQueries } = active;
  if (toKeys.length) drawBars(sheet, merged(toKeys), "key");
  if (toQueries.length) drawBars(sheet, merged(toQueries), "query");
  return some;
}

function drawLabels({ pen, store, scene, g, top, height }: Sheet, active: Active): void {
  const { queries, keys } = store.selection.value;
  const colours = palette(store.theme.value);
  const column = (axis: Axis, { list }: Positions, role: "query" | "key", lit: number[], pins: number[]) => {
    const labelOf = (place: number): Label => ({
      text: nameOn(store, axis, list[place], role),
      special: axis.special[list[place]],
      lit: lit.includes(list[place]),
      pinned: pins.includes(axis.starts[list[place]]),
      dim: false,
    });
    labels(pen, list.length, labelOf, role, g, top, height, colours);
  };
  column(scene.rowAxis, scene.rows, "query", active.queries, queries);
  column(scene.columnAxis, scene.columns, "key", active.keys, keys);
}

/** Where parts of a text begin: what the model wrote, and the turns of a conversation. */
function drawParts({ pen, store, scene, g, top }: Sheet): void {
  const rows = boundsOf(scene.rowAxis, scene.rows.list);
  const columns = boundsOf(scene.columnAxis, scene.columns.list);
  const colours = palette(store.theme.value);
  const name = partNames(store);
  divideColumns(pen, rows, columns, g, top, name, colours);
}

/** One line, over all others. */
function drawPair(
  sheet: Sheet,
  { query, key, head = -1 }: { query: number; key: number; head?: number },
): void {
  const { store, scene } = sheet;
  const h = Math.max(0, together(scene) ? 0 : scene.heads.indexOf(head));
  const value = scene.signed ? scene.seers[h].row(query)[key] : 1;
  const colour = inkOf(scene, store.theme.value)(h, value);
  const isCut = cutIn(store, scene)?.(query, key, head) ?? false;
  drawLine(sheet, query, key, { colour, alpha: 1, width: 3, dashed: Number.isNaN(value), isCut });
}

/** Lines of the active tokens, on the same scale as the whole picture. */
function activeLinks(store: Store, scene: Scene): Scene["links"] {
  const { queries, keys } = store.active.value;
  const { threshold } = store.selection.value;
  const found = { query: [] as number[], key: [] as number[], head: [] as number[], weight: [] as number[] };
  const add = (q: number, k: number, h: number, w: number) => {
    if (Math.abs(w) <= Math.max(threshold, scene.links.top * FAINT)) return;
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
  };
}
