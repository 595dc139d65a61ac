// What lines are worth: how much a number of the model's output would fall if one were cut, to first order, from the
// gradient g of that number by each head's output o. Computed when somebody looks, like attention itself.
//
//     zero  A_ij g_i . v_j                mask  A_ij / (1 - A_ij) (g_i . v_j - g_i . o_i)
//
// Several keys of a row that are cut together count as one, with the sum of their weights.

import type { Cut, Site } from "../data/wire";
import { attention, block, type Head, type Tile } from "./attention";
import { products } from "./products";

export const SURE = 0.95; // weights above which hiding a key is no small change: only the exact cut tells

/** Whether the worth of a site's lines can be computed. */
export const hasWorth = (site: Site): boolean => site.v !== null && site.g !== null && site.go !== null;

/** What cutting keys together is worth, given their weight, their part A g . v and g . o of the row. */
const together = (weight: number, part: number, own: number): number =>
  weight > SURE ? Number.NaN : (part - weight * own) / (1 - weight);

/** Worth of a tile; NaN where only the exact cut tells, and where nothing is known of the site. */
export function worth(head: Head, tile: Tile, cut: Cut): Float32Array {
  const { site, index } = head;
  const { rows, columns, stride = 1, every = stride } = tile;
  const out = attention(head, tile);
  if (!hasWorth(site)) return out.fill(Number.NaN);
  const [g, v] = [block(site.g!, index), block(site.v!, shared(site, index))];
  const along = products(g, v, site.g!.shape[2], rows, columns, stride, 1, every);
  if (cut === "zero") {
    for (let i = 0; i < out.length; i++) out[i] *= along[i];
    return out;
  }
  const own = block(site.go!, index);
  const m = Math.ceil((columns[1] - columns[0]) / stride);
  for (let query = rows[0], at = 0; query < rows[1]; query += every, at += m)
    for (let i = at; i < at + m; i++) out[i] = together(out[i], out[i] * along[i], own[query]);
  return out;
}

/**
 * Worth of all lines from the tokens of one word to those of another, cut together: keys of a row as one, rows summed.
 * `rows` and `columns` have the first token of each word, and where the last one ends.
 */
export function wordWorth(head: Head, rows: Int32Array, columns: Int32Array, cut: Cut): Float32Array {
  const tokens = {
    rows: [rows[0], rows[rows.length - 1]],
    columns: [columns[0], columns[columns.length - 1]],
  } as const;
  const [weights, parts] = [attention(head, tokens), worth(head, tokens, "zero")];
  const own = head.site.go ? block(head.site.go, head.index) : new Float32Array(head.queries);
  const [n, m] = [rows.length - 1, columns.length - 1];
  const width = columns[m] - columns[0];
  const out = new Float32Array(n * m);
  for (let p = 0; p < n; p++)
    for (let query = rows[p]; query < rows[p + 1]; query++)
      for (let c = 0; c < m; c++) {
        let [weight, part] = [0, 0];
        const at = (query - rows[0]) * width - columns[0];
        for (let key = columns[c]; key < columns[c + 1]; key++) {
          weight += weights[at + key];
          part += parts[at + key];
        }
        out[p * m + c] += cut === "zero" ? part : together(weight, part, own[query]);
      }
  return out;
}

/** The value head that serves a head. */
const shared = (site: Site, index: number): number =>
  Math.floor((index * site.v!.shape[0]) / site.heads.length);

/** What a value counts for where the largest come first; unknown ones come last. */
export const sizeOf = (value: number): number => (Number.isNaN(value) ? -1 : Math.abs(value));
