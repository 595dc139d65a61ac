// A query of the neuron table with everything its rows need. Enters: a head and a query. Leaves: scores, weights, neurons in order.

import { keyVectors, queryVectors, width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { averageOf, averageProduct, movers, productOf, type Row, riseOf, rowOf } from "../../compute/pairs";
import { sizeOf } from "../../marks/vectors";

/** A query expanded: everything its rows need. */
export interface Expanded {
  lens: Lens;
  query: number; // token
  order: number[];
  counting: number[]; // neurons that move the best score most
  rows: Row[];
  weights: Float32Array;
  top: number;
  best: number; // the key with the largest score
  average: number; // of the scores
  mean: Float32Array; // of what neurons add to a score
  sizes: { q: number; k: number; product: number };
}

export const CLEAR = 2; // times the size of numbers: where their colour is three quarters of the full one

/** Everything about one query; neurons are in the order of what they add to its best key above the average, or as they are. */
export function expand(lens: Lens, query: number, ordered: boolean): Expanded {
  const { head } = lens;
  const d = width(head.site);
  const weights = lens.row(query);
  const [q, k] = [queryVectors(head), keyVectors(head)];
  const rows = rowOf(head, query);
  const best = rows.reduce((most, { score }, key) => (score > rows[most].score ? key : most), 0);
  const moving = movers(riseOf(head, query, best), d);
  const seen = rows.filter(({ score }) => Number.isFinite(score)).length;
  return {
    lens,
    query,
    order: ordered ? moving : Array.from({ length: d }, (_, c) => c),
    counting: seen < 2 ? [] : moving.slice(0, LISTED),
    rows,
    weights,
    top: weights.reduce((top, x) => Math.max(top, x), 1e-12),
    best,
    average: averageOf(rows),
    mean: averageProduct(head, query, rows).map((x) => x * head.site.scale),
    sizes: sizesOf(CLEAR * sizeOf(q), CLEAR * sizeOf(k), head.site.scale),
  };
}

/** Where colours are clear; q and k share one size, and so one key, unless they are of different orders. */
function sizesOf(q: number, k: number, scale: number): Expanded["sizes"] {
  const product = (q * k * Math.abs(scale)) / CLEAR;
  const both = Math.sqrt(q * k);
  return Math.max(q, k) < ALIKE * both ? { q: both, k: both, product } : { q, k, product };
}

const ALIKE = 1.6; // times their middle

/** What each neuron adds to the score of a key. */
export const addedTo = ({ lens, query }: Expanded, key: number): Float32Array =>
  productOf(lens.head, query, key).map((x) => x * lens.head.site.scale);

/** q of the query. */
export function queryOf({ lens: { head }, query, order }: Expanded): Float32Array {
  const d = order.length;
  return queryVectors(head).subarray(query * d, (query + 1) * d);
}

/** k of a key. */
export function keyOf({ lens: { head }, order }: Expanded, key: number): Float32Array {
  const d = order.length;
  return keyVectors(head).subarray(key * d, (key + 1) * d);
}

/** The best key of a query. */
export const bestOf = (lens: Lens, query: number): number => expand(lens, query, false).best;

/** Whether a query may look at a key. */
export const sees = ({ rows }: Expanded, key: number): boolean => Number.isFinite(rows[key].score);

export const LISTED = 6; // neurons of a pair that are named

/** A neuron that counts: where it stands, and what it adds to a score beside its row's average. */
export interface Counting {
  neuron: number;
  place: number;
  adds: number;
}

/** The neurons that move a score most; none where there is no other key. */
export function countingOf(shown: Expanded, key: number): Counting[] {
  const seen = shown.rows.filter((_, other) => sees(shown, other)).length;
  if (seen < 2 || !sees(shown, key)) return [];
  const rise = riseOf(shown.lens.head, shown.query, key);
  return movers(rise, LISTED).map((neuron) => ({
    neuron,
    place: shown.order.indexOf(neuron),
    adds: rise[neuron],
  }));
}
