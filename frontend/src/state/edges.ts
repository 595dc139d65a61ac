// Looks: from where to where a head looks, one by one or many at once. Those that are pinned, and those that are cut.

import { type Axis, positionOf } from "../compute/axis";
import { type Place, type Selection, samePlace } from "./selection";

/** One look of a head: token positions. */
export interface Look extends Place {
  query: number;
  key: number;
}

export const sameLook = (a: Look, b: Look): boolean =>
  samePlace(a, b) && a.query === b.query && a.key === b.key;

/** Looks of a head from some tokens to some others; none named means all. */
export interface Edges extends Place {
  queries: readonly number[];
  keys: readonly number[];
}

export const sameEdges = (a: Edges, b: Edges): boolean =>
  samePlace(a, b) && String(a.queries) === String(b.queries) && String(a.keys) === String(b.keys);

/** Whether one look is among some edges. */
export const covers = (edges: readonly Edges[], look: Look): boolean =>
  edges.some(
    (one) =>
      samePlace(one, look) &&
      (!one.queries.length || one.queries.includes(look.query)) &&
      (!one.keys.length || one.keys.includes(look.key)),
  );

/** The tokens that pins stand for: of a word, all of them. */
const tokensOf = (axis: Axis, pins: readonly number[]): number[] =>
  pins
    .flatMap((pin) => {
      const at = positionOf(axis, pin);
      const first = axis.starts[at];
      return Array.from({ length: axis.starts[at + 1] - first }, (_, i) => first + i);
    })
    .sort((a, b) => a - b);

/** The looks of a head that the pins mean: a pair, a row, a column, or all from some tokens to others; null without pins. */
export function pinnedEdges(
  place: Place,
  { queries, keys }: Pick<Selection, "queries" | "keys">,
  rows: Axis,
  columns: Axis,
): Edges | null {
  if (!queries.length && !keys.length) return null;
  return { ...place, queries: tokensOf(rows, queries), keys: tokensOf(columns, keys) };
}

/** The display positions of the one pinned query and the one pinned key; null where it is not one of each. */
export function pinnedPair(
  { queries, keys }: Pick<Selection, "queries" | "keys">,
  rows: Axis,
  columns: Axis,
): { query: number; key: number } | null {
  if (queries.length !== 1 || keys.length !== 1) return null;
  return { query: positionOf(rows, queries[0]), key: positionOf(columns, keys[0]) };
}
