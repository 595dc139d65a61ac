// Two heads side by side and what is between them: A, B and A − B, as numbers for small pictures.

import type { Lens } from "../../compute/lens";
import { decimals, figure } from "../../marks/scales";

const MOST = 512; // pixels of the longer side: longer maps are pooled
const BAND = 32;
export const SAME = 1e-4; // where no cell differs by more, it is the rounding of floats

export interface Picture {
  size: [number, number]; // rows, columns
  pool: number; // a pixel stands for pool x pool values
  values: Float32Array;
  top: number; // the largest size of a value
}

export interface Cell {
  query: number;
  key: number;
  a: number;
  b: number;
}

export interface Difference {
  a: Picture;
  b: Picture;
  both: Picture | null; // A − B; null where the maps have different sizes
  cells: Cell[]; // where they differ most
  distance: number | null; // mean over rows of half the sum of |A − B|: the share of attention that went elsewhere
}

/** Whether two heads can be subtracted, cell by cell. */
export const fits = (a: Lens, b: Lens): boolean =>
  a.rows.count === b.rows.count && a.columns.count === b.columns.count;

/** Positions at which the tokens of two heads of the same size differ, rows and columns. */
export function otherWords(
  a: Lens,
  b: Lens,
): { rows: boolean[]; columns: boolean[]; count: number; all: number } {
  const differ = (x: readonly string[], y: readonly string[]) => x.map((text, i) => text !== y[i]);
  const rows = differ(a.rows.labels, b.rows.labels);
  const columns = differ(a.columns.labels, b.columns.labels);
  return { rows, columns, count: rows.filter(Boolean).length, all: rows.length };
}

/** The pictures of two heads. A job: it yields between bands of rows. */
export function* compared(a: Lens, b: Lens): Generator<void, Difference> {
  if (!fits(a, b)) return { a: yield* alone(a), b: yield* alone(b), both: null, cells: [], distance: null };
  const [n, m] = [a.rows.count, a.columns.count];
  const pictures = [blank(n, m), blank(n, m), blank(n, m)];
  const cells: Cell[] = [];
  let total = 0;
  for (let p = 0; p < n; p += BAND) {
    const end = Math.min(p + BAND, n);
    const [one, two] = [a.band(p, end), b.band(p, end)];
    const less = one.map((value, i) => value - two[i]);
    for (const [i, value] of less.entries()) {
      total += Math.abs(value);
      list(cells, { query: p + Math.floor(i / m), key: i % m, a: one[i], b: two[i] });
    }
    [one, two, less].forEach((band, i) => {
      add(pictures[i], band, p, m);
    });
    yield;
  }
  const [first, second, both] = pictures;
  if (both.top < SAME) return { a: first, b: second, both: blank(n, m), cells: [], distance: 0 };
  return { a: first, b: second, both, cells, distance: total / 2 / n };
}

const LISTED = 6;
const gap = ({ a, b }: Cell): number => Math.abs(a - b);

/** Keep the cells that differ most, the largest first. */
function list(cells: Cell[], next: Cell): void {
  if (cells.length === LISTED && gap(next) <= gap(cells[LISTED - 1])) return;
  const at = cells.findIndex((cell) => gap(cell) < gap(next));
  cells.splice(at < 0 ? cells.length : at, 0, next);
  if (cells.length > LISTED) cells.pop();
}

/** How much attention went elsewhere between two heads of the same size. */
export function* distance(a: Lens, b: Lens): Generator<void, number> {
  let total = 0;
  let most = 0;
  for (let p = 0; p < a.rows.count; p += BAND) {
    const end = Math.min(p + BAND, a.rows.count);
    const [one, two] = [a.band(p, end), b.band(p, end)];
    for (let i = 0; i < one.length; i++) {
      const away = Math.abs(one[i] - two[i]);
      total += away;
      if (away > most) most = away;
    }
    yield;
  }
  return most < SAME ? 0 : total / 2 / a.rows.count;
}

function* alone(lens: Lens): Generator<void, Picture> {
  const picture = blank(lens.rows.count, lens.columns.count);
  for (let p = 0; p < lens.rows.count; p += BAND) {
    add(picture, lens.band(p, Math.min(p + BAND, lens.rows.count)), p, lens.columns.count);
    yield;
  }
  return picture;
}

function blank(rows: number, columns: number): Picture {
  const pool = Math.max(1, Math.ceil(Math.max(rows, columns) / MOST));
  const size: [number, number] = [Math.ceil(rows / pool), Math.ceil(columns / pool)];
  return { size, pool, values: new Float32Array(size[0] * size[1]), top: 0 };
}

/** Put rows from `first` on into a picture; a pixel shows the value of the largest size it stands for. */
function add(picture: Picture, band: Float32Array, first: number, m: number): void {
  const { pool, size, values } = picture;
  for (let i = 0; i < band.length; i++) {
    const row = first + Math.floor(i / m);
    const at = Math.floor(row / pool) * size[1] + Math.floor((i % m) / pool);
    const large = Math.abs(band[i]);
    if (large > Math.abs(values[at])) values[at] = band[i];
    if (large > picture.top) picture.top = large;
  }
}

/** A share of attention in hundredths: 24%, 4.6%. */
export const shareText = (share: number): string => `${figure(100 * share, 2)}%`;

/** A, B and what is between them with so many decimals that two digits of the difference show: it agrees with the others. */
export function besides(a: number, b: number, top: number): [a: string, b: string, difference: string] {
  const places = top > 0 ? Math.max(2, Math.min(6, 2 - Math.floor(Math.log10(top)))) : 2;
  const [one, two] = [a.toFixed(places), b.toFixed(places)];
  const between = decimals(Number(one) - Number(two), places);
  return [one, two, Number(between) > 0 ? `+${between}` : between];
}
