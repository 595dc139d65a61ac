// Equations of matrices, as the walk shows them.

import type { Matrix } from "./maths";

/** A matrix on the page. Weights run from 0 up; other numbers have a sign. */
export interface Shown {
  name: string;
  label?: string; // the name in the reader's language, where it has one
  matrix: Matrix;
  rows?: readonly string[];
  columns?: readonly string[];
  weights?: boolean;
  map?: boolean; // queries by keys: a cell is a pair of tokens
}

/** Which cells a cell comes from: its row and column, the same place, or its row. */
export type Rule = "product" | "same" | "row";

/** Matrices and the signs between them; the last matrix is the result. */
export interface Equation {
  rule: Rule;
  items: (Shown | string)[];
}

export const shown = (name: string, matrix: Matrix, more: Partial<Shown> = {}): Shown => ({
  name,
  matrix,
  ...more,
});

/** A vector as a matrix of one row. */
export const columnsOf = (m: Matrix): Matrix => ({ rows: 1, columns: m.columns, values: m.values });
