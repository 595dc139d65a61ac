// What the walk reads: one layer of a model as arrays by name (regard/transformer/walk.py names them).

import { visible } from "../compute/axis";
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
  groups: number; // heads of keys and values, where several heads of queries share one; 0: each has its own
  normed: "layer" | "rms";
  window: number | null; // tokens that a decoder sees, if not all before it
  divided: boolean; // whether scores are divided by √d
  candidates: number[]; // ids of the words whose columns of the vocabulary's matrix are here
}

export class WalkData {
  private readonly known = new Map<string, Matrix>();

  constructor(
    readonly header: WalkHeader,
    private readonly arrays: Record<string, Packed>,
  ) {}

  /** Whether the model has an encoder and a decoder, and the walk goes through both. */
  get translates(): boolean {
    return this.has("encoder.in") && this.has("decoder.in");
  }

  /** The stack that reads the text: an encoder, or a decoder that is alone. */
  get reader(): "encoder" | "decoder" {
    return this.has("encoder.in") ? "encoder" : "decoder";
  }

  /** Whether positions reach the scores as a bias by distance: T5. */
  get relative(): boolean {
    return this.has("encoder.bias");
  }

  /** Whether q and k are turned by their positions. */
  get rotary(): boolean {
    return this.has("decoder.cos");
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

  /** The same where a model may lack it: not all maps have a bias, not all norms a shift. */
  find(name: string): Matrix | undefined {
    return this.has(name) ? this.get(name) : undefined;
  }

  /** A word of the vocabulary; spaces and line breaks alone are made visible. */
  word(id: number): string {
    const text = this.header.vocabulary[id] ?? String(id);
    return text.trim() ? text : visible(text);
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
