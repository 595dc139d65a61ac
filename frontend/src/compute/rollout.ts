// From the last layer to the input: the product over layers of ½A + ½I (Abnar & Zuidema 2020), as in
// src/regard/trace/rollout.py. A is the mean over a layer's heads, its rows divided by their sums.

import type { Site } from "../data/wire";
import { Lens, type Lenses } from "./lens";
import { Mean } from "./mean";

const BAND = 32; // rows computed in one step

/** (T, T) of one layer, rows summing to 1; a row without any attention stays where it is. A job. */
export function* layerStep(
  lenses: Lenses,
  site: Site,
  contributions: boolean,
): Generator<void, Float32Array> {
  const look = { level: "tokens", contributions, relative: false } as const;
  const axis = lenses.axis(site.query, "tokens");
  const mean = new Mean(site.heads.map((_, index) => new Lens(site, index, axis, axis, look)));
  const n = axis.count;
  const out = new Float32Array(n * n);
  for (let p = 0; p < n; p += BAND) {
    out.set(mean.band(p, Math.min(p + BAND, n)), p * n);
    yield;
  }
  for (let p = 0; p < n; p++) divide(out.subarray(p * n, (p + 1) * n), p);
  return out;
}

function divide(row: Float32Array, own: number): void {
  let sum = 0;
  for (const value of row) sum += value;
  if (sum > 0) for (let j = 0; j < row.length; j++) row[j] /= sum;
  else row[own] = 1;
}

/** (T) what one position of the last layer gets from each token of the input, given the layers' steps, first to last. */
export function rolledOut(steps: readonly Float32Array[], position: number): Float64Array {
  const n = Math.sqrt(steps[0].length);
  let row = new Float64Array(n);
  row[position] = 1;
  for (let layer = steps.length - 1; layer >= 0; layer--) {
    const next = row.map((share) => share / 2);
    for (let i = 0; i < n; i++) {
      const half = row[i] / 2;
      if (half) for (let j = 0; j < n; j++) next[j] += half * steps[layer][i * n + j];
    }
    row = next;
  }
  return row;
}

/** (T, T) the step of a layer that spreads its attention evenly over what it may see; null where that differs by head. */
export function evenStep({ mask }: Site, n: number): Float32Array | null {
  if (mask.table) return null;
  const out = new Float32Array(n * n);
  for (let i = 0; i < n; i++) {
    const from = mask.left === null ? 0 : Math.max(0, i - mask.left);
    const to = mask.right === null ? n : Math.min(n, i + mask.right + 1);
    out.fill(1 / (to - from), i * n + from, i * n + to);
  }
  return out;
}
