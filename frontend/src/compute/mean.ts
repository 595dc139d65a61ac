// Several heads as one: their mean. More than a few hues on one picture cannot be told apart.

import type { Axis } from "./axis";
import type { Lens } from "./lens";

/** What pictures of lines need of a head, or of several together. */
export interface Seer {
  rows: Axis;
  columns: Axis;
  band(p0: number, p1: number): Float32Array;
  row(p: number): Float32Array;
  column(p: number): Float32Array;
}

export const FEW = 4; // heads that have a hue each

export class Mean implements Seer {
  readonly rows: Axis;
  readonly columns: Axis;

  constructor(readonly lenses: readonly Lens[]) {
    this.rows = lenses[0].rows;
    this.columns = lenses[0].columns;
  }

  band(p0: number, p1: number): Float32Array {
    return this.over((lens) => lens.band(p0, p1));
  }

  row(p: number): Float32Array {
    return this.over((lens) => lens.row(p));
  }

  column(p: number): Float32Array {
    return this.over((lens) => lens.column(p));
  }

  /** What a lens gives is new each time: the first holds the sum. */
  private over(values: (lens: Lens) => Float32Array): Float32Array {
    const [first, ...others] = this.lenses;
    const out = values(first);
    for (const lens of others) add(out, values(lens));
    return divide(out, this.lenses.length);
  }
}

function add(to: Float32Array, values: Float32Array): void {
  for (let i = 0; i < to.length; i++) to[i] += values[i];
}

function divide(values: Float32Array, by: number): Float32Array {
  for (let i = 0; i < values.length; i++) values[i] /= by;
  return values;
}

/** The mean of some arrays; the arrays stay as they are. */
export function mean(arrays: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(arrays[0].length);
  for (const values of arrays) add(out, values);
  return divide(out, arrays.length);
}

/** The lenses of a picture: one for each of a few heads, one for many together. */
export const seersOf = (lenses: readonly Lens[]): readonly Seer[] =>
  lenses.length > FEW ? [new Mean(lenses)] : lenses;
