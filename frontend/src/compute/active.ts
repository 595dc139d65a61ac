// What the reader points at or has pinned, and the attention that leaves or reaches it.

import { type Axis, positionOf } from "./axis";
import type { Lens } from "./lens";
import { sizeOf } from "./worth";

export interface Active {
  queries: number[]; // display positions, pinned first
  keys: number[];
  toKeys: Float32Array[]; // per head: attention of the active queries, summed, over the keys
  toQueries: Float32Array[]; // per head: attention to the active keys, summed, over the queries
}

/** Pinned tokens and the hovered position, as display positions without repeats. */
export function merged(axis: Axis, pins: readonly number[], hovered: number | null): number[] {
  const all = pins.map((token) => positionOf(axis, token));
  if (hovered !== null) all.push(hovered);
  return [...new Set(all)];
}

/** The attention that leaves the active queries and reaches the active keys. */
export function activity(lenses: readonly Lens[], queries: number[], keys: number[]): Active {
  return {
    queries,
    keys,
    toKeys: queries.length ? lenses.map((lens) => total(queries.map((p) => lens.row(p)))) : [],
    toQueries: keys.length ? lenses.map((lens) => total(keys.map((p) => lens.column(p)))) : [],
  };
}

function total(rows: Float32Array[]): Float32Array {
  const sum = rows[0];
  for (const row of rows.slice(1)) for (let i = 0; i < sum.length; i++) sum[i] += row[i];
  return sum;
}

/** The mean over heads, and its largest entries among the positions shown. */
export function strongest(
  values: readonly Float32Array[],
  mask: Uint8Array,
  most: number,
): [number, number][] {
  const mean = (p: number) => values.reduce((sum, row) => sum + row[p], 0) / values.length;
  const all: [number, number][] = [];
  for (let p = 0; p < mask.length; p++) if (mask[p]) all.push([p, mean(p)]);
  return all.sort((a, b) => sizeOf(b[1]) - sizeOf(a[1])).slice(0, most);
}
