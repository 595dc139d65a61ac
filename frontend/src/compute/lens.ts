// One head as the reader has chosen to see it: weights, contributions or worth, tokens or words. Rows, columns and tiles
// of that picture, computed when asked for.

import type { Cut, Page, Site } from "../data/wire";
import { attention, block, type Head, headOf, type Tile } from "./attention";
import { type Axis, axisOf, type Folds, type Level, startsOf } from "./axis";
import { wordWorth, worth } from "./worth";

export interface Look {
  level: Level;
  contributions: boolean; // rather than weights
  relative: boolean; // contributions as shares of their row
  worth?: Cut; // rather than either: what cutting lines this way takes from the output
  folds?: Readonly<Record<string, Folds>>; // segments that are one position each, by side
  averaged?: boolean; // what a folded segment gets is the mean over its tokens, not their sum
}

type Span = readonly [number, number];

const BAND = 64; // rows computed in one step of a pass over a head; of a folded segment, tokens

export class Lens {
  readonly head: Head;
  private readonly norms: Float32Array | null;
  private readonly dots: Float32Array | null;
  private sums: Float32Array | null = null;
  private readonly means = new Map<number, Float32Array>(); // rows of folded segments, over all keys

  constructor(
    readonly site: Site,
    readonly index: number,
    readonly rows: Axis,
    readonly columns: Axis,
    readonly look: Look,
  ) {
    this.head = headOf(site, index);
    const { contributions } = look;
    this.norms = contributions && site.norms ? block(site.norms, index) : null;
    this.dots = contributions && site.dots ? block(site.dots, index) : null;
  }

  /** Rows p0..p1 of the picture, all columns. */
  band(p0: number, p1: number): Float32Array {
    const out = this.absolute(p0, p1);
    if (this.divided) {
      this.sums ??= new Float32Array(this.rows.count).fill(Number.NaN);
      const m = this.columns.count;
      for (let p = p0; p < p1; p++) {
        let sum = 0;
        for (let j = 0; j < m; j++) sum += out[(p - p0) * m + j];
        this.sums[p] = sum;
        if (sum > 0) for (let j = 0; j < m; j++) out[(p - p0) * m + j] /= sum;
      }
    }
    return this.perToken(out, [0, this.columns.count]);
  }

  /** One row. */
  row(p: number): Float32Array {
    return this.band(p, p + 1);
  }

  /** One column. */
  column(p: number): Float32Array {
    const { starts } = this.columns;
    const out = this.reduced([0, this.rows.count], [p, p + 1], [starts[p], starts[p + 1]]);
    if (this.divided) {
      const sums = this.rowSums();
      for (let i = 0; i < out.length; i++) if (sums[i] > 0) out[i] /= sums[i];
    }
    return this.perToken(out, [p, p + 1]);
  }

  /** Rows and columns of a tile, one in so many; where tokens are joined and for shares, of whole rows. */
  tile(rows: Span, columns: Span, stride: number, every = stride): Float32Array {
    if (!this.joins && !this.divided) {
      const out = this.values({ rows, columns, stride, every });
      if (this.norms) {
        const m = Math.ceil((columns[1] - columns[0]) / stride);
        for (let i = 0; i < out.length; i++) out[i] *= this.norms[columns[0] + (i % m) * stride];
      }
      return out;
    }
    const picked: number[] = [];
    for (let p = rows[0]; p < rows[1]; p += every) {
      const row = this.row(p);
      for (let j = columns[0]; j < columns[1]; j += stride) picked.push(row[j]);
    }
    return Float32Array.from(picked);
  }

  /** Whether a position may be more than one token. */
  private get joins(): boolean {
    return this.look.level === "words" || this.look.folds !== undefined;
  }

  private get divided(): boolean {
    return this.look.relative && this.norms !== null;
  }

  private absolute(p0: number, p1: number): Float32Array {
    return this.reduced([p0, p1], [0, this.columns.count], [0, this.head.keys]);
  }

