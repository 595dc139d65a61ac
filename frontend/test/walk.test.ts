import { expect, test } from "vitest";
import { litIn } from "../src/walk/grid";
import {
  ACTIVATIONS,
  causal,
  joined,
  layerNorm,
  matrix,
  product,
  slice,
  softmax,
  transposed,
} from "../src/walk/maths";
import { DECODER, ENCODER, label, wordsOf } from "../src/walk/text";

const of = (rows: number[][]) => matrix(rows.length, rows[0].length, Float32Array.from(rows.flat()));
const list = (m: { values: Float32Array }) => Array.from(m.values);

test("a product adds the bias to every row", () => {
  const made = product(
    of([
      [1, 2],
      [3, 4],
    ]),
    of([
      [1, 0],
      [0, 2],
    ]),
    of([[10, 20]]),
  );
  expect(list(made)).toEqual([11, 24, 13, 28]);
});

test("slices of a matrix joined give it back", () => {
  const whole = of([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
  expect(list(joined([slice(whole, 0, 2), slice(whole, 2, 4)]))).toEqual(list(whole));
});

test("transposing twice changes nothing", () => {
  const whole = of([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  expect(list(transposed(transposed(whole)))).toEqual(list(whole));
  expect(list(transposed(whole))).toEqual([1, 4, 2, 5, 3, 6]);
});

test("softmax rows sum to 1, also where a mask hides most of them", () => {
  const made = softmax(
    causal(
      of([
        [900, 1, 2],
        [3, 3, 9],
        [0, 0, 0],
      ]),
    ),
  );
  const sums = [0, 1, 2].map((i) =>
    list(made)
      .slice(3 * i, 3 * i + 3)
      .reduce((a, b) => a + b),
  );
  for (const sum of sums) expect(sum).toBeCloseTo(1, 6);
  expect(list(made).slice(0, 6)).toEqual([1, 0, 0, 0.5, 0.5, 0]);
});

test("layer norm gives mean 0 and variance 1 before scale and shift", () => {
  const made = list(layerNorm(of([[1, 2, 3, 6]]), of([[1, 1, 1, 1]]), of([[0, 0, 0, 0]]), 0));
  expect(made.reduce((a, b) => a + b)).toBeCloseTo(0, 5);
  expect(made.reduce((a, b) => a + b * b, 0) / 4).toBeCloseTo(1, 5);
});

test("the activations have their known values", () => {
  expect(ACTIVATIONS.gelu(1)).toBeCloseTo(0.8413447, 6);
  expect(ACTIVATIONS.gelu(-1)).toBeCloseTo(-0.1586553, 6);
  expect(ACTIVATIONS.silu(1)).toBeCloseTo(0.7310586, 6);
  expect(ACTIVATIONS.relu(-3)).toBe(0);
});

test("a cell of a product lights the row and the column it came from", () => {
  const at = { item: 3, row: 2, column: 5 };
  expect([0, 1, 2, 3].map((index) => litIn("product", 4, at, index))).toEqual([
    { row: 2 },
    { column: 5 },
    { column: 5 },
    { row: 2, column: 5 },
  ]);
});

test("a cell of a factor lights what it goes into", () => {
  expect(litIn("product", 3, { item: 0, row: 2, column: 7 }, 1)).toEqual({ row: 7 });
  expect(litIn("product", 3, { item: 0, row: 2, column: 7 }, 2)).toEqual({ row: 2 });
  expect(litIn("product", 3, { item: 1, row: 7, column: 4 }, 0)).toEqual({ column: 7 });
  expect(litIn("product", 3, { item: 1, row: 7, column: 4 }, 2)).toEqual({ column: 4 });
  expect(litIn("row", 2, { item: 1, row: 1, column: 4 }, 0)).toEqual({ row: 1 });
});

test("every step speaks both languages", () => {
  for (const id of [...ENCODER, ...DECODER])
    for (const language of ["en", "zh"] as const)
      expect(wordsOf(language, id).text.length).toBeGreaterThan(20);
  expect(label("zh", "step", { at: 1, all: 2 })).toBe("第 1 步，共 2 步");
});
