// A matrix as a coloured grid, drawn with a pen: on the screen and into a saved picture.

import { elided, type Pen } from "../marks/pen";
import { decimals, type Palette, palette, ramp, SIGNS, type Theme } from "../marks/scales";
import type { Shown } from "./equation";
import type { Matrix } from "./maths";

const WIDE = 352; // most pixels of a map's width, so that two stand side by side; other matrices get less
const NARROW = 192;
const HIGH = 260;
const LINE = 22; // height of a row with a name
const NUMBERS = 36; // cell width from which numbers are written in
const BRIEF = 25; // the same for shorter ones
const LETTER = 7.3; // width of a monospaced letter
const NAME = 12 * LETTER; // longest name of a row or column
const SMALL = 12;

/** What is framed in a matrix: a cell, a row, a column. */
export interface Lit {
  row?: number;
  column?: number;
}

export interface Layout {
  left: number;
  top: number;
  cell: number;
  line: number;
  width: number;
  height: number;
}

const longest = (names: readonly string[] | undefined): number =>
  names ? Math.max(...names.map((text) => Math.min(12, text.trim().length))) : 0;

/** Where the cells and names of a matrix stand. */
export function layoutOf({ matrix, rows, columns }: Shown): Layout {
  const left = rows ? Math.ceil(longest(rows) * LETTER) + 8 : 0;
  const most = columns && rows ? WIDE : NARROW;
  const room = most / matrix.columns;
  const even = Math.min(44, room < 1 ? room : Math.floor(room)); // whole pixels: else some columns look wider
  const cell = columns ? Math.max(14, even) : even;
  const line = Math.min(LINE, HIGH / matrix.rows);
  const top = columns ? Math.ceil(longest(columns) * LETTER) + 8 : 0;
  const row = rows ? Math.max(14, line) : line;
  return { left, top, cell, line: row, width: left + cell * matrix.columns, height: top + row * matrix.rows };
}

/** Colours, names, numbers where they fit, and what is lit; `image` has one pixel a value. */
export function drawGrid(
  pen: Pen,
  image: HTMLCanvasElement,
  shown: Shown,
  at: Layout,
  lit: readonly Lit[],
  theme: Theme,
): void {
  const { rows, columns } = shown.matrix;
  const colours = palette(theme);
  pen.image(image, at.left, at.top, at.cell * columns, at.line * rows);
  frame(pen, at.left, at.top, at.cell * columns, at.line * rows, 1, colours.rule);
  names(pen, shown, at, lit, colours);
  if (at.cell >= BRIEF && at.line >= 14) written(pen, shown, at, colours);
  for (const some of lit) light(pen, shown.matrix, at, some, colours.accent);
}

function frame(
  pen: Pen,
  x: number,
  y: number,
  width: number,
  height: number,
  line: number,
  colour: string,
): void {
  const [right, bottom] = [x + width, y + height];
  const sides = [x, y, right, y, right, y, right, bottom, right, bottom, x, bottom, x, bottom, x, y];
  pen.lines(sides, 4, line, { colour });
}

function names(pen: Pen, shown: Shown, at: Layout, lit: readonly Lit[], colours: Palette): void {
  const ink = (on: boolean) => (on ? colours.accent : colours.quiet);
  shown.rows?.forEach((text, i) => {
    const colour = ink(lit.some((some) => some.row === i));
    const y = at.top + (i + 0.5) * at.line;
    pen.text(at.left - 6, y, elided(text.trim(), NAME, SMALL), { colour, size: SMALL, align: "end" });
  });
  shown.columns?.forEach((text, i) => {
    const colour = ink(lit.some((some) => some.column === i));
    const x = at.left + (i + 0.5) * at.cell;
    pen.text(x, at.top - 5, elided(text.trim(), NAME, SMALL), { colour, size: SMALL, turned: true });
  });
}

