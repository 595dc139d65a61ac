// The drawing of lines back through the layers, with any pen.

import { elided, type Pen } from "../../marks/pen";
import type { Palette } from "../../marks/scales";
import { APART, type Arc, CHIP, type Layout, LETTERS } from "./layout";

const HANDLE = 0.75; // how far a curve reaches towards its handles
const HEAD = 6; // size of an arrow's head

/** Where the name of an arc stands. */
export const chipAt = ({ from, to, base, lift }: Arc): [x: number, y: number] => [
  (from + to) / 2,
  base - lift - CHIP / 2,
];

/** What is written in the drawing. */
export interface Lettered {
  layer: (kind: string, layer: number) => string;
  between: (first: number, last: number) => string; // layers that are left out
  carries: (token: string) => string;
  hidden: (count: number) => string;
}

export function draw(
  pen: Pen,
  { gutter, columns, gaps, rows, arcs, stems }: Layout,
  told: Lettered,
  colours: Palette,
): void {
  const small = { colour: colours.quiet, size: 11, mono: false };
  for (const { x, from, to, token } of stems) {
    pen.lines([x, from, x, to], 1, 1.5, { colour: colours.accent, dashed: true });
    arrow(pen, x, to + 1, -1, colours.accent);
    pen.text(x + 9, to + 16, told.carries(token), { ...small, colour: colours.accent });
  }
  rows.forEach(({ kind, layer, top, base, between, lit }, i) => {
    pen.text(0, gutter ? base : top + 7, told.layer(kind, layer), small);
    if (i > 0 && between > 0) pen.text(0, top - APART / 2, told.between(layer + 1, layer + between), small);
    for (const column of columns) {
      const involved = lit.has(column);
      pen.text(column.x, base, elided(column.text, column.width, LETTERS), {
        colour: involved ? colours.ink : colours.quiet,
        alpha: involved ? 1 : 0.75,
        bold: involved,
        size: LETTERS,
        align: "middle",
      });
    }
    for (const { x, hidden } of gaps) pen.text(x, base, told.hidden(hidden), { ...small, align: "middle" });
  });
  for (const arc of arcs) {
    const colour = colours.accent;
    const { from, to, base, lift } = arc;
    const own = from === to ? 9 : 0;
    const [x1, x2] = [from - own, to + own];
    const y = base - lift / HANDLE;
    pen.curve?.([x1, base, x1, y, x2, y, x2, base - HEAD], 2.5, { colour });
    arrow(pen, x2, base, 1, colour);
  }
}

/** A small triangle that points down (1) or up (−1). */
function arrow(pen: Pen, x: number, y: number, way: 1 | -1, colour: string): void {
  for (let i = 0; i < HEAD; i++) {
    const half = (HEAD - i) / 1.6;
    const at = y - way * (HEAD - i);
    pen.lines([x - half, at, x + half, at], 1, 1.4, { colour });
  }
}
