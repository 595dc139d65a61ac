// A picture as it is looked at: lit, with the lines between its patches, their numbers, and frames.

import type { Axis } from "../compute/axis";
import { isStrip, pictureOf } from "../data/picture";
import { edge, type Framed, framePatches, gridLines, gridNumbers, gridOf } from "../marks/framed";
import { type Box, type Canvas, litPicture, meanOf } from "../marks/patches";
import type { Pen } from "../marks/pen";
import type { Palette } from "../marks/scales";

export function seenPicture(
  pen: Pen,
  axis: Axis,
  places: ReadonlyMap<number, Box>,
  values: readonly Float32Array[],
  framed: readonly Framed[],
  at: Canvas,
  colours: Palette,
): void {
  const drawn = litPicture(pen, pictureOf(axis.side), places, values, at, colours);
  const grid = isStrip(axis.side) ? null : gridOf(axis, places);
  const boxes = framed
    .filter(({ bare }) => !bare)
    .map(({ position }) => places.get(position))
    .filter((box) => box !== undefined);
  if (grid) {
    gridLines(pen, grid, at, colours);
    gridNumbers(pen, grid, at, colours, boxes);
  }
  edge(pen, at, colours);
  framePatches(pen, places, framed, at, { ...colours, colourAt: (box) => drawn && meanOf(drawn, box) });
}
