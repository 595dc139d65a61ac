// A map of any size as square tiles, computed when they come into sight: a quick sample first, then every value.

import type { Lens } from "./lens";

export const TILE = 128; // pixels of a tile
const BAND = 32; // rows computed in one step
const KEPT = 600; // tiles remembered

export interface Tile {
  level: number; // a pixel is the largest of 2**level x 2**level values, of either sign
  rows: [number, number];
  columns: [number, number];
  size: [number, number]; // pixels: rows, columns
  values: Float32Array;
  exact: boolean; // false while the values are samples
  changed: number; // counts up when the values change
}

export class Tiles {
  private readonly made = new Map<string, Tile>();
  /** How far from 0 the values seen so far go: where the colours end. */
  top = 0;

  constructor(
    readonly lens: Lens,
    private readonly shown: { rows: Uint8Array; columns: Uint8Array },
  ) {}

  /** The tile at a place, if it was made before. */
  known(level: number, y: number, x: number): Tile | undefined {
    const key = `${level} ${y} ${x}`;
    const tile = this.made.get(key);
    if (tile) {
      this.made.delete(key); // to the end: the most recently used
      this.made.set(key, tile);
    }
    return tile;
  }

  /** Make the tile at a place, as a sample. */
  sample(level: number, y: number, x: number): Tile {
    const key = `${level} ${y} ${x}`;
    const tile = this.sampled(level, y, x);
    this.made.set(key, tile);
    if (this.made.size > KEPT) this.made.delete(this.made.keys().next().value!);
    return tile;
  }

  private sampled(level: number, y: number, x: number): Tile {
    const pool = 2 ** level;
    const span = TILE * pool;
    const range = (start: number, count: number): [number, number] => [start, Math.min(start + span, count)];
    const rows = range(y * span, this.lens.rows.count);
    const columns = range(x * span, this.lens.columns.count);
    const values = this.lens.tile(rows, columns, pool);
    const size: [number, number] = [
      Math.ceil((rows[1] - rows[0]) / pool),
      Math.ceil((columns[1] - columns[0]) / pool),
    ];
    const tile = { level, rows, columns, size, values, exact: pool === 1, changed: 0 };
    for (let i = 0; i < size[0]; i++)
      for (let j = 0; j < size[1]; j++) {
        const at = i * size[1] + j;
        if (!this.shown.rows[rows[0] + i * pool] || !this.shown.columns[columns[0] + j * pool])
          values[at] = 0;
        else if (Math.abs(values[at]) > this.top) this.top = Math.abs(values[at]);
      }
    return tile;
  }

  /** Compute every value of a sampled tile. A job: it yields between bands of rows. */
  *refine(tile: Tile): Generator<void, void> {
    if (tile.exact) return;
    const pool = 2 ** tile.level;
    const values = new Float32Array(tile.values.length);
    for (let row = tile.rows[0]; row < tile.rows[1]; row += BAND) {
      const end = Math.min(row + BAND, tile.rows[1]);
      this.pool(tile, this.lens.tile([row, end], tile.columns, 1), row, end, pool, values);
      yield;
    }
    tile.values = values;
    tile.exact = true;
    tile.changed++;
    for (const value of values) if (Math.abs(value) > this.top) this.top = Math.abs(value);
  }

  private pool(
    tile: Tile,
    band: Float32Array,
    from: number,
    to: number,
    pool: number,
    values: Float32Array,
  ): void {
    const m = tile.columns[1] - tile.columns[0];
    for (let row = from; row < to; row++) {
      if (!this.shown.rows[row]) continue;
      const at = Math.floor((row - tile.rows[0]) / pool) * tile.size[1];
      for (let j = 0; j < m; j++) {
        const value = band[(row - from) * m + j];
        const cell = at + Math.floor(j / pool);
        if (Math.abs(value) > Math.abs(values[cell]) && this.shown.columns[tile.columns[0] + j])
          values[cell] = value;
      }
    }
  }
}
