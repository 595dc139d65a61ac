// What a reader has chosen, and what the pointer is on.

import type { Level } from "../compute/axis";
import type { Page } from "../data/wire";

export interface Selection {
  view: string; // its id
  kind: string;
  layer: number;
  part: number;
  heads: number[]; // numbers, as in the model
  queries: number[]; // pinned token positions
  keys: number[];
  pairs: [number, number][]; // pinned query-key pairs
  contributions: boolean; // rather than weights
  relative: boolean; // as shares of their row
  worth: boolean; // rather than either
  level: Level;
  special: boolean; // whether special tokens are shown
  threshold: number;
  from: number | null; // segment of the queries shown
  to: number | null; // segment of the keys shown
  log: boolean;
  step: number; // of the walk
  form: Form; // of the head view
  folded: string[]; // segments that are shown as one position each: the name of their side and their number, "text.1"
  averaged: boolean; // what a folded segment gets is the mean over its tokens, not their sum
}

/** Heads between two columns of tokens, or over the text set as text; where nobody chose, phones get the text. */
export type Form = "auto" | "columns" | "sentence";

export interface Hover {
  query: number | null; // display positions
  key: number | null;
  head?: number; // whose line is under the pointer
}

export const NOTHING: Hover = { query: null, key: null };

/** A head by its place in the model. */
export interface Place {
  kind: string;
  layer: number;
  head: number;
}

export const samePlace = (a: Place, b: Place): boolean =>
  a.kind === b.kind && a.layer === b.layer && a.head === b.head;

/** What a page opens with. */
export function initial(page: Page): Selection {
  const { view, kind, layer, part, heads } = page.selection;
  return {
    view,
    kind,
    layer,
    part,
    heads: heads.slice(),
    queries: [],
    keys: [],
    pairs: [],
    contributions: false,
    relative: false,
    worth: page.selection.worth ?? false,
    level: "tokens",
    special: true,
    threshold: 0,
    from: null,
    to: null,
    log: false,
    step: 0,
    form: "auto",
    folded: [],
    averaged: false,
  };
}