  private rowSums(): Float32Array {
    for (let p = 0; p < this.rows.count; p += BAND)
      if (!this.sums || Number.isNaN(this.sums[p])) this.band(p, Math.min(p + BAND, this.rows.count));
    return this.sums!;
  }

  /** Of tokens, before anything is joined. */
  private values(tile: Tile): Float32Array {
    const cut = this.look.worth;
    return cut ? worth(this.head, tile, cut) : attention(this.head, tile);
  }

  /** Token rows averaged over the words of the rows, then token columns joined into the words of the columns. */
  private reduced(rows: Span, columns: Span, keys: Span): Float32Array {
    const { starts } = this.rows;
    const tokens = [starts[rows[0]], starts[rows[1]]] as const;
    const cut = this.look.worth;
    if (cut && this.joins)
      return wordWorth(this.head, ends(starts, rows), ends(this.columns.starts, columns), cut);
    if (!this.joins) return this.scaled(this.values({ rows: tokens, columns: keys }), keys);
    const m = keys[1] - keys[0];
    const mean = new Float32Array((rows[1] - rows[0]) * m);
    for (let p = rows[0]; p < rows[1]; ) {
      const end = this.rows.folded[p] ? p + 1 : this.nextFold(p, rows[1]);
      const part = this.rows.folded[p] ? this.foldedMean(p, keys) : this.averaged(p, end, keys);
      mean.set(part, (p - rows[0]) * m);
      p = end;
    }
    return this.joined(mean, m, columns, keys[0]);
  }

  /** The next folded position of the rows, or the end. */
  private nextFold(p: number, end: number): number {
    const found = this.rows.folded.indexOf(true, p);
    return found < 0 ? end : Math.min(end, found);
  }

  /** Rows p0..p1, each the mean over its tokens. */
  private averaged(p0: number, p1: number, keys: Span): Float32Array {
    const { starts } = this.rows;
    const alpha = this.values({ rows: [starts[p0], starts[p1]], columns: keys });
    return averaged(alpha, keys[1] - keys[0], starts, [p0, p1]);
  }

  /** The row of a folded segment: the mean over its tokens, of which some are computed at a time. */
  private foldedMean(p: number, keys: Span): Float32Array {
    let mean = this.means.get(p);
    if (!mean) {
      const m = this.head.keys;
      const [from, to] = [this.rows.starts[p], this.rows.starts[p + 1]];
      const sum = new Float64Array(m);
      for (let row = from; row < to; row += BAND) {
        const values = this.values({ rows: [row, Math.min(row + BAND, to)], columns: [0, m] });
        for (let i = 0; i < values.length; i++) sum[i % m] += values[i];
      }
      mean = Float32Array.from(sum, (value) => value / (to - from));
      this.means.set(p, mean);
    }
    return mean.subarray(keys[0], keys[1]);
  }

  /** Where a folded segment is to be shown by the mean over its tokens, their sum is divided by their number. */
  private perToken(out: Float32Array, [from, to]: Span): Float32Array {
    const { folded, starts } = this.columns;
    if (!this.look.averaged || this.look.worth) return out;
    const width = to - from;
    for (let p = from; p < to; p++)
      if (folded[p]) for (let i = p - from; i < out.length; i += width) out[i] /= starts[p + 1] - starts[p];
    return out;
  }

  private scaled(alpha: Float32Array, keys: Span): Float32Array {
    if (!this.norms) return alpha;
    const m = keys[1] - keys[0];
    for (let i = 0; i < alpha.length; i++) alpha[i] *= this.norms[keys[0] + (i % m)];
    return alpha;
  }

