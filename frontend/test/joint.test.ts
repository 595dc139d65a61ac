import { expect, test } from "vitest";
import { coloured } from "../src/joint/colours";
import { at, inputOf, type Points } from "../src/joint/data";
import { draw, mixed } from "../src/joint/raster";
import { inside, nearest, panned, zoomed } from "../src/joint/space";

const side = {
  words: Uint32Array.of(0, 1, 0, 2),
  starts: Uint32Array.of(0, 2, 4),
  examples: Uint32Array.of(5, 9),
};
const points: Points = {
  x: Float32Array.of(0, 0.25, 0.5, 1, 0, 0.25, 0.5, 1),
  y: Float32Array.of(0, 0, 0, 0, 1, 1, 1, 1),
  queries: 4,
  sides: [side, side],
  look: Uint32Array.of(0, 0, 1, 1),
  weight: Float32Array.of(1, 0.5, 0.25, 0),
  texts: ["the", "cat", "sat"],
};
const frame = { left: 10, top: 10, zoom: 100 };

test("the point under the pointer is the nearest one within reach", () => {
  expect(nearest(points.x, points.y, frame, 36, 12, 8)).toBe(1);
  expect(nearest(points.x, points.y, frame, 85, 60, 8)).toBe(-1);
  expect(nearest(points.x, points.y, panned(frame, 50, 50), 60, 60, 8)).toBe(0);
});

test("what the pointer is on stays under it when the map comes closer", () => {
  const closer = zoomed(frame, 3, 60, 110, 100);
  expect(nearest(points.x, points.y, closer, 60, 110, 1)).toBe(
    nearest(points.x, points.y, frame, 60, 110, 1),
  );
  expect(closer.zoom).toBe(300);
});

test("a line has the points inside it, also where it is not convex", () => {
  // a U that leaves out the point in the middle of the upper row
  const line = [0, 0, 20, 0, 20, 40, 100, 40, 100, 0, 120, 0, 120, 60, 0, 60];
  expect(inside(points.x, points.y, frame, line)).toEqual([0, 3]);
  expect(inside(points.x, points.y, frame, [])).toEqual([]);
});

test("every point is drawn in its colour, and none beyond the edge", () => {
  const pixels = new Uint32Array(20 * 20);
  const { colours } = coloured(points, "side");
  draw(pixels, 20, 20, points.x, points.y, colours, { left: 2, top: 2, zoom: 10 }, 1);
  expect(pixels[2 * 20 + 2]).toBe(colours[0]);
  expect(pixels[12 * 20 + 12]).toBe(colours[7]);
  expect(pixels.filter(Boolean).length).toBe(8);
  draw(pixels, 20, 20, points.x, points.y, colours, { left: 15, top: 2, zoom: 10 }, 3);
  expect(pixels.filter(Boolean).length).toBe(4 * 9 - 2 * 3); // two pairs, which overlap
});

test("points know their input, and each comes once in the order of drawing", () => {
  expect([0, 1, 2, 3].map((place) => inputOf(side, place))).toEqual([0, 0, 1, 1]);
  expect(at(points, 6)).toEqual({ side, place: 2, key: true });
  expect([...mixed(100)].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  const { legend } = coloured(points, "token");
  expect(legend.map(({ name }) => name)).toEqual(["the", "cat", "sat", "all others"]);
});
