// The map of a head that looks at a picture: the picture, lit where the first token looks, or the chosen one.

import { activity } from "../../compute/active";
import { positionOf } from "../../compute/axis";
import { aspectOf, isStrip, pictureOf } from "../../data/picture";
import type { Cell } from "../../data/report";
import { isHere } from "../../data/wire";
import { firstLooker, litPicture, placesOf } from "../../marks/patches";
import { canvasPen } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";

const SIZE = 144; // pixels of the longer side
const LARGE = 288; // the same of a few heads, whose pictures are drawn larger
const FEW = 32;

/** What is drawn of a head that looks at a picture: the picture, and which position looks. */
export interface Glimpse {
  image: HTMLCanvasElement | null;
  query: number;
}

/** Null for heads that look at no picture, and those whose numbers are not here. */
export function glimpseOf(store: Store, { site }: Cell): Glimpse | null {
  const { level, worth } = store.look.value;
  const columns = store.lenses.axis(site.key, level);
  if (worth || !isHere(site) || columns.side.medium?.kind !== "picture" || !placesOf(columns)) return null;
  if (isStrip(columns.side)) return null; // too low for a cell; its map says more
  const rows = store.lenses.axis(site.query, level);
  const { queries } = store.selection.value;
  const query = queries.length ? positionOf(rows, queries[0]) : firstLooker(rows);
  return { image: pictureOf(columns.side), query };
}

/** The width of a map through its height: that of the picture it shows; squares where it is none. */
export function mapShape(store: Store): { aspect: number; pictured: boolean } {
  const axis = store.columns.value;
  const shown = !store.look.value.worth && axis.side.medium?.kind === "picture" && placesOf(axis) !== null;
  return { aspect: shown ? aspectOf(axis.side) : 1, pictured: shown && !isStrip(axis.side) };
}

/** Draw the picture as a head looks at it. */
export function ghost(canvas: HTMLCanvasElement, store: Store, { site, head }: Cell, seen: Glimpse): void {
  const columns = store.lenses.axis(site.key, store.look.peek().level);
  const { toKeys } = activity([store.lens(head, site)], [seen.query], []);
  const aspect = aspectOf(columns.side);
  const heads = store.page.sites.reduce((sum, one) => sum + one.heads.length, 0);
  const size = heads > FEW ? SIZE : LARGE;
  const [width, height] = aspect >= 1 ? [size, size / aspect] : [size * aspect, size];
  const at = { x: 0, y: 0, width, height };
  canvas.width = Math.round(width);
  canvas.height = Math.round(height);
  const pen = canvasPen(canvas.getContext("2d")!);
  litPicture(pen, seen.image, placesOf(columns)!, toKeys, at, palette(store.theme.peek()));
}
