// What is shown of heads that look at a picture, in words: where the chosen token looks, or the one that stands in for it.

import { type Active, activity, merged, strongest } from "../compute/active";
import type { Axis } from "../compute/axis";
import { firstLooker, placesOf } from "../marks/patches";
import { brief } from "../marks/scales";
import { shownBy } from "../state/shown";
import type { Store } from "../state/store";
import type { Say } from "./context";

/** Whether the current site looks from or at patches of a picture. */
export function isVision(store: Store): boolean {
  return [store.rows.value, store.columns.value].some((axis) => placesOf(axis) !== null);
}

/** Whether a picture is shown with what one token looks at in it. */
export const isPictured = (store: Store): boolean => store.view.pictures === true && isVision(store);

/** Whether what is said of a head is the look that is shown, not its strongest one: over a picture, and in the atlas of one. */
export const tellsLook = (store: Store): boolean =>
  isPictured(store) || (store.view.heads === "all" && isVision(store));

/** What is chosen by some heads; with nothing chosen, what the first looker looks at. */
export function shownOf(store: Store, heads: readonly number[]): Active {
  const { queries, keys } = store.active.value;
  const lenses = heads.map((head) => store.lens(head));
  if (queries.length + keys.length) return activity(lenses, queries, keys);
  return activity(lenses, [firstLooker(store.rows.value)], []);
}

/** Whether a position is a patch that is named by its place: 5,2. */
function isSpot({ side, starts, labels }: Axis, position: number): boolean {
  const token = starts[position];
  return labels[position] === `${side.row?.[token]},${side.column?.[token]}`;
}

/** A position in words: row 5, column 2; “roof”; [CLS]. */
export function spotOf(axis: Axis, position: number, tell: Say): string {
  const token = axis.starts[position];
  if (isSpot(axis, position))
    return tell("spot", { row: axis.side.row![token]!, column: axis.side.column![token]! });
  const text = axis.names[position];
  return axis.special[position] ? text : tell("spotWord", { text });
}

/** The positions of a side that are shown, strongest first, with their values. */
export function ranked(
  store: Store,
  { toKeys, toQueries }: Active,
  side: "query" | "key",
): [number, number][] {
  const { rows, columns } = shownBy(store.rows.value, store.columns.value, store.selection.value);
  const [values, mask] = side === "key" ? [toKeys, columns.mask] : [toQueries, rows.mask];
  return values.length ? strongest(values, mask, mask.length) : [];
}

/** The strongest look of what is shown, in words; of the picture too, where that is a word. */
export function lookTold(store: Store, shown: Active, tell: Say): string | null {
  const [rows, columns] = [store.rows.value, store.columns.value];
  const { queries, keys } = shown;
  const from = who(rows, queries, tell);
  const to = who(columns, keys, tell);
  if (queries.length === 1 && keys.length === 1) {
    const value = shown.toKeys.reduce((sum, row) => sum + row[keys[0]], 0) / shown.toKeys.length;
    return tell("lookPair", { from, to, value: brief(value) });
  }
  const side = queries.length ? "key" : "query";
  const all = ranked(store, shown, side);
  if (!all.length) return null;
  const axis = side === "key" ? columns : rows;
  const [[most, value]] = all;
  const said = { spot: spotOf(axis, most, tell), value: brief(value) };
  if (side === "query") return tell(keys.length > 1 ? "lookedAtMany" : "lookedAtMost", { to, ...said });
  const patch = all.find(([position]) => isSpot(axis, position));
  if (queries.length > 1) return tell("looksMany", { from, ...said });
  if (!patch || patch[0] === most) return tell("looksMost", { from, ...said });
  return tell("looksMostWord", {
    from,
    ...said,
    patch: spotOf(axis, patch[0], tell),
    part: brief(patch[1]),
  });
}

const who = (axis: Axis, positions: readonly number[], tell: Say): string =>
  positions.length === 1 ? spotOf(axis, positions[0], tell) : tell("spots", { count: positions.length });

/** What is pinned, or the first looker: what a headline is about, wherever the pointer is. */
export function pinned(store: Store, heads: readonly number[]): Active {
  const [rows, columns] = [store.rows.value, store.columns.value];
  const { queries, keys } = store.selection.value;
  const lenses = heads.map((head) => store.lens(head));
  if (!queries.length && !keys.length) return activity(lenses, [firstLooker(rows)], []);
  return activity(lenses, merged(rows, queries, null), merged(columns, keys, null));
}