function written(pen: Pen, { matrix, weights }: Shown, at: Layout, colours: Palette): void {
  matrix.values.forEach((value, i) => {
    const x = at.left + ((i % matrix.columns) + 0.5) * at.cell;
    const y = at.top + (Math.floor(i / matrix.columns) + 0.5) * at.line;
    const colour = weights && value > 0.5 ? colours.ground : colours.ink;
    const roomy = at.cell >= NUMBERS;
    const text = Number.isFinite(value) ? numeral(value, roomy, weights) : "−∞";
    pen.text(x, y, text, { colour, size: roomy ? 11 : 10, align: "middle" });
  });
}

/** Two decimals; where there is little room, .75 for a weight and one decimal for other numbers. */
function numeral(value: number, roomy: boolean, weight = false): string {
  const text = decimals(value, roomy || weight ? 2 : 1);
  return roomy ? text : text.replace(/^0\./, ".");
}

/** A frame around the row, the column or the cell. */
function light(pen: Pen, { rows, columns }: Matrix, at: Layout, lit: Lit, accent: string): void {
  if (lit.row === undefined && lit.column === undefined) return;
  const cell = lit.row !== undefined && lit.column !== undefined;
  const x = at.left + (lit.column ?? 0) * at.cell;
  const y = at.top + (lit.row ?? 0) * at.line;
  const width = lit.column === undefined ? columns * at.cell : at.cell;
  const height = lit.row === undefined ? rows * at.line : at.line;
  frame(pen, x - 1, y - 1, width + 2, height + 2, cell ? 2 : 1.5, accent);
}

const ramps: Partial<Record<Theme, Uint8Array>> = {};

/** The values as an image, one pixel each; where there are more than pixels on the screen, the largest of each block. */
export function coloured(doc: Document, shown: Shown, theme: Theme): HTMLCanvasElement {
  const { cell, line } = layoutOf(shown);
  const pixels = (count: number, size: number) => Math.min(count, Math.max(1, Math.floor(count * size)));
  const { rows, columns } = shown.matrix;
  const { weights } = shown;
  const matrix = shrunk(shown.matrix, pixels(rows, line), pixels(columns, cell));
  const canvas = doc.createElement("canvas");
  canvas.width = matrix.columns;
  canvas.height = matrix.rows;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(matrix.columns, matrix.rows);
  ramps[theme] ??= ramp(theme);
  const size = typical(shown.matrix.values);
  const colour = weights ? shareOf(ramps[theme]) : signOf(size, palette(theme).rule);
  matrix.values.forEach((value, i) => {
    image.data.set(colour(value), 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** A matrix in fewer cells, each the value of largest size among those it stands for. */
export function shrunk(whole: Matrix, rows: number, columns: number): Matrix {
  if (rows === whole.rows && columns === whole.columns) return whole;
  const made = { rows, columns, values: new Float32Array(rows * columns) };
  for (let i = 0; i < whole.rows; i++)
    for (let j = 0; j < whole.columns; j++) {
      const at = Math.floor((i * rows) / whole.rows) * columns + Math.floor((j * columns) / whole.columns);
      const value = whole.values[i * whole.columns + j];
      if (Math.abs(value) > Math.abs(made.values[at])) made.values[at] = value;
    }
  return made;
}

/** Root mean square of the finite numbers. */
function typical(values: Float32Array): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    sum += value * value;
    count += 1;
  }
  return Math.sqrt(sum / Math.max(1, count)) || 1;
}

type Colour = (value: number) => [number, number, number, number];

const shareOf =
  (table: Uint8Array): Colour =>
  (value) => {
    const at = 3 * Math.min(255, Math.round(value * 200)); // the darkest inks would hide the numbers
    return [table[at], table[at + 1], table[at + 2], 255];
  };

function signOf(size: number, hidden: string): Colour {
  const [blue, orange, none] = [SIGNS.positive, SIGNS.negative, hidden].map(channels);
  return (value) => {
    if (!Number.isFinite(value)) return [...none, 255];
    return [...(value < 0 ? orange : blue), Math.round(200 * Math.tanh(Math.abs(value) / (1.5 * size)))];
  };
}

const channels = (hex: string): [number, number, number] => {
  const code = Number.parseInt(hex.slice(1), 16);
  return [code >> 16, (code >> 8) & 255, code & 255];
};
