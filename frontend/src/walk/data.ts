// What the walk reads: one layer of a model as arrays by name (regard/transformer/walk.py names them).

import type { Packed } from "../data/wire";
import { type Matrix, matrix } from "./maths";

export interface WalkHeader {
  layer: number;
  heads: number;
  norm: "pre" | "post";
  activation: string;
  epsilon: number;
  order: number[];
  ids: number[];
  targets: number[];
  vocabulary: string[];
}

export class WalkData {
  private readonly known = new Map<string, Matrix>();

  constructor(
    readonly header: WalkHeader,
    private readonly arrays: Record<string, Packed>,
  ) {}

  /** Whether the model has a decoder, and the walk goes through it. */
  get decodes(): boolean {
    return this.has("decoder.in");
  }

  has(name: string): boolean {
    return name in this.arrays;
  }

  /** An array as a matrix; a vector is one row. */
  get(name: string): Matrix {
    let found = this.known.get(name);
    if (!found) {
      const packed = this.arrays[name];
      const columns = packed.shape[packed.shape.length - 1];
      const values = packed.all();
      found = matrix(values.length / columns, columns, values);
      this.known.set(name, found);
    }
    return found;
  }

  /** Block `index` of an array with three axes: the state after a layer. */
  block(name: string, index: number): Matrix {
    const [, rows, columns] = this.arrays[name].shape;
    return matrix(rows, columns, this.arrays[name].part(index));
  }

  /** How many blocks such an array has. */
  blocks(name: string): number {
    return this.arrays[name].shape[0];
  }
}
