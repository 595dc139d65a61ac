// From causes to effects: scores, rows, tiles of attention, computed when somebody looks.
//
//     A[i, j] = exp(softcap(scale * q_i . k_j) + bias_ij + mask_ij - lse_i)

import type { Packed, Site } from "../data/wire";
import { products } from "./products";

const CACHE_BYTES = 128 << 20; // unpacked vectors kept; 144 heads of 512 tokens take 38 MB

/** One head of a site: where its arrays lie, and what has been computed of it. */
export interface Head {
  site: Site;
  index: number;
  queries: number;
  keys: number;
  lse: Float32Array | null; // (queries), filled as rows are computed; NaN where not yet known
}

const heads = new WeakMap<Site, Head[]>();

/** The head at `index` of a site. */
export function headOf(site: Site, index: number): Head {
  const known = heads.get(site) ?? [];
  heads.set(site, known);
  known[index] ??= {
    site,
    index,
    queries: (site.q ?? site.maps)!.shape[1],
    keys: site.k ? site.k.shape[1] : site.maps!.shape[2],
    lse: site.lse ? site.lse.part(index) : null,
  };
  return known[index];
}

/** The key-value head that serves a head: grouped-query attention shares them. */
export function group(site: Site, index: number): number {
  return site.k ? Math.floor((index * site.k.shape[0]) / site.heads.length) : index;
}

const unpacked = new Map<Packed, Map<number, Float32Array>>();
let held = 0;

/** One block of an array, unpacked once; the oldest arrays go when memory is short. */
export function block(array: Packed, index: number): Float32Array {
  let blocks = unpacked.get(array);
  if (!blocks) {
    blocks = new Map();
    unpacked.set(array, blocks);
  }
  let values = blocks.get(index);
  if (!values) {
    values = array.part(index);
    blocks.set(index, values);
    held += values.byteLength;
    if (held > CACHE_BYTES) forget(array);
  }
  return values;
}

function forget(keep: Packed): void {
  for (const array of unpacked.keys()) {
    if (held <= CACHE_BYTES / 2) return;
    if (array !== keep) drop(array);
  }
}

function drop(array: Packed): void {
  for (const values of unpacked.get(array)?.values() ?? []) held -= values.byteLength;
  unpacked.delete(array);
}

/** Let go of everything unpacked for these sites. */
export function release(sites: readonly Site[]): void {
  for (const site of sites)
    for (const array of [
      site.q,
      site.k,
      site.maps,
      site.bias,
      site.norms,
      site.dots,
      site.v,
      site.g,
      site.go,
    ])
      if (array) drop(array);
}

/** (queries, d) of a head. */
export const queryVectors = (head: Head): Float32Array => block(head.site.q!, head.index);
/** (keys, d) of the key-value head that serves a head. */
export const keyVectors = (head: Head): Float32Array => block(head.site.k!, group(head.site, head.index));
/** Dimension of q and k. */
export const width = (site: Site): number => site.q!.shape[2];

export interface Tile {
  rows: readonly [number, number];
  columns: readonly [number, number];
  stride?: number; // one position in so many of each side
  every?: number; // and one row in so many; as many as columns unless told
}

interface Queries {
  q: Float32Array;
  rows: readonly [number, number];
  every: number;
}

/** Where the query vectors of a tile lie: of a head that is only glanced at, no others are unpacked. */
function queriesOf(head: Head, { rows, stride = 1, every = stride }: Tile): Queries {
  const array = head.site.q!;
  if (every === 1 || unpacked.get(array)?.has(head.index)) return { q: queryVectors(head), rows, every };
  const q = array.rows(head.index, rows, every);
  return { q, rows: [0, q.length / width(head.site)], every: 1 };
}

/** Scores of a tile before softmax; keys that may not be seen are -Infinity. */
export function scores(head: Head, tile: Tile): Float32Array {
  const { site, index } = head;
  const { columns, stride = 1 } = tile;
  const { scale, softcap } = site;
  const { q, rows, every } = queriesOf(head, tile);
  const out = products(q, keyVectors(head), width(site), rows, columns, stride, scale, every);
  if (softcap !== null) for (let i = 0; i < out.length; i++) out[i] = Math.tanh(out[i] / softcap) * softcap;
  if (site.bias) addBias(out, site.bias, head, tile);
  if (site.mask.table) maskTable(out, site.mask.table, index, tile);
  else if (site.mask.left !== null || site.mask.right !== null) maskBand(out, site.mask, tile);
  return out;
}

