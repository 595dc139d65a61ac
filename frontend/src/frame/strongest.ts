// Where a head looks most, resting places left out. Enters: a head. Leaves: a look, and its sentence.

import { positionOf } from "../compute/axis";
import type { Lens } from "../compute/lens";
import { restsOf } from "../compute/rest";
import type { Cell } from "../data/report";
import { type Found, isHere, type Site } from "../data/wire";
import { percent } from "../marks/scales";
import type { Store } from "../state/store";
import { quoted } from "../words/quoted";
import type { Say } from "./context";
import { tellsLook } from "./pictured";

const SEARCHED = 600; // rows that are looked through for the strongest look
const BAND = 32; // of them at a time

/** A look: tokens by their names, and its weight. */
export type Look = { query: number; from: string; to: string; value: string };

const looks = new WeakMap<Lens, Look | null>();

/** A head as it is chosen to be read, token by token, whatever is folded. */
export function unfolded(store: Store, site: Site, head: number): Lens {
  return store.lenses.of(site, site.heads.indexOf(head), { ...store.look.value, folds: undefined });
}

/** Where a head looks most, resting places left out; of one token, where that is given. */
export function strongestLook(store: Store, { site, head }: Cell, only?: number): Look | null {
  if (!isHere(site)) return null;
  const lens = unfolded(store, site, head);
  if (lens.rows.count > SEARCHED) return null;
  if (only !== undefined) return searched(lens, site, positionOf(lens.rows, only));
  const known = looks.get(lens);
  if (known !== undefined) return known;
  const found = searched(lens, site);
  looks.set(lens, found);
  return found;
}

function searched(lens: Lens, site: Site, only?: number): Look | null {
  const rests = restsOf(site, lens.rows, lens.columns);
  const best = { query: -1, key: -1, value: 0 };
  const m = lens.columns.count;
  const last = only === undefined ? lens.rows.count : only + 1;
  for (let p = only ?? 0; p < last; p += BAND) {
    const band = lens.band(p, Math.min(p + BAND, last));
    for (let i = 0; i < band.length; i++) {
      if (!(band[i] > best.value)) continue;
      const [query, key] = [p + Math.floor(i / m), i % m];
      const skipped = only === undefined && lens.rows.special[query];
      if (!skipped && !rests(query, key)) Object.assign(best, { query, key, value: band[i] });
    }
  }
  if (best.query < 0) return null;
  const [from, to] = [lens.rows.names[best.query], lens.columns.names[best.key]];
  return { query: best.query, from, to, value: best.value.toFixed(2) };
}

/** Where a head without a name looks most, in a sentence. */
export function strongestOf(store: Store, cell: Cell, tell: Say): string | null {
  if (store.look.value.worth || tellsLook(store)) return null; // what it is worth, or what is shown, is said elsewhere
  const look = strongestLook(store, cell);
  return look && tell("strongestLook", { ...look, from: quoted(look.from), to: quoted(look.to) });
}

/** Whether a token reads as a word: marks make examples that are hard to read. */
const isWord = (label: string): boolean => /[\p{L}\p{N}]/u.test(label) && !/^[[<]/.test(label);

/** The strongest of the looks that show a name best, from word to word; and, of induction, what it followed before. */
export function bestOf(
  store: Store,
  { site, head }: Cell,
  { evidence = [] }: Found,
  tell: Say,
): string | null {
  const lens = unfolded(store, site, head);
  const { rows, columns } = lens;
  const words = evidence.filter(([query, key]) => isWord(rows.labels[query]) && isWord(columns.labels[key]));
  let best = { query: -1, key: -1, value: -1 };
  for (const [query, key] of words.length ? words : evidence) {
    const value = lens.row(query)[key];
    if (value > best.value) best = { query, key, value };
  }
  if (best.query < 0) return null;
  const [from, to] = [rows.names[best.query], columns.names[best.key]];
  const said = lookFor(store, site, { query: best.query, from, to, value: best.value.toFixed(2) }, tell);
  const before = best.key && columns.labels[best.key - 1] === rows.labels[best.query];
  if (!before || best.key > best.query) return said;
  return tell("headlineAfter", { said, to: quoted(to), before: quoted(columns.names[best.key - 1]) });
}

/** Weights are shares of what a token has to give; contributions are not. */
function plainly({ look }: Store, { from, to, value }: Look): Parameters<Say> {
  const said = { from: quoted(from), to: quoted(to), value };
  return [look.value.contributions ? "headlineLook" : "headlineGives", said];
}

/** A look in words; in cross attention with the word that is said next, for that is what it looks for. */
export function lookFor(store: Store, site: Site, look: Look, tell: Say): string {
  const said = store.look.value.contributions ? look : { ...look, value: `${percent(Number(look.value))}%` };
  if (site.kind !== "cross") return tell(...plainly(store, said));
  const next = store.lenses.axis(site.query, store.look.value.level).names[look.query + 1];
  return next === undefined ? tell("headlineCrossLast", said) : tell("headlineCross", { ...said, next });
}
