// Which positions and pairs the reader has left visible: special tokens, segments.

import type { Axis } from "../compute/axis";
import type { Shown } from "../compute/links";
import type { Selection } from "./selection";

/** Display positions shown on an axis, and a mask over all of them. */
export interface Positions {
  list: number[];
  mask: Uint8Array;
  place: Int32Array; // where a position is in the list, -1 if hidden
}

/** The positions of an axis with its special tokens shown or not, of one segment or all. */
export function positions(axis: Axis, special: boolean, segment: number | null): Positions {
  const mask = new Uint8Array(axis.count);
  const place = new Int32Array(axis.count).fill(-1);
  const list: number[] = [];
  for (let p = 0; p < axis.count; p++) {
    if (!special && axis.special[p]) continue;
    if (segment !== null && axis.segment[p] !== segment) continue;
    mask[p] = 1;
    place[p] = list.length;
    list.push(p);
  }
  return { list, mask, place };
}

/** The two axes of a selection. */
export function shownBy(
  rows: Axis,
  columns: Axis,
  { special, from, to }: Selection,
): { rows: Positions; columns: Positions } {
  return { rows: positions(rows, special, from), columns: positions(columns, special, to) };
}

export const maskOf = (rows: Positions, columns: Positions): Shown => ({
  rows: rows.mask,
  columns: columns.mask,
});
