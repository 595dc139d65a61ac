// The strongest connections of some heads, gathered row by row, so that nothing is ever T x T.

import type { Seer } from "./mean";

/** Lines drawn at most: more are neither legible nor quick, and the picture says when some are left out. */
export const MOST = 6000;
export const FAINT = 1 / 96; // of the strongest: fainter lines cannot be seen
const BAND = 32;

export interface Shown {
  rows: Uint8Array; // 1 where a display position of the queries is shown
  columns: Uint8Array;
}

export interface Links {
  count: number;
  query: Uint32Array;
  key: Uint32Array;
  head: Uint8Array; // index into the heads gathered
  weight: Float32Array; // or worth, of either sign; NaN, after all others, where it is not known
  top: number; // the strongest, whatever its sign
  left: boolean; // whether visible lines were left out
  received: Float32Array[]; // per head: what each key gets, summed over the rows shown
}

class Gathered {
  query = new Uint32Array(4 * MOST);
  key = new Uint32Array(4 * MOST);
  head = new Uint8Array(4 * MOST);
  weight = new Float32Array(4 * MOST);
  count = 0;
  top = 0;
  floor = 0;
  left = false;
  private readonly unknown: [query: number, key: number, head: number][] = [];
  received: Float32Array[] = [];

  add(query: number, key: number, head: number, weight: number): void {
    if (Number.isNaN(weight)) {
      if (this.unknown.length < MOST) this.unknown.push([query, key, head]);
      return;
    }
    if (this.count === this.weight.length) this.cut(MOST);
    if (Math.abs(weight) <= this.floor) return;
    this.put(query, key, head, weight);
    if (Math.abs(weight) > this.top) this.top = Math.abs(weight);
  }

  /** Add what is shown of a row of a head, and to what each key gets. */
  take(query: number, head: number, values: Float32Array, shown: Uint8Array, received: Float32Array): void {
    for (let j = 0; j < values.length; j++) {
      const weight = values[j];
      received[j] += weight || 0; // what is not known is left out
      if (shown[j] && !(Math.abs(weight) <= this.floor)) this.add(query, j, head, weight);
    }
  }

  private put(query: number, key: number, head: number, weight: number): void {
    const at = this.count++;
    this.query[at] = query;
    this.key[at] = key;
    this.head[at] = head;
    this.weight[at] = weight;
  }

  /** The strongest, then those that are not known. */
  finish(): Links {
    this.cut(MOST);
    for (const [query, key, head] of this.unknown) this.put(query, key, head, Number.NaN);
    return this;
  }

  /** Keep the strongest `most`. */
  cut(most: number): void {
    const faint = this.top * FAINT;
    let kept = 0;
    for (let i = 0; i < this.count; i++) if (Math.abs(this.weight[i]) >= faint) kept++;
    let floor = faint;
    if (kept > most) {
      const sorted = this.weight.slice(0, this.count).map(Math.abs).sort();
      floor = sorted[this.count - most];
      this.left = true;
    }
    this.floor = Math.max(this.floor, floor);
    let to = 0;
    for (let i = 0; i < this.count && to < most; i++) {
      if (Math.abs(this.weight[i]) < floor) continue;
      this.query[to] = this.query[i];
      this.key[to] = this.key[i];
      this.head[to] = this.head[i];
      this.weight[to++] = this.weight[i];
    }
    this.count = to;
  }
}

/** The links of some lenses above a threshold, strongest kept. A job: it yields between bands of rows. */
export function* gather(lenses: readonly Seer[], shown: Shown, threshold: number): Generator<void, Links> {
  const all = new Gathered();
  all.floor = threshold;
  for (let h = 0; h < lenses.length; h++) {
    const lens = lenses[h];
    const m = lens.columns.count;
    const received = new Float32Array(m);
    all.received.push(received);
    for (let p = 0; p < lens.rows.count; p += BAND) {
      const end = Math.min(p + BAND, lens.rows.count);
      const band = lens.band(p, end);
      for (let row = p; row < end; row++) {
        if (!shown.rows[row]) continue;
        all.take(row, h, band.subarray((row - p) * m, (row - p + 1) * m), shown.columns, received);
      }
      yield;
    }
  }
  return all.finish();
}
