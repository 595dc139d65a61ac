// What is drawn over a picture and around it: lines between its patches, their rows and columns, frames with labels.

import type { Axis } from "../compute/axis";
import type { Box, Canvas } from "./patches";
import type { Pen } from "./pen";
import { inkOn, type Palette } from "./scales";

/** What stands at an edge of a picture: the number of a row or column of patches, and its middle as a share. */
export interface Tick {
  number: number;
  from: number;
  to: number;
}

/** Rows and columns of the grid that patches lie in; null where they lie in none, or in several. */
export function gridOf({ side, starts }: Axis, places: ReadonlyMap<number, Box>): [Tick[], Tick[]] | null {
  const { row, column } = side;
  if (!row || !column) return null;
  const found = [new Map<number, Tick>(), new Map<number, Tick>()];
  for (const [position, [left, top, right, bottom]] of places) {
    const own = [row[starts[position]], column[starts[position]]];
    for (const [i, from, to] of [
      [0, top, bottom],
      [1, left, right],
    ] as const) {
      const number = own[i];
      if (number === null) return null;
      const known = found[i].get(number);
      if (known && Math.abs(known.from - from) > 1e-3) return null; // tiles of a picture, or several pictures
      found[i].set(number, { number, from, to });
    }
  }
  const [rows, columns] = found.map((one) => [...one.values()].sort((a, b) => a.number - b.number));
  return rows.length > 1 && columns.length > 1 ? [rows, columns] : null;
}

export const GUTTER = { left: 16, top: 16 }; // for the numbers of rows and columns
const APART = 16; // pixels between two numbers at least
const ROOMY = 12; // pixels of a patch from which the lines between patches are drawn

/** The numbers of rows at the left edge and of columns above, those of framed patches in bold. */
export function gridNumbers(
  pen: Pen,
  [rows, columns]: [Tick[], Tick[]],
  at: Canvas,
  colours: Palette,
  framed: readonly Box[] = [],
): void {
  const write = (ticks: Tick[], size: number, along: 0 | 1) => {
    const step = STEPS.find((one) => (one * size) / ticks.length >= APART) ?? ticks.length;
    for (const { number, from, to } of ticks) {
      const middle = ((from + to) / 2) * size;
      const bold = framed.some((box) => Math.abs(box[along] - from) < 1e-3);
      const crowded = !bold && framed.some((box) => Math.abs(box[along] - from) * size < APART - 1);
      if (!bold && (number % step || crowded)) continue;
      const ink = { colour: bold ? colours.ink : colours.quiet, size: 11, mono: false, bold };
      if (along) pen.text(at.x - 5, at.y + middle, String(number), { ...ink, align: "end" });
      else pen.text(at.x + middle, at.y - 8, String(number), { ...ink, align: "middle" });
    }
  };
  write(rows, at.height, 1);
  write(columns, at.width, 0);
}

const STEPS = [1, 2, 5, 10, 20];

/** The lines between patches, drawn faintly. */
export function gridLines(
  pen: Pen,
  grid: [Tick[], Tick[]],
  { x, y, width, height }: Canvas,
  colours: Palette,
): void {
  const [rows, columns] = grid;
  const [down, across] = [rows.slice(1), columns.slice(1)];
  if (width / columns.length < ROOMY || height / rows.length < ROOMY) return;
  const ends = [
    ...down.flatMap(({ from }) => [x, y + from * height, x + width, y + from * height]),
    ...across.flatMap(({ from }) => [x + from * width, y, x + from * width, y + height]),
  ];
  pen.lines(ends, down.length + across.length, 1, { colour: colours.quiet, alpha: 0.22 });
}

/** A line around the picture, so that one of white paper ends on a white page. */
export function edge(pen: Pen, { x, y, width, height }: Canvas, colours: Palette): void {
  const [a, b, c, d] = [x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5];
  pen.lines([a, b, c, b, c, b, c, d, c, d, a, d, a, d, a, b], 4, 1, { colour: colours.rule });
}

export interface Framed {
  position: number;
  label: string; // what stands in the frame, or beside it
  lit?: boolean; // whether the patch is coloured by attention
  bare?: boolean; // without a frame: its label stands in it, or nowhere
}

interface Colours extends Palette {
  colourAt: (box: Box) => string | null; // of what is drawn in a patch
}

const LETTER = 7.3; // pixels of a letter of a label
const LINE = 18; // its height
const CELL = 34; // pixels of a patch from which a share is written in it

/** What a patch is called, and with what share of attention, in it where it has room: what is around it stays visible. */
function labelPatch(
  pen: Pen,
  { label, lit, bare }: Framed,
  [l, t, r, b]: Box,
  at: Canvas,
  { ground, ink, colour }: Pick<Palette, "ground" | "ink"> & { colour: string },
): void {
  const wide = label.length * LETTER + 8;
  const room = bare ? Math.max(CELL, wide - 6) : wide;
  if (lit && r - l >= room && b - t >= (bare ? CELL : LINE)) {
    pen.text((l + r) / 2, (t + b) / 2, label, { colour: inkOn(colour), size: 12, align: "middle" });
    return;
  }
  if (bare) return;
  const left = Math.min(Math.max(at.x, (l + r - wide) / 2), at.x + at.width - wide);
  const top = b + 4 + LINE <= at.y + at.height ? b + 4 : t - 4 - LINE;
  pen.rect(left, top, wide, LINE, { colour: ground, alpha: 0.88 });
  pen.text(left + wide / 2, top + LINE / 2, label, { colour: ink, size: 12, align: "middle" });
}

/** Frames around patches, each with its label. */
export function framePatches(
  pen: Pen,
  places: ReadonlyMap<number, Box>,
  framed: readonly Framed[],
  at: Canvas,
  colours: Colours,
): void {
  for (const one of framed) {
    const box = places.get(one.position);
    if (!box) continue;
    const [l, r] = [box[0], box[2]].map((share) => at.x + share * at.width);
    const [t, b] = [box[1], box[3]].map((share) => at.y + share * at.height);
    const lines = [
      [5, colours.ground],
      [2, colours.ink],
    ] as const;
    for (const [wide, colour] of one.bare ? [] : lines) {
      const [a, z] = [l - wide / 2, r + wide / 2]; // so that corners are closed
      pen.lines([a, t, z, t, r, t, r, b, z, b, a, b, l, b, l, t], 4, wide, { colour });
    }
    const colour = colours.colourAt(box) ?? colours.accent;
    if (one.label) labelPatch(pen, one, [l, t, r, b], at, { ...colours, colour });
  }
}
