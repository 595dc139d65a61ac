// How large pictures are drawn: as large as their stage has room for. Enters: the stage. Leaves: pixels.

import type { Axis } from "../../compute/axis";
import { aspectOf, isStrip } from "../../data/picture";
import type { Canvas } from "../../marks/patches";

export interface Room {
  width: number;
  height: number;
}

export const APART = 32; // between two pictures
export const SAVED: Room = { width: 420, height: 420 };
export const SMALL: Room = { width: 104, height: 104 }; // one head of many
const EDGES = 66; // left and right of the stage, with a bar to scroll it
const PHONE = 34; // the same on a phone, with the numbers of rows
const ABOVE = 166; // legend, headings, words, numbers of columns
const SHARE = 0.66; // of the height that is left; the rest is for the other heads
const LEAST = 200;
const MOST = 900;
const BETWEEN = 14; // two small pictures, with their frames
const LARGEST = 176; // of a small one
const NUMBER = 64; // the heading above small pictures, and the numbers below

/** How large pictures are: the one that looks, the one that is looked at, and those of single heads. */
export interface Sizes {
  query: Room;
  key: Room;
  small: Room;
  below: boolean; // whether small ones stand below what looks, beside a larger picture of what is looked at
}

/** What is shown: so many large pictures of a shape, and so many heads. */
interface Shown {
  count: number;
  aspect: number;
  heads: number;
}

/** Small pictures stand below both large ones, or below the one that looks where the other becomes larger so. */
export function sizesOf(seen: Room, shown: Shown, narrow: boolean): Sizes {
  const { count, heads } = shown;
  const large = roomOf(seen, count, narrow);
  const plain = { query: large, key: large, small: multipleOf(seen, heads, narrow), below: false };
  return (!narrow && count === 2 && besideOf(seen, shown, plain)) || plain;
}

const HEADING = 44; // the line above small pictures, and what is around it
const LABEL = 34; // the number below one of them, and what is around both
const LARGER = 1.05; // times: with less, nothing is won
const SMALLEST = 64; // of a small picture
const HALF = 0.5; // of what is looked at: what looks is no smaller, and no larger than all of it
const TENTHS = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6]; // of the height that what is looked at may take

function besideOf(seen: Room, { aspect, heads }: Shown, plain: Sizes): Sizes | null {
  const room = (wide: number): Room => ({ width: wide, height: wide / aspect });
  const [width, height] = [seen.width - EDGES - APART, seen.height - ABOVE];
  for (const share of TENTHS) {
    const right = Math.min(MOST, share * height * aspect, width / (1 + HALF));
    const left = Math.min(width - right, right);
    const found = Array.from({ length: heads }, (_, i) => {
      const each = (wide: number) => Math.min(LARGEST, wide / (i + 1) - BETWEEN);
      const rows = Math.ceil(heads / (i + 1));
      const free = height - HEADING - rows * (each(left) / aspect + LABEL);
      const looks = Math.min(left, free * aspect);
      return { small: each(looks), looks };
    }).filter(({ small, looks }) => small >= SMALLEST && looks >= HALF * right);
    if (!found.length || right < LARGER * Math.min(plain.key.width, plain.key.height * aspect)) continue;
    const best = found.reduce((a, b) => (b.looks > a.looks ? b : a));
    return { query: room(best.looks), key: room(right), small: room(best.small), below: true };
  }
  return null;
}

/** What one of so many large pictures side by side may take. */
function roomOf({ width, height }: Room, count: number, narrow: boolean): Room {
  if (narrow) return { width: Math.max(LEAST, width - PHONE), height: 420 };
  const across = (width - EDGES - APART * (count - 1)) / Math.max(1, count);
  const down = SHARE * (height - ABOVE);
  return { width: clamp(across), height: clamp(down) };
}

const clamp = (pixels: number): number => Math.max(LEAST, Math.min(MOST, pixels));

const LINE = { most: 1100, height: 96 }; // a line of text in a picture, which has a row for itself
export const LOW: Room = { width: 320, height: 64 }; // the same for one head of many

/** What the line of text that is a picture may take: as wide as there is room, and no higher than its letters need. */
export const lineOf = ({ width }: { width: number }, narrow: boolean): Room => ({
  width: Math.max(LEAST, Math.min(LINE.most, width - (narrow ? PHONE : EDGES))),
  height: LINE.height,
});

/** What a small picture below may take, so that all heads of a layer stand in one row if that is not too small. */
function multipleOf({ width, height }: Room, heads: number, narrow: boolean): Room {
  if (narrow) return SMALL;
  const across = (width - EDGES) / Math.max(1, heads) - BETWEEN;
  const down = (1 - SHARE) * (height - ABOVE) - NUMBER;
  const wide = Math.max(SMALL.width, Math.min(LARGEST, across));
  return { width: wide, height: Math.max(SMALL.height, Math.min(LARGEST, down)) };
}

/** What the picture of one head may take in a saved picture. */
export const savedOf = ({ side }: Axis): Room => (isStrip(side) ? LOW : SMALL);

/** Where the picture of an axis lies in so much room. */
export function frameOf(axis: Axis, { width, height }: Room): Canvas {
  const aspect = aspectOf(axis.side);
  const wide = Math.min(width, height * aspect);
  return { x: 0, y: 0, width: Math.round(wide), height: Math.round(wide / aspect) };
}
