// A whole head in brief, from one pass over its rows: a small picture of its map, and a few plain numbers. The numbers
// are those of regard.measures (docs/reference/measures.md), which writes what the tests expect.

import type { Site } from "../data/wire";
import { startsOf } from "./axis";
import type { Lens } from "./lens";

export const MEASURES = ["previous", "next", "self", "first", "special", "entropy", "distance"] as const;
export type Measure = (typeof MEASURES)[number];

export interface Digest {
  size: [number, number]; // rows, columns of the picture
  pool: number; // a pixel is the largest of pool x pool values
  sampled: number; // one row in `sampled` has been computed
  pixels: Float32Array; // of values of both signs, the one farthest from 0; NaN where a value is not known
  top: number; // how far from 0 they go
  shares?: boolean; // a pixel is the share of attention that goes from some tokens to some others, on average
  measures: Record<Measure, number>; // NaN where no row counts, and for words, contributions and worth
  chance: Record<Measure, number>; // what uniform attention over the keys a row may see would give
}

const MOST = 72; // pixels of the longer side of a small picture
const BAND = 32;
const MOST_SKETCHED = 28;
const PAIR = 2; // rows are computed two at a time

/**
 * How a digest is made: from every row; from some, for the numbers; and for the picture alone from every row, from some,
 * or from the fewest.
 */
type Care = "exact" | "sample" | "picture" | "sketch" | "glance";

/** The digest of a lens. A job: it yields between bands of rows. */
export function* digest(lens: Lens, care: Care = "exact"): Generator<void, Digest> {
  const n = lens.rows.count;
  const m = lens.columns.count;
  const pool = poolOf(lens, care);
  const size: [number, number] = [Math.ceil(n / pool), Math.ceil(m / pool)];
  if (care === "glance" && pool > PAIR) return glanced(lens, size, pool);
  const pixels = new Float32Array(size[0] * size[1]);
  const sums = new Sums(lens);
  const sampled = (care === "sample" || care === "sketch") && pool > PAIR;
  const { level, contributions, worth } = lens.look;
  const weights = level === "tokens" && !contributions && !worth;
  const counted = weights && (care === "exact" || care === "sample");
  for (let p = 0; p < n; p += sampled ? pool : BAND) {
    const end = Math.min(p + (sampled ? PAIR : BAND), n);
    const band = lens.band(p, end);
    for (let row = p; row < end; row++) {
      const values = band.subarray((row - p) * m, (row - p + 1) * m);
      pooled(values, pixels, size[1], Math.floor(row / pool), pool);
      if (counted) sums.add(row, values);
    }
    yield;
  }
  return { size, pool, sampled: sampled ? pool / PAIR : 1, pixels, top: topOf(pixels), ...sums.result() };
}

const topOf = (pixels: Float32Array): number =>
  pixels.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);

/** The first row of each row of pixels. */
function glanced(lens: Lens, size: [number, number], pool: number): Digest {
  const m = lens.columns.count;
  const pixels = new Float32Array(size[0] * size[1]);
  const rows = lens.tile([0, lens.rows.count], [0, m], 1, pool);
  for (let y = 0; y < size[0]; y++) pooled(rows.subarray(y * m, (y + 1) * m), pixels, size[1], y, pool);
  const unknown = { measures: nothing(), chance: nothing() };
  return { size, pool, sampled: pool, pixels, top: topOf(pixels), ...unknown };
}

/** The picture that a head came with, made of all its weights; its numbers are not known. */
export function pictured(site: Site, index: number): Digest {
  const pixels = site.blocks!.part(index);
  const [rows, columns] = site.blocks!.shape.slice(1);
  const top = pixels.reduce((most, value) => Math.max(most, value), 0);
  const unknown = { measures: nothing(), chance: nothing() };
  return { size: [rows, columns], pool: site.block!, sampled: 1, pixels, top, shares: true, ...unknown };
}

/** How many values a side of a pixel covers in the small picture of a lens. */
export function poolOf(lens: Lens, care: Care = "exact"): number {
  const most = care === "sketch" || care === "glance" ? MOST_SKETCHED : MOST;
  return Math.max(1, Math.ceil(Math.max(lens.rows.count, lens.columns.count) / most));
}

function pooled(values: Float32Array, pixels: Float32Array, width: number, row: number, pool: number): void {
  const at = row * width;
  if (pool === 1) {
    pixels.set(values, at);
    return;
  }
  for (let x = 0, j = 0; x < width; x++) {
    let largest = pixels[at + x];
    for (const end = Math.min(j + pool, values.length); j < end; j++)
      if (Math.abs(values[j]) > Math.abs(largest)) largest = values[j];
    pixels[at + x] = largest;
  }
}

const SMOOTH = 1e-4; // of uniform attention, mixed in before the logarithm
const MOST_CHANCE = 0.5; // a row of which half the visible keys are targets says little

/** Running sums behind the measures. */
class Sums {
  private readonly mass = zeros();
  private readonly uniform = zeros();
  private readonly rows = zeros();
  private readonly specials: number[] = [];
  private readonly own: boolean; // queries and keys are the same positions

  constructor(private readonly lens: Lens) {
    this.own = lens.site.query === lens.site.key;
    for (let p = 0; p < lens.columns.count; p++) if (lens.columns.special[p]) this.specials.push(p);
  }

