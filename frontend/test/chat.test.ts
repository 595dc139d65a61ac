import { expect, test } from "vitest";
import { inPercent, piecesOf } from "../src/app/chat/shares";
import { inWholes } from "../src/marks/scales";

test("whole percent of parts add up to 100", () => {
  expect(inWholes([1 / 3, 1 / 3, 1 / 3])).toEqual([34, 33, 33]);
  expect(inWholes([0.0749, 0.1373, 0.7186, 0.0692])).toEqual([7, 14, 72, 7]);
  expect(inWholes([0.005, 0.005, 0.99])).toEqual([1, 0, 99]);
});

test("parts without attention are not named, and what is missing went to a sink", () => {
  const told = (shares: Parameters<typeof piecesOf>[0]) =>
    piecesOf(shares).map(({ part, told }) => [part, told]);
  expect(told({ prompt: 0.25, answer: 0, first: 0.75, template: 0 })).toEqual([
    ["prompt", 25],
    ["first", 75],
  ]);
  expect(told({ prompt: 0.2, answer: 0.1, first: 0, template: 0.1 })).toContainEqual(["sink", 60]);
});

test("small shares have a decimal", () => {
  expect([0.046, 0.0996, 0.21].map(inPercent)).toEqual(["4.6%", "10%", "21%"]);
});
