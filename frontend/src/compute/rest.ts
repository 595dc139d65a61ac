// Where attention goes that has nothing to do: special tokens and, in causal models, the first token that a row sees.

import type { Site } from "../data/wire";
import type { Axis } from "./axis";

/** Whether queries see what comes before them only: half of the map is never lit. */
export const isCausal = (site: Site): boolean =>
  site.query === site.key && site.mask.right === 0 && site.mask.table === null;

/** Whether a query that looks at a key rests there; both are display positions. */
export type Rests = (query: number, key: number) => boolean;

export function restsOf(site: Site, rows: Axis, columns: Axis): Rests {
  const { border, starts, folded } = columns;
  if (!isCausal(site)) return (_, key) => border[key];
  const { left } = site.mask;
  return (query, key) => {
    const first = left === null ? 0 : Math.max(0, rows.starts[query] - left);
    return border[key] || (!folded[key] && starts[key] <= first && first < starts[key + 1]);
  };
}

/** Pixels of a small map, each of pool x pool values, that stand for a place where heads rest: some key of it is one. */
export function restingPixels(
  rests: Rests,
  { size: [high, wide], pool }: { size: readonly [number, number]; pool: number },
  columns: number,
): Uint8Array {
  const found = new Uint8Array(high * wide);
  for (let y = 0; y < high; y++)
    for (let key = 0; key < columns; key++)
      if (rests(y * pool, key)) found[y * wide + Math.floor(key / pool)] = 1;
  return found;
}
