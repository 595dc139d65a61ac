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
const PHONE = 24; // the same on a phone
const ABOVE = 150; // legend, headings, words
const SHARE = 0.66; // of the height that is left; the rest is for the other heads
const LEAST = 200;
const MOST = 760;
const BETWEEN = 14; // two small pictures, with their frames
const LARGEST = 176; // of a small one
const NUMBER = 64; // the heading above small pictures, and the numbers below

/** How large pictures are, and how many columns of small ones stand at their right; with 0 columns they stand below. */
export interface Sizes {
  large: Room;
  small: Room;
  columns: number;
}

/** What is shown: so many large pictures of a shape, and so many heads. */
interface Shown {
  count: number;
  aspect: number;
  heads: number;
}

/** Small pictures stand below the large ones, or in a column at their right where that makes these larger. */
export function sizesOf(seen: Room, shown: Shown, narrow: boolean): Sizes {
  const { count, heads } = shown;
  const large = roomOf(seen, count, narrow);
  const small = multipleOf(seen, heads, narrow);
  const below = { large, small, columns: 0 };
  return (!narrow && count === 2 && asideOf(seen, shown, below)) || below;
}

const HEADING = 94; // the legend and the heading above small pictures in a column
const LABEL = 34; // the number below one of them, and what is around both
const LARGER = 1.05; // times: with less, nothing is won

function asideOf(seen: Room, { count, aspect, heads }: Shown, below: Sizes): Sizes | null {
  const fit = ({ width, height }: Room) => Math.min(width, height * aspect);
  const room = (wide: number): Room => ({ width: wide, height: wide / aspect });
  const [width, height] = [seen.width - EDGES - APART * count, seen.height - ABOVE];
  const found = Array.from({ length: heads }, (_, i) => {
    const columns = i + 1;
    const tall = (seen.height - HEADING) / Math.ceil(heads / columns) - LABEL;
    const least = Math.min(fit(below.small), tall * aspect);
    const large = Math.min((width - columns * (least + BETWEEN)) / count, fit({ width: MOST, height }));
    const small = Math.min(
      (width - count * large) / columns - BETWEEN,
      fit({ width: LARGEST, height: tall }),
    );
    return { columns, large, small };
  }).filter(({ small }) => small >= fit(SMALL));
  if (!found.length) return null;
  const best = found.reduce((a, b) =>
    b.large > a.large + 1 || (b.large > a.large - 1 && b.small > a.small) ? b : a,
  );
  if (best.large < LARGER * fit(below.large)) return null;
  return { large: room(best.large), small: room(best.small), columns: best.columns };
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
