// A picture with what is looked at in it: shares written on patches, and what a model says without a head.

import { expect, test } from "vitest";
import type { Cell } from "../src/data/report";
import { turnTold } from "../src/frame/labels";
import { type Framed, framePatches } from "../src/marks/framed";
import type { Box } from "../src/marks/patches";
import type { Pen } from "../src/marks/pen";
import { palette } from "../src/marks/scales";
import type { Store } from "../src/state/store";
import { type Language, say } from "../src/words";

const cell = { site: { kind: "encoder", layer: 1 }, head: 3 } as unknown as Cell;

/** What is said where a model says five with a chance, and without the head something with another. */
function turned(
  chance: number,
  [label, without]: [string, number],
  language: Language = "en",
): string | null {
  const facts = { labels: [["five", chance]], "labels without": { "encoder 1.3": [[label, without]] } };
  return turnTold({ page: { facts } } as unknown as Store, cell, (key, values) => say(language, key, values));
}

test("a label that stays, but whose share changes by five points or more, is told without the head", () => {
  expect(turned(0.83, ["five", 0.93])).toBe("Without head 1.3, “five” rises from 83% to 93%.");
  expect(turned(0.75, ["five", 0.7])).toBe("Without head 1.3, “five” falls from 75% to 70%.");
  expect(turned(0.75, ["five", 0.71])).toBeNull();
  expect(turned(0.75, ["nine", 0.74])).toBe("Without head 1.3, the model says “nine” (74%), not “five”.");
  expect(turned(0.83, ["five", 0.93], "zh")).toBe("去掉头 1.3，“five”从 83% 升到 93%。");
});

const PLACES = new Map<number, Box>([
  [0, [0, 0, 0.5, 1]],
  [1, [0.5, 0, 1, 1]],
]);

/** The labels that are written on two patches of a picture, with their inks, and how many frames are drawn. */
function written(width: number, framed: Framed[]): [Map<string, string>, number] {
  const inks = new Map<string, string>();
  let frames = 0;
  const pen = {
    lines: () => frames++,
    rect: () => {},
    text: (_x: number, _y: number, text: string, ink: { colour: string }) => inks.set(text, ink.colour),
  } as unknown as Pen;
  const colourAt = ([left]: Box) => (left ? "#e0e8ff" : "#1b4fb0");
  const at = { x: 0, y: 0, width, height: width / 2 };
  framePatches(pen, PLACES, framed, at, { ...palette("light"), colourAt });
  return [inks, frames / 2]; // a dark line on a light one
}

test("patches beside the framed one have their shares where they are large enough, in an ink that is seen", () => {
  const framed = [
    { position: 0, label: "43%", lit: true },
    { position: 1, label: "9.5%", lit: true, bare: true },
  ];
  const [inks, frames] = written(80, framed);
  expect([...inks]).toEqual([
    ["43%", "#ffffff"],
    ["9.5%", "#000000"],
  ]);
  expect(frames).toBe(1);
  expect([...written(60, framed)[0].keys()]).toEqual(["43%"]);
});
