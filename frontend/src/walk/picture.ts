// The current step as a picture that leaves the page: title, words, table and matrices, drawn with a pen.

import type { Pen } from "../marks/pen";
import { type Palette, palette, type Theme } from "../marks/scales";
import { wrapped } from "../marks/wrapped";
import { drawGrid, type Lit, layoutOf } from "./drawing";
import type { Equation, Shown } from "./equation";
import type { Listed } from "./tables";

const SIZE = 13;
const LINE = 19;
const GAP = 14;
const CAPTION = 18;
const BAR = 160; // pixels of a share of 1

/** What is on the page at a step. */
export interface Scene {
  title: string;
  formula: string;
  text: string;
  changed: string; // what is different from the model, or nothing
  table: Listed | null;
  equations: readonly Equation[];
  chosen: Lit | null;
  theme: Theme;
}

/** Draw a step from the top, and tell how high it became; `paint` gives a matrix's colours. */
export function drawScene(
  pen: Pen,
  scene: Scene,
  width: number,
  paint: (shown: Shown) => HTMLCanvasElement,
): number {
  const colours = palette(scene.theme);
  pen.text(0, 10, scene.title, { colour: colours.ink, size: 17, bold: true, mono: false });
  pen.text(0, 34, scene.formula, { colour: colours.accent, size: SIZE });
  let y = 58;
  const paragraph = (text: string, colour: string) => {
    for (const line of wrapped(text, width, SIZE)) {
      pen.text(0, y, line, { colour, size: SIZE, mono: false });
      y += LINE;
    }
  };
  paragraph(scene.text, colours.ink);
  if (scene.changed) paragraph(scene.changed, colours.quiet);
  y += GAP / 2;
  if (scene.table) y = drawTable(pen, scene.table, y, colours);
  for (const equation of scene.equations) y = drawEquation(pen, equation, scene, width, y, paint);
  return y;
}

function drawTable(pen: Pen, { head, rows, shares }: Listed, top: number, colours: Palette): number {
  const columns = head.map((name, c) =>
    Math.max(...[name, ...rows.map((row) => row[c])].map((t) => [...t].length)),
  );
  const starts = columns.map((_, c) => columns.slice(0, c).reduce((sum, n) => sum + n * 7.9 + 24, 0));
  const shift = (c: number) => starts[c] + (shares && c ? BAR + 24 : 0);
  const line = (row: string[], y: number, colour: string) =>
    row.forEach((text, c) => {
      pen.text(shift(c), y, text, { colour, size: SIZE });
    });
  line(head, top + LINE / 2, colours.quiet);
  rows.forEach((row, i) => {
    const y = top + (i + 1) * LINE;
    line(row, y + LINE / 2, colours.ink);
    if (shares)
      pen.rect(starts[1], y + 3, Math.max(1, BAR * shares[i]), LINE - 6, { colour: colours.accent });
  });
  return top + (rows.length + 1) * LINE + GAP;
}

/** Matrices and signs from left to right; a new line where the width ends. */
function drawEquation(
  pen: Pen,
  { items }: Equation,
  scene: Scene,
  width: number,
  top: number,
  paint: (shown: Shown) => HTMLCanvasElement,
): number {
  const colours = palette(scene.theme);
  const boxes = items.map((item) => {
    if (typeof item === "string") return { item, width: item.length * 8 + 4, height: LINE };
    const at = layoutOf(item);
    return {
      item,
      at,
      width: Math.max(at.width, (item.label ?? item.name).length * 8 + 70),
      height: at.height + CAPTION,
    };
  });
  let bottom = top;
  for (const line of linesOf(boxes, width)) {
    const high = Math.max(...line.map((box) => box.height));
    let x = 0;
    for (const box of line) {
      const y = bottom + (high - box.height) / 2;
      if (typeof box.item === "string")
        pen.text(x, y + LINE / 2, box.item, { colour: colours.quiet, size: 15, mono: false });
      else {
        const { item } = box;
        const at = layoutOf(item);
        const moved = { ...at, left: at.left + x, top: at.top + y };
        const lit = item.map && scene.chosen ? [scene.chosen] : [];
        drawGrid(pen, paint(item), item, moved, lit, scene.theme);
        const size = `${item.label ?? item.name}   ${item.matrix.rows} × ${item.matrix.columns}`;
        pen.text(x + at.left, y + at.height + CAPTION / 2 + 2, size, { colour: colours.quiet, size: 12 });
      }
      x += box.width + GAP;
    }
    bottom += high + GAP;
  }
  return bottom + GAP / 2;
}

function linesOf<Box extends { width: number }>(boxes: readonly Box[], width: number): Box[][] {
  const lines: Box[][] = [[]];
  let x = 0;
  for (const box of boxes) {
    if (x && x + box.width > width) {
      lines.push([]);
      x = 0;
    }
    lines[lines.length - 1].push(box);
    x += box.width + GAP;
  }
  return lines;
}
