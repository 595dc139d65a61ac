// What the head view draws, gathered when the selection changes: always one consistent picture.

import { type Axis, boundsOf } from "../../compute/axis";
import { gather, type Links } from "../../compute/links";
import { mean, type Seer, seersOf } from "../../compute/mean";
import { isCausal, type Rests, restsOf } from "../../compute/rest";
import { foldedNames } from "../../frame/folds";
import { measure } from "../../marks/pen";
import { lineColour, palette, signColour, type Theme } from "../../marks/scales";
import { covers } from "../../state/edges";
import { maskOf, type Positions, shownBy } from "../../state/shown";
import type { Store } from "../../state/store";
import { listedName } from "../../words/quoted";

export interface Scene {
  edition: number; // of the page it shows
  rowAxis: Axis;
  columnAxis: Axis;
  rows: Positions;
  columns: Positions;
  heads: number[];
  seers: readonly Seer[]; // a head each, or all of them together
  links: Links;
  signed: boolean; // whether colour is the sign of a number, and not the head
  rests: Rests;
  widest: number; // width of the longest label
}

/** What a scene depends on; a new one is gathered only when this changes. */
export function sceneKey(store: Store): string {
  const { heads, special, from, to, threshold } = store.selection.value;
  const site = store.page.sites.indexOf(store.site.value);
  return JSON.stringify([store.edition, site, heads, special, from, to, threshold, store.look.value]);
}

export function* sceneOf(store: Store): Generator<void, Scene> {
  const selection = store.selection.peek();
  const rowAxis = store.rows.peek();
  const columnAxis = store.columns.peek();
  const { rows, columns } = shownBy(rowAxis, columnAxis, selection);
  const site = store.site.peek();
  const look = store.look.peek();
  const lenses = selection.heads.map((head) => store.lenses.of(site, site.heads.indexOf(head), look));
  const seers = lenses.length ? seersOf(lenses) : [];
  const links = yield* gather(seers, maskOf(rows, columns), selection.threshold);
  const rests = look.worth ? () => false : restsOf(site, rowAxis, columnAxis); // what it is worth to rest is the question
  return {
    edition: store.edition,
    rowAxis,
    columnAxis,
    rows,
    columns,
    heads: selection.heads,
    seers,
    links: { ...links, top: topOf(links, rests) },
    signed: look.worth !== undefined,
    rests,
    widest: Math.max(
      ...[rowAxis, columnAxis].map(({ names }) => widest(names.map(listedName))),
      widest(foldedNames(store)),
    ),
  };
}

const NEAR = 1 / 3; // of the strongest line of all

/** The strongest line that does not rest, which the scale of strengths ends with; of all lines where it is far weaker. */
function topOf({ query, key, weight, count, top }: Links, rests: Rests): number {
  let awake = 0;
  for (let i = 0; i < count; i++)
    if (Math.abs(weight[i]) > awake && !rests(query[i], key[i])) awake = Math.abs(weight[i]);
  return awake < NEAR * top ? top : awake;
}

/** Whether many heads are shown as one. */
export const together = ({ seers, heads }: Scene): boolean => seers.length < heads.length;

/** A colour for each lens of a scene. Hues tell a few heads apart; one head, or many together, need none. */
export const coloursOf = (scene: Scene, theme: Theme): string[] =>
  scene.seers.length === 1 ? [palette(theme).accent] : scene.heads.map((head) => lineColour(head, theme));

/** Tells which of the lines drawn are cut, by display positions and head; null where none is, or heads are one. */
export function cutIn(
  store: Store,
  scene: Scene,
): ((query: number, key: number, head: number) => boolean) | null {
  const cut = store.cut.value;
  if (!cut.length || together(scene)) return null;
  const { kind, layer } = store.site.value;
  const { rowAxis, columnAxis } = scene;
  return (query, key, head) =>
    covers(cut, { kind, layer, head, query: rowAxis.starts[query], key: columnAxis.starts[key] });
}

/** The colours of what helps, of what hurts, and of what is not known; and which of them a value has. */
export const signColours = (theme: Theme): string[] =>
  [1, -1, Number.NaN].map((one) => signColour(one, theme));
export const signOf = (value: number): number => (Number.isNaN(value) ? 2 : value < 0 ? 1 : 0);

/** The colour of a value of a lens: of its sign, or of the head. */
export function inkOf(scene: Scene, theme: Theme): (h: number, value: number) => string {
  if (scene.signed) return (_, value) => signColour(value, theme);
  const colours = coloursOf(scene, theme);
  return (h) => colours[h];
}

/** What shown keys are rested on, each once: [CLS], [SEP]; "" stands for the first token of a causal model. */
export function restingPlaces({ rests, columns, columnAxis }: Scene): string[] {
  const found = columns.list.filter((key) => rests(key, key)); // a row that sees all before it, and itself
  return [...new Set(found.map((key) => (columnAxis.border[key] ? columnAxis.labels[key] : "")))];
}

const LONGEST = 32; // letters after which a label is surely elided

function widest(names: readonly string[]): number {
  let longest = "";
  for (const label of names) if (label.length > longest.length) longest = label;
  return measure(longest.slice(0, LONGEST)) + 4;
}

/** What a causal model reads its next word from: the last row before what it wrote, and the key it looks at most there. */
export interface Focus {
  query: number;
  key: number | null; // null where it rests
  weight: number;
}

/** The word that a sentence opens on; null where no word comes before the others, or one is chosen already. */
export function focusOf(store: Store, scene: Scene): Focus | null {
  const { queries, keys } = store.active.value;
  if (scene.edition !== store.edition) return null;
  if (!isCausal(store.site.value) || scene.signed || queries.length || keys.length) return null;
  const { list } = scene.rows;
  const answer = boundsOf(scene.rowAxis, list).find(({ after }) => after === "answer");
  const query = list[(answer?.at ?? list.length) - 1];
  if (query === undefined || scene.rowAxis.folded[query] || !scene.seers.length) return null;
  const row = mean(scene.seers.map((seer) => seer.row(query)));
  const awake = scene.columns.list.filter((key) => !scene.rests(query, key));
  const most = awake.reduce((best, key) => (row[key] > row[best] ? key : best), awake[0]);
  const looks = most !== undefined && row[most] >= LOOKS;
  return { query, key: looks ? most : null, weight: looks ? row[most] : 0 };
}

const LOOKS = 0.1; // less is no look worth telling
