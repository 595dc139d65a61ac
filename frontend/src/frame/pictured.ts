// What is shown of heads that look at a picture, in words: where the chosen token looks, or the one that stands in for it.

import { type Active, activity, merged, strongest } from "../compute/active";
import type { Axis } from "../compute/axis";
import type { Site } from "../data/wire";
import type { Framed } from "../marks/framed";
import { type Box, firstLooker, placesOf } from "../marks/patches";
import { brief, hundredths } from "../marks/scales";
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

/** Names of positions in a list: row 5, column 2 of a patch. */
export const listedNames = (axis: Axis, tell: Say): string[] =>
  axis.names.map((name, position) => (isSpot(axis, position) ? spotOf(axis, position, tell) : name));

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

/** How the number of a look is written: in hundredths where it is a share of one token's attention. */
export function amountOf({ look }: Store, share = true): (value: number) => string {
  const { contributions, worth } = look.value;
  return share && !contributions && !worth ? hundredths : brief;
}

const WRITTEN = 0.05; // of one token's attention: a patch with as much has its share written on it

/** The patch that gets most, framed, and the shares of all that get much of one token's attention. */
export function framedMost(
  store: Store,
  places: ReadonlyMap<number, Box>,
  all: readonly [number, number][],
  share = true,
): Framed[] {
  const { contributions, worth } = store.look.value;
  const amount = amountOf(store, share);
  const least = share && !contributions && !worth ? WRITTEN : Number.POSITIVE_INFINITY;
  return all
    .filter(([position]) => places.has(position))
    .filter(([, value], i) => !i || value >= least)
    .map(([position, value], i) => ({ position, label: amount(value), lit: true, bare: i > 0 }));
}

/** The token that is chosen at a position of an answer, and whether a part of it was said; null where none is. */
function nextOf({ kind }: Site, axis: Axis, position: number): { next: string; begun: boolean } | null {
  const { side, starts, names, folded, count } = axis;
  const answer = side.segments.find(({ name, start }) => name === "answer" && start > 0);
  const first = answer?.start ?? (kind === "cross" ? 1 : side.text.length);
  const last = answer?.end ?? side.text.length;
  const at = position + 1;
  if (at >= count || folded[at] || starts[at] < first || starts[at] >= last) return null;
  return { next: names[at], begun: starts[position] >= first };
}

/** Where one token looks, strongest first, in words: where it writes an answer, with what is said next. */
export function lookOf(
  store: Store,
  site: Site,
  query: number,
  all: readonly [number, number][],
  tell: Say,
  head?: string, // the head, where the sentence begins with it
): string {
  const { level } = store.look.value;
  const [rows, columns] = [site.query, site.key].map((side) => store.lenses.axis(side, level));
  const amount = amountOf(store);
  const spot = ([position, value]: readonly [number, number]) => ({
    spot: spotOf(columns, position, tell),
    value: amount(value),
  });
  const said = nextOf(site, rows, query);
  const saying = said && (said.begun ? "HavingSaid" : "AboutToSay");
  const values = { place: head ?? "", from: rows.names[query], next: said?.next ?? "", ...spot(all[0]) };
  const look = saying
    ? tell(`${head === undefined ? "looks" : "head"}${saying}`, values)
    : tell("looksMost", { ...values, from: spotOf(rows, query, tell) });
  const patch = all.find(([position]) => isSpot(columns, position));
  const whole = patch && patch[0] !== all[0][0] ? tell("looksInPicture", { look, ...spot(patch) }) : look;
  if (head === undefined) return whole;
  return saying ? whole + tell("stop") : tell("headlineHere", { place: head, example: whole });
}

/** The strongest look of what is shown, in words. */
export function lookTold(store: Store, shown: Active, tell: Say, head?: string): string | null {
  const [rows, columns] = [store.rows.value, store.columns.value];
  const { queries, keys } = shown;
  const from = who(rows, queries, tell);
  const to = who(columns, keys, tell);
  const named = (example: string) =>
    head === undefined ? example : tell("headlineHere", { place: head, example });
  if (queries.length === 1 && keys.length === 1) {
    const value = shown.toKeys.reduce((sum, row) => sum + row[keys[0]], 0) / shown.toKeys.length;
    return named(tell("lookPair", { from, to, value: amountOf(store)(value) }));
  }
  const side = queries.length ? "key" : "query";
  const all = ranked(store, shown, side);
  if (!all.length) return null;
  if (queries.length === 1) return lookOf(store, store.site.value, queries[0], all, tell, head);
  const [[most, value]] = all;
  const spot = spotOf(side === "key" ? columns : rows, most, tell);
  if (side === "key") return named(tell("looksMany", { from, spot, value: amountOf(store, false)(value) }));
  const many = keys.length > 1;
  return named(
    tell(many ? "lookedAtMany" : "lookedAtMost", { to, spot, value: amountOf(store, !many)(value) }),
  );
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
