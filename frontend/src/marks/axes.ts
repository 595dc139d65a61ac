// Token axes of a map: query labels down the left side, key labels up the top.

import type { Axis } from "../compute/axis";
import { listedName } from "../words/quoted";
import { elided, type Pen } from "./pen";
import type { Palette } from "./scales";

export interface Frame {
  left: number; // room for query labels
  top: number; // room for key labels
  width: number; // of the map
  height: number;
}

/** Where a map lies in its frame: first cell shown (fractions allowed) and pixels per cell. */
export interface Zoom {
  x: number;
  y: number;
  scale: number;
}

const SMALLEST = 12; // pixels between two labels
const SIZE = 12;
const LEAST = 10; // where labels are close

/** A token beside its row, or above its column, where quotation marks around marks would crowd the turned names. */
export const axisName = (axis: Axis, position: number, role: "query" | "key"): string =>
  role === "key" ? axis.names[position] : listedName(axis.names[position]);

/** Labels of both axes, as many as fit; `lit` ones always, in place of those they would cover. */
export function axes(
  pen: Pen,
  rows: Axis,
  columns: Axis,
  frame: Frame,
  zoom: Zoom,
  lit: { rows: readonly number[]; columns: readonly number[] },
  colours: Palette,
  name = axisName,
): void {
  const every = Math.max(1, Math.ceil(SMALLEST / zoom.scale));
  const write = (axis: Axis, position: number, across: boolean, strong: boolean) => {
    const start = across ? zoom.x : zoom.y;
    const at = (position + 0.5 - start) * zoom.scale;
    if (at < 0 || at > (across ? frame.width : frame.height)) return;
    const x = across ? frame.left + at : frame.left - 6;
    const y = across ? frame.top - 6 : frame.top + at;
    const room = (across ? frame.top : frame.left) - 12;
    const size = Math.min(SIZE, Math.max(LEAST, 0.8 * every * zoom.scale)); // close lines of labels have smaller letters
    if (strong) {
      const box = across ? [x - 8, 0, 16, frame.top] : [0, y - 8, frame.left, 16];
      pen.rect(box[0], box[1], box[2], box[3], { colour: colours.band });
    }
    pen.text(x, y, elided(name(axis, position, across ? "key" : "query"), room, size), {
      colour: axis.special[position] && !strong ? colours.quiet : colours.ink,
      size,
      align: across ? "start" : "end",
      turned: across,
      bold: strong,
    });
  };
  const label = (axis: Axis, across: boolean, chosen: readonly number[]) => {
    const hidden = (p: number) => chosen.some((q) => Math.abs(p - q) * zoom.scale < SMALLEST);
    for (let p = 0; p < axis.count; p += every) if (!hidden(p)) write(axis, p, across, false);
    for (const p of chosen) write(axis, p, across, true);
  };
  label(rows, false, lit.rows);
  label(columns, true, lit.columns);
}
