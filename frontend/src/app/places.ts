// The token of a text that the model is asked about.

import type { Store } from "../state/store";
import type { Ask } from "./address";

const PLACED = ["next token", "masked token", "token labels"]; // what is said at one place of the text

/** The list of tokens in which the model says something. */
const speaking = (store: Store, writes: boolean): string => (writes ? "decoder" : store.page.sites[0].query);

/** The token of which the model is asked what it says: pointed at, pinned, or null for the last one. */
export function spokenAt(store: Store, writes: boolean): number | null {
  const { view, site, hover, selection, rows, columns } = store;
  const said = speaking(store, writes);
  if (view.heads === "all" || view.wide) return null;
  const { query, key } = hover.value;
  const { queries, keys } = selection.value;
  const on = { query: site.value.query === said, key: site.value.key === said };
  if (on.query && query !== null) return rows.value.starts[query + 1] - 1;
  if (on.key && key !== null) return columns.value.starts[key + 1] - 1;
  if (on.query && queries.length) return queries[queries.length - 1];
  return on.key && keys.length ? keys[keys.length - 1] : null;
}

/** The token at which a cut is judged: that of worth, or the pinned one; null leaves it to the model. */
export function judgedAt(
  { cut, judged }: Pick<Ask, "cut" | "judged">,
  store: Store | null,
  about: string | undefined,
  writes: boolean,
): number | null {
  if (judged.token !== null || judged.position !== null) return judged.position;
  if (!cut.length || !store || !about || !PLACED.includes(about)) return null;
  const { queries } = store.selection.value;
  if (queries.length && store.site.value.query === speaking(store, writes))
    return queries[queries.length - 1];
  // A model that fills in one word needs to be told which.
  return about === "next token" ? null : (cut.at(-1)!.queries.at(-1) ?? null);
}