/** Visit a tile: place in the output, query, key. */
function each(tile: Tile, visit: (at: number, query: number, key: number) => void): void {
  const { rows, columns, stride = 1, every = stride } = tile;
  let at = 0;
  for (let query = rows[0]; query < rows[1]; query += every)
    for (let key = columns[0]; key < columns[1]; key += stride) visit(at++, query, key);
}

function addBias(out: Float32Array, bias: Packed, head: Head, tile: Tile): void {
  const values = block(bias, bias.shape[0] > 1 ? head.index : 0);
  const relative = bias.shape.length === 2; // by key - query alone
  each(tile, (at, query, key) => {
    out[at] += values[relative ? key - query + head.queries - 1 : query * head.keys + key];
  });
}

function maskTable(out: Float32Array, table: Packed, index: number, tile: Tile): void {
  const [queries, keys] = table.shape.slice(-2);
  const seen = table.raw();
  const base = table.shape.length === 3 ? index * queries * keys : 0;
  each(tile, (at, query, key) => {
    if (!seen[base + query * keys + key]) out[at] = -Infinity;
  });
}

function maskBand(out: Float32Array, mask: Site["mask"], tile: Tile): void {
  const left = mask.left === null ? Infinity : mask.left;
  const right = mask.right === null ? Infinity : mask.right;
  each(tile, (at, query, key) => {
    if (key - query > right || query - key > left) out[at] = -Infinity;
  });
}

/** Attention of a tile. Whole rows find their own log-sum-exp and remember it. */
export function attention(head: Head, tile: Tile): Float32Array {
  if (head.site.maps) return fromMaps(head, tile);
  const { rows, columns, stride = 1, every = stride } = tile;
  const whole = columns[0] === 0 && columns[1] === head.keys && stride === 1;
  if (!whole) ensureLse(head, rows, every);
  const out = scores(head, tile);
  head.lse ??= new Float32Array(head.queries).fill(Number.NaN);
  const m = Math.ceil((columns[1] - columns[0]) / stride);
  const sink = sinkOf(head);
  for (let query = rows[0], at = 0; query < rows[1]; query += every, at += m) {
    const lse = head.lse[query];
    if (Number.isNaN(lse)) head.lse[query] = softmax(out, at, m, sink);
    else if (lse === -Infinity) out.fill(0, at, at + m);
    else for (let j = at; j < at + m; j++) out[j] = Math.exp(out[j] - lse);
  }
  return out;
}

function fromMaps(head: Head, tile: Tile): Float32Array {
  const { rows, columns, stride = 1, every = stride } = tile;
  const map = block(head.site.maps!, head.index);
  if (stride === 1 && every === 1 && columns[0] === 0 && columns[1] === head.keys)
    return map.slice(rows[0] * head.keys, rows[1] * head.keys);
  const out = new Float32Array(
    Math.ceil((rows[1] - rows[0]) / every) * Math.ceil((columns[1] - columns[0]) / stride),
  );
  each(tile, (at, query, key) => {
    out[at] = map[query * head.keys + key];
  });
  return out;
}

function sinkOf(head: Head): number {
  return head.site.sink ? head.site.sink.all()[head.index] : -Infinity;
}

/** Turn the scores of a whole row into attention; returns their log-sum-exp. A row that sees nothing is zero. */
function softmax(row: Float32Array, at: number, count: number, sink: number): number {
  const end = at + count;
  let top = sink;
  for (let j = at; j < end; j++) if (row[j] > top) top = row[j];
  if (top === -Infinity) {
    row.fill(0, at, end);
    return -Infinity;
  }
  let sum = Math.exp(sink - top);
  for (let j = at; j < end; j++) {
    const value = Math.exp(row[j] - top);
    row[j] = value;
    sum += value;
  }
  const share = 1 / sum;
  for (let j = at; j < end; j++) row[j] *= share;
  return Math.log(sum) + top;
}

/** Know the log-sum-exp of the rows of a tile. */
function ensureLse(head: Head, rows: readonly [number, number], stride: number): void {
  head.lse ??= new Float32Array(head.queries).fill(Number.NaN);
  for (let query = rows[0]; query < rows[1]; query += stride) {
    if (!Number.isNaN(head.lse[query])) continue;
    // Without stride, take the neighbours along: two rows together cost less than twice one.
    const end = stride === 1 ? Math.min(query + 64, rows[1]) : query + 1;
    attention(head, { rows: [query, end], columns: [0, head.keys] });
  }
}
