// Matrices, and the few operations a Transformer is made of. Row-major float32, as torch computes.

export interface Matrix {
  rows: number;
  columns: number;
  values: Float32Array;
}

export const matrix = (
  rows: number,
  columns: number,
  values: Float32Array = new Float32Array(rows * columns),
): Matrix => ({
  rows,
  columns,
  values,
});

/** a @ b, plus a bias to every row where there is one. */
export function product(a: Matrix, b: Matrix, bias?: Matrix): Matrix {
  const made = matrix(a.rows, b.columns);
  for (let i = 0; i < a.rows; i++) {
    const line = new Float64Array(b.columns);
    for (let k = 0; k < a.columns; k++) {
      const factor = a.values[i * a.columns + k];
      for (let j = 0; j < b.columns; j++) line[j] += factor * b.values[k * b.columns + j];
    }
    for (let j = 0; j < b.columns; j++)
      made.values[i * b.columns + j] = line[j] + (bias ? bias.values[j] : 0);
  }
  return made;
}

export function transposed(a: Matrix): Matrix {
  const made = matrix(a.columns, a.rows);
  for (let i = 0; i < a.rows; i++)
    for (let j = 0; j < a.columns; j++) made.values[j * a.rows + i] = a.values[i * a.columns + j];
  return made;
}

/** Rows in another order. */
export function reordered(a: Matrix, order: readonly number[]): Matrix {
  const made = matrix(a.rows, a.columns);
  order.forEach((from, to) => {
    made.values.set(a.values.subarray(from * a.columns, (from + 1) * a.columns), to * a.columns);
  });
  return made;
}

/** 0, 1, 2 …: the numbers of so many heads. */
export const headsOf = (count: number): number[] => Array.from({ length: count }, (_, h) => h);

/** The first rows. */
export const headRows = (a: Matrix, count: number): Matrix =>
  matrix(count, a.columns, a.values.subarray(0, count * a.columns));

/** Some columns, in this order. */
export function picked(a: Matrix, columns: readonly number[]): Matrix {
  const made = matrix(a.rows, columns.length);
  for (let i = 0; i < a.rows; i++)
    columns.forEach((from, to) => {
      made.values[i * columns.length + to] = a.values[i * a.columns + from];
    });
  return made;
}

/** Columns `from` to `to`: the part of one head. */
export function slice(a: Matrix, from: number, to: number): Matrix {
  const made = matrix(a.rows, to - from);
  for (let i = 0; i < a.rows; i++)
    made.values.set(a.values.subarray(i * a.columns + from, i * a.columns + to), i * (to - from));
  return made;
}

/** Matrices side by side: the heads' results joined. */
export function joined(parts: readonly Matrix[]): Matrix {
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const made = matrix(parts[0].rows, columns);
  let at = 0;
  for (const part of parts) {
    for (let i = 0; i < part.rows; i++)
      made.values.set(part.values.subarray(i * part.columns, (i + 1) * part.columns), i * columns + at);
    at += part.columns;
  }
  return made;
}

export const mapped = (a: Matrix, change: (value: number) => number): Matrix =>
  matrix(a.rows, a.columns, a.values.map(change));

/** Numbers of the same place multiplied. */
export const matched = (a: Matrix, b: Matrix): Matrix =>
  matrix(
    a.rows,
    a.columns,
    a.values.map((value, i) => value * b.values[i]),
  );

export const sum = (a: Matrix, b: Matrix): Matrix =>
  matrix(
    a.rows,
    a.columns,
    a.values.map((value, i) => value + b.values[i]),
  );

/** Minus infinity above the diagonal: no position sees a later one, nor one further back than a window. */
export const causal = (a: Matrix, window: number | null = null): Matrix =>
  matrix(
    a.rows,
    a.columns,
    a.values.map((value, i) => {
      const back = Math.floor(i / a.columns) - (i % a.columns);
      return back < 0 || (window !== null && back >= window) ? Number.NEGATIVE_INFINITY : value;
    }),
  );

/** Number i and number i + d/2 of each row are the two ends of an arrow that is turned: cos and sin of its angle. */
export function rotated(a: Matrix, cos: Matrix, sin: Matrix): Matrix {
  const half = a.columns / 2;
  const made = matrix(a.rows, a.columns);
  for (let i = 0; i < a.rows; i++)
    for (let j = 0; j < a.columns; j++) {
      const at = i * a.columns + j;
      const other = j < half ? -a.values[at + half] : a.values[at - half];
      made.values[at] = a.values[at] * cos.values[at] + other * sin.values[at];
    }
  return made;
}

/** Softmax of each row, at a temperature. */
export function softmax(a: Matrix, temperature = 1): Matrix {
  const made = matrix(a.rows, a.columns);
  for (let i = 0; i < a.rows; i++) {
    const row = a.values.subarray(i * a.columns, (i + 1) * a.columns);
    const top = row.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    const powers = Array.from(row, (value) => Math.exp((value - top) / temperature));
    const total = powers.reduce((all, value) => all + value, 0);
    for (let j = 0; j < a.columns; j++) made.values[i * a.columns + j] = powers[j] / total;
  }
  return made;
}

/** LayerNorm of each row, with its learned scale and shift. */
export function layerNorm(a: Matrix, scale: Matrix, shift: Matrix, epsilon: number): Matrix {
  const made = matrix(a.rows, a.columns);
  for (let i = 0; i < a.rows; i++) {
    const row = a.values.subarray(i * a.columns, (i + 1) * a.columns);
    const mean = row.reduce((all, value) => all + value, 0) / a.columns;
    const variance = row.reduce((all, value) => all + (value - mean) ** 2, 0) / a.columns;
    const by = 1 / Math.sqrt(variance + epsilon);
    for (let j = 0; j < a.columns; j++)
      made.values[i * a.columns + j] = (row[j] - mean) * by * scale.values[j] + shift.values[j];
  }
  return made;
}

/** RMSNorm of each row: divided by its root mean square; no mean is taken off, nothing is added. */
export function rmsNorm(a: Matrix, scale: Matrix, epsilon: number): Matrix {
  const made = matrix(a.rows, a.columns);
  for (let i = 0; i < a.rows; i++) {
    const row = a.values.subarray(i * a.columns, (i + 1) * a.columns);
    const by = 1 / Math.sqrt(row.reduce((all, value) => all + value * value, 0) / a.columns + epsilon);
    for (let j = 0; j < a.columns; j++) made.values[i * a.columns + j] = row[j] * by * scale.values[j];
  }
  return made;
}

/** The error function to 1.5e-7 (Abramowitz and Stegun 7.1.26). */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail =
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - tail * Math.exp(-x * x));
}

export const ACTIVATIONS: Record<string, (value: number) => number> = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(-x)),
};
