// One query and its keys, neuron by neuron: what a score is made of.

import type { Packed } from "../data/wire";
import { type Head, keyVectors, queryVectors, scores, width } from "./attention";
import { dot } from "./products";

/** Products q x k of a pair, one per neuron. */
export function productOf(head: Head, query: number, key: number): Float32Array {
  const d = width(head.site);
  const q = queryVectors(head);
  const k = keyVectors(head);
  return Float32Array.from({ length: d }, (_, c) => q[query * d + c] * k[key * d + c]);
}

export interface Row {
  product: number; // q . k
  score: number; // as it enters the softmax
}

/** q . k and score of a query with every key. */
export function rowOf(head: Head, query: number): Row[] {
  const d = width(head.site);
  const [q, k] = [queryVectors(head), keyVectors(head)];
  const final = scores(head, { rows: [query, query + 1], columns: [0, head.keys] });
  return Array.from(final, (score, key) => ({ product: dot(q, query * d, k, key * d, d), score }));
}

/** How many neurons make up 90 % of the sum of |q x k|. */
export function mostOf(products: Float32Array): number {
  const sizes = products.map(Math.abs).sort().reverse();
  const total = sizes.reduce((sum, x) => sum + x, 0);
  let sum = 0;
  for (let n = 0; n < sizes.length; n++) {
    sum += sizes[n];
    if (sum >= 0.9 * total) return n + 1;
  }
  return sizes.length;
}

/** (sum |x|)^2 / sum x^2: about how many neurons take part. */
export function participation(products: Float32Array): number {
  let sum = 0;
  let squares = 0;
  for (const x of products) {
    sum += Math.abs(x);
    squares += x * x;
  }
  return squares ? (sum * sum) / squares : 0;
}

/** What each neuron adds to the score of a pair above the mean of its row: it is this that draws attention to a key. */
export function riseOf(head: Head, query: number, key: number): Float32Array {
  const d = width(head.site);
  const [q, k] = [queryVectors(head), keyVectors(head)];
  const seen = scores(head, { rows: [query, query + 1], columns: [0, head.keys] });
  const keys = Array.from(seen.keys()).filter((j) => Number.isFinite(seen[j]));
  return Float32Array.from({ length: d }, (_, c) => {
    const mean = keys.reduce((sum, j) => sum + k[j * d + c], 0) / keys.length;
    return head.site.scale * q[query * d + c] * (k[key * d + c] - mean);
  });
}

/** The neurons that move a score most, either way. */
export const movers = (rise: Float32Array, count: number): number[] =>
  Array.from(rise.keys())
    .sort((a, b) => Math.abs(rise[b]) - Math.abs(rise[a]))
    .slice(0, count);

/** The mean score of the keys that a query may look at. */
export function averageOf(rows: readonly Row[]): number {
  const seen = rows.filter(({ score }) => Number.isFinite(score));
  return seen.reduce((sum, { score }) => sum + score, 0) / seen.length;
}

/** The mean of q x k over the keys that a query may look at, neuron by neuron. */
export function averageProduct(head: Head, query: number, rows: readonly Row[]): Float32Array {
  const mean = new Float32Array(width(head.site));
  const seen = [...rows.keys()].filter((key) => Number.isFinite(rows[key].score));
  for (const key of seen)
    productOf(head, query, key).forEach((x, c) => {
      mean[c] += x / seen.length;
    });
  return mean;
}

export interface Attribution {
  rows: string[]; // parts of q
  columns: string[]; // parts of k that differ between keys
  values: number[][];
  sum: number; // the score less the mean of its row
}

/** The score of a pair as sums over parts of q and k, each less its mean over the keys (METHODS §7). */
export function attribution(head: Head, query: number, key: number): Attribution | null {
  const { site, index } = head;
  if (!site.qparts || !site.kparts) return null;
  const d = width(site);
  const ofQ = partsOf(queryVectors(head), site.qparts, index, site.heads.length);
  const ofK = partsOf(keyVectors(head), site.kparts, index, site.heads.length);
  const values = ofQ.map((part) => {
    const q = part.subarray(query * d, (query + 1) * d);
    return ofK.map((k) => centred(q, k, d, head.keys, key, site.scale));
  });
  // A part of k that is the same for every key moves no weight: softmax cancels it.
  const moving = site.parts.map((_, b) => values.some((row) => row[b].moves));
  const kept = <T>(list: T[]) => list.filter((_, b) => moving[b]);
  const table = values.map((row) => kept(row.map((cell) => cell.value)));
  return {
    rows: site.parts,
    columns: kept(site.parts),
    values: table,
    sum: table.flat().reduce((sum, x) => sum + x, 0),
  };
}

/** The parts of a head's vectors: the first is what the others leave. */
function partsOf(whole: Float32Array, rest: Packed, index: number, heads: number): Float32Array[] {
  const others = Array.from({ length: rest.shape[0] / heads }, (_, p) => rest.part(p * heads + index));
  return [whole.map((x, i) => others.reduce((left, part) => left - part[i], x)), ...others];
}

function centred(q: Float32Array, k: Float32Array, d: number, keys: number, key: number, scale: number) {
  let mean = 0;
  let moves = false;
  const first = scale * dot(q, 0, k, 0, d);
  for (let j = 0; j < keys; j++) {
    const product = scale * dot(q, 0, k, j * d, d);
    mean += product / keys;
    if (Math.abs(product - first) > 1e-6 * (1 + Math.abs(first))) moves = true;
  }
  return { value: scale * dot(q, 0, k, key * d, d) - mean, moves };
}