  add(row: number, values: Float32Array): void {
    const seen = keysSeen(this.lens.site, this.lens.index, row, values.length);
    if (this.own) {
      this.read("previous", [row - 1], values, seen);
      this.read("next", [row + 1], values, seen);
      this.read("self", [row], values, seen);
    }
    this.read("first", [0], values, seen);
    this.read("special", this.specials, values, seen);
    if (seen.count > 1) this.spread(row, values, seen);
  }

  /** Attention to target keys, where the row has some and few enough (regard.measures.reading). */
  private read(name: Measure, targets: number[], values: Float32Array, seen: Seen): void {
    let mass = 0;
    let visible = 0;
    for (const p of targets) {
      mass += values[p] ?? 0;
      visible += Number(sees(seen, p));
    }
    const chance = visible / Math.max(1, seen.count);
    if (chance > 0 && chance < MOST_CHANCE) this.count(name, mass, chance);
  }

  private spread(row: number, values: Float32Array, seen: Seen): void {
    let sum = 0;
    for (let j = seen.first; j <= seen.last; j++) sum += values[j];
    const kept = sum > 0 ? (1 - SMOOTH) / sum : 0; // a sink's part is left out
    const share = SMOOTH / seen.count;
    let logs = 0; // sum of p log2 p
    let distance = 0;
    let far = 0;
    for (let j = seen.first; j <= seen.last; j++) {
      if (!sees(seen, j)) continue;
      const p = kept * values[j] + share;
      logs += p * log2(p);
      distance += values[j] * Math.abs(j - row);
      far += Math.abs(j - row);
    }
    this.count("entropy", -logs * Math.LN2, Math.log(seen.count));
    if (this.own) this.count("distance", distance, far / seen.count);
  }

  private count(name: Measure, mass: number, uniform: number): void {
    this.mass[name] += mass;
    this.uniform[name] += uniform;
    this.rows[name]++;
  }

  result(): Pick<Digest, "measures" | "chance"> {
    const over = (sums: Record<Measure, number>) =>
      Object.fromEntries(MEASURES.map((name) => [name, sums[name] / this.rows[name]])) as Record<
        Measure,
        number
      >;
    return { measures: over(this.mass), chance: over(this.uniform) };
  }
}

const nothing = () =>
  Object.fromEntries(MEASURES.map((name) => [name, Number.NaN])) as Record<Measure, number>;
const zeros = () => Object.fromEntries(MEASURES.map((name) => [name, 0])) as Record<Measure, number>;

/** The keys a query may see: from first to last, those with a flag where there are flags. */
interface Seen {
  count: number;
  first: number;
  last: number;
  flags: ArrayLike<number> | null;
}

const sees = ({ first, last, flags }: Seen, key: number): boolean =>
  key >= first && key <= last && (flags === null || flags[key] !== 0);

/**
 * What a key of a row would get by chance: one of so many tokens, or words, that the row may see; of a folded segment,
 * as many as it has. Null for the row of a folded segment, whose tokens see different keys, and where one is all there is.
 */
export function chanceOf(lens: Lens, query: number, key: number): number | null {
  const { rows, columns, site, index, head, look } = lens;
  if (rows.folded[query]) return null;
  const seen = keysSeen(site, index, rows.starts[query + 1] - 1, head.keys); // the last token of a word
  const starts = startsOf(columns.side, look.level);
  const count = (from: number, to: number) =>
    starts.filter((first, n) => first >= from && first < to && seesSome(seen, first, starts[n + 1])).length;
  const all = count(0, head.keys);
  const folded = columns.folded[key] && !look.averaged;
  return all > 1 ? (folded ? count(columns.starts[key], columns.starts[key + 1]) : 1) / all : null;
}

/** Whether one of the keys from one to another may be seen. */
function seesSome(seen: Seen, from: number, to: number): boolean {
  for (let key = from; key < to; key++) if (sees(seen, key)) return true;
  return false;
}

function keysSeen(site: Site, index: number, query: number, keys: number): Seen {
  const { left, right, table } = site.mask;
  if (table) {
    const [queries, width] = table.shape.slice(-2);
    const start = ((table.shape.length === 3 ? index * queries : 0) + query) * width;
    const flags = table.raw().subarray(start, start + width);
    return { count: flags.reduce((sum, seen) => sum + seen, 0), first: 0, last: keys - 1, flags };
  }
  const first = left === null ? 0 : Math.max(0, query - left);
  const last = right === null ? keys - 1 : Math.min(keys - 1, query + right);
  return { count: Math.max(0, last - first + 1), first, last, flags: null };
}

const FRACTION = 12; // bits of a float's fraction that the logarithm looks up: right to 0.0002
const LOGS = Float64Array.from({ length: 1 << FRACTION }, (_, i) =>
  Math.log2(1 + (i + 0.5) / (1 << FRACTION)),
);
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** Logarithm by table: a digest of 144 heads of 512 tokens takes 38 million of them. */
function log2(value: number): number {
  float[0] = value;
  return (bits[0] >> 23) - 127 + LOGS[(bits[0] >> (23 - FRACTION)) & ((1 << FRACTION) - 1)];
}