  /** Sum of the weights of a word's tokens, or the norm of the sum of their contributions; of a segment, the sum of norms. */
  private joined(alpha: Float32Array, m: number, columns: Span, first: number): Float32Array {
    const { starts } = this.columns;
    const n = alpha.length / m;
    const width = columns[1] - columns[0];
    const out = new Float32Array(n * width);
    const pair = this.norms ? pairStarts(this.columns) : null;
    for (let p = columns[0]; p < columns[1]; p++) {
      const from = starts[p];
      const size = starts[p + 1] - from;
      const whole = this.columns.folded[p] ? this.norms?.subarray(from, from + size) : undefined;
      for (let i = 0; i < n; i++) {
        const at = i * m + from - first;
        out[i * width + p - columns[0]] =
          pair && !whole ? this.length(alpha, at, from, size, pair[p]) : sumOf(alpha, at, size, whole);
      }
    }
    return out;
  }

  /** ||sum_j alpha_j f(x_j)|| over one word, from the norms and the products of its tokens. */
  private length(alpha: Float32Array, at: number, from: number, size: number, pair: number): number {
    const norms = this.norms!;
    let square = 0;
    for (let a = 0; a < size; a++) {
      square += (alpha[at + a] * norms[from + a]) ** 2;
      for (let b = a + 1; b < size; b++) {
        // Without the products, vectors of one word count as parallel: an upper bound.
        const product = this.dots ? this.dots[pair++] : norms[from + a] * norms[from + b];
        square += 2 * alpha[at + a] * alpha[at + b] * product;
      }
    }
    return Math.sqrt(Math.max(0, square));
  }
}

/** Where some positions begin, and where the last of them ends. */
const ends = (starts: Int32Array, [from, to]: Span): Int32Array => starts.subarray(from, to + 1);

function averaged(alpha: Float32Array, m: number, starts: Int32Array, rows: Span): Float32Array {
  const out = new Float32Array((rows[1] - rows[0]) * m);
  const first = starts[rows[0]];
  for (let p = rows[0]; p < rows[1]; p++) {
    const size = starts[p + 1] - starts[p];
    const at = (p - rows[0]) * m;
    for (let r = starts[p] - first; r < starts[p + 1] - first; r++)
      for (let j = 0; j < m; j++) out[at + j] += alpha[r * m + j] / size;
  }
  return out;
}

function sumOf(values: Float32Array, at: number, count: number, factors?: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += factors ? values[at + i] * factors[i] : values[at + i];
  return sum;
}

/** Where the token pairs of each word begin in `dots`: words in order, pairs (j, j') with j < j'. */
function pairStarts({ side, level, starts }: Axis): Int32Array {
  const words = startsOf(side, level);
  const before = new Map<number, number>(); // pairs before a token with which a word begins
  let pairs = 0;
  for (let p = 0; p + 1 < words.length; p++) {
    const size = words[p + 1] - words[p];
    before.set(words[p], pairs);
    pairs += (size * (size - 1)) / 2;
  }
  return starts.map((token) => before.get(token) ?? pairs);
}

/** Lenses of one page, made once for each look. */
export class Lenses {
  private readonly made = new Map<string, Lens>();
  private readonly axes = new Map<string, Axis>();

  constructor(private readonly page: Page) {}

  axis(side: string, level: Level, folds: Look["folds"] = undefined): Axis {
    const own = folds?.[side];
    const key = `${level} ${side} ${own ? JSON.stringify(own) : ""}`;
    let axis = this.axes.get(key);
    if (!axis) {
      axis = axisOf(this.page.sides.get(side)!, level, own);
      this.axes.set(key, axis);
    }
    return axis;
  }

  of(site: Site, index: number, look: Look): Lens {
    const number = this.page.sites.indexOf(site);
    const folds = look.folds ? `${JSON.stringify(look.folds)} ${look.averaged}` : "";
    const key = `${number} ${index} ${look.level} ${look.contributions} ${look.relative} ${look.worth} ${folds}`;
    let lens = this.made.get(key);
    if (!lens) {
      const axis = (side: string) => this.axis(side, look.level, look.folds);
      lens = new Lens(site, index, axis(site.query), axis(site.key), look);
      this.made.set(key, lens);
    }
    return lens;
  }
}
