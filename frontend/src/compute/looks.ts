// Where a token is looked at: the places of a text that match, and the query that looks at one of them most.

import type { Lens } from "./lens";

/** Positions of columns whose text contains what is searched for, whatever its case. */
export function matching(lens: Lens, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  return lens.columns.names.flatMap((name, p) => (name.toLowerCase().includes(wanted) ? [p] : []));
}

export interface LookedAt {
  query: number;
  key: number;
  value: number;
}

/** The query, other than the token itself, that looks at a key most; null where none may see it. */
export function strongestLook(lens: Lens, key: number): LookedAt | null {
  const same = lens.site.query === lens.site.key;
  let best: LookedAt | null = null;
  lens.column(key).forEach((value, query) => {
    if (!(same && query === key) && Math.abs(value) > Math.abs(best?.value ?? 0))
      best = { query, key, value };
  });
  return best;
}
