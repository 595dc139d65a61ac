// A line of text in a picture: columns that say letters, columns that say nothing, and padding behind the picture.

import { expect, test } from "vitest";
import { axisOf } from "../src/compute/axis";
import type { Side } from "../src/data/wire";
import { gridOf } from "../src/marks/framed";
import { firstLooker, lettersOf, placesOf } from "../src/marks/patches";

const text = ["0,0", "H", "0,2", " ", "i", "[PAD]"];
const boxes = [0, 0.2, 0.4, 0.6, 0.8].flatMap((left) => [left, 0, left + 0.2, 1]);

const line = (more: object = {}): Side =>
  ({
    name: "image",
    text,
    special: Uint8Array.from([0, 0, 0, 0, 0, 1]),
    segment: [0, 0, 0, 0, 0, 1],
    segments: [
      { name: "image", start: 0, end: 5 },
      { name: "padding", start: 5, end: 6 },
    ],
    row: [0, 0, 0, 0, 0, null],
    column: [0, 1, 2, 3, 4, null],
    word: null,
    medium: { kind: "picture", size: [400, 48] },
    spans: { all: () => Float32Array.from([...boxes, ...Array(4).fill(Number.NaN)]) },
    ...more,
  }) as unknown as Side;

test("letters are known by their columns, and the one in the middle looks first", () => {
  const axis = axisOf(line(), "tokens");
  expect([...lettersOf(axis)]).toEqual([
    [1, "H"],
    [3, " "],
    [4, "i"],
  ]);
  expect(firstLooker(axis)).toBe(4); // of H and i; a space is no place to begin
  expect([...placesOf(axis)!.keys()]).toEqual([0, 1, 2, 3, 4]); // padding has no place
});

test("columns that say nothing are dots with their number", () => {
  expect(axisOf(line(), "tokens").names).toEqual(["·₀", "H", "·₂", "␣", "i", "[PAD]"]);
});

test("with no letters read, the first column looks; patches of a picture of several rows keep their names", () => {
  const plain = text.map((_, i) => (i < 5 ? `0,${i}` : "[PAD]"));
  expect(firstLooker(axisOf(line({ text: plain }), "tokens"))).toBe(0);
  const grid = line({
    text: ["0,0", "0,1", "1,0", "1,1", "2,0", "[PAD]"],
    row: [0, 0, 1, 1, 2, null],
    column: [0, 1, 0, 1, 0, null],
  });
  expect(axisOf(grid, "tokens").names.slice(0, 3)).toEqual(["0,0", "0,1", "1,0"]);
  expect(lettersOf(axisOf(grid, "tokens")).size).toBe(0);
});

test("patches of one grid have numbered rows and columns; those of several tiles have none", () => {
  const four = [
    [0, 0, 0.5, 0.5],
    [0.5, 0, 1, 0.5],
    [0, 0.5, 0.5, 1],
    [0.5, 0.5, 1, 1],
  ];
  const of = (places: number[][]) => {
    const side = line({
      text: ["0,0", "0,1", "1,0", "1,1", "0,0", "[PAD]"],
      row: [0, 0, 1, 1, 0, null],
      column: [0, 1, 0, 1, 0, null],
      spans: { all: () => Float32Array.from(places.flat()) },
    });
    const axis = axisOf(side, "tokens");
    return gridOf(axis, placesOf(axis)!);
  };
  const nowhere = Array(4).fill(Number.NaN);
  const [rows, columns] = of([...four, nowhere, nowhere])!;
  expect(rows.map(({ number, from, to }) => [number, from, to])).toEqual([
    [0, 0, 0.5],
    [1, 0.5, 1],
  ]);
  expect(columns.map(({ number }) => number)).toEqual([0, 1]);
  expect(of([...four, [0.25, 0.25, 0.75, 0.75], nowhere])).toBeNull(); // row 0 of another tile
});
