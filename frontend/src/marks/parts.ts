// Where the text that a model was given ends and what it wrote begins: a rule with the names of both, on every axis.

import { type Axis, answerAt } from "../compute/axis";
import type { Frame, Zoom } from "./axes";
import { GAP, type Geometry } from "./columns";
import { measure, type Pen } from "./pen";
import type { Palette } from "./scales";
import { EDGE, type Setting } from "./sentence";

export type Parts = readonly [prompt: string, answer: string]; // what the two are called

/** A rule beside a column, between what the model was given and what it wrote from row `at` on. */
export function divideColumn(
  pen: Pen,
  at: number,
  side: "query" | "key",
  g: Geometry,
  top: number,
  [prompt, answer]: Parts,
  colours: Palette,
): void {
  const y = at * g.row - top;
  const away = side === "query" ? -1 : 1;
  const near = side === "query" ? g.left : g.right;
  const far = near + away * (g.text + GAP + g.strip);
  pen.lines([near, y, far, y], 1, 1.5, { colour: colours.accent });
  tag(pen, far - away * 2, y, `${prompt} ↑ | ↓ ${answer}`, away > 0 ? "end" : "start", colours);
}

/** A rule before word `at`, from which on the model wrote; what it was given ends with the word before. */
export function divideText(
  pen: Pen,
  { words, size }: Setting,
  at: number,
  top: number,
  [prompt, answer]: Parts,
  colours: Palette,
): void {
  const [last, first] = [words[at - 1], words[at]];
  const x = first.line === last.line ? (last.x + last.width + first.x) / 2 : first.x - EDGE + 1;
  const y = first.y - top;
  pen.lines([x, y - size, x, y + size * 1.2], 1, 1.5, { colour: colours.accent });
  tag(pen, x + 4, y + size * 1.1, answer, "start", colours);
  const end = first.line === last.line ? x - 4 : last.x + last.width;
  tag(pen, end, last.y - top + size * 1.1, prompt, "end", colours);
}

/** Rules between the segments of a map; names of prompt and answer stand where a causal map is empty. */
export function divideMap(
  pen: Pen,
  rows: Axis,
  columns: Axis,
  frame: Frame,
  zoom: Zoom,
  [prompt, answer]: Parts,
  colours: Palette,
): void {
  const right = Math.min(frame.left + frame.width, frame.left + (columns.count - zoom.x) * zoom.scale);
  const bottom = Math.min(frame.top + frame.height, frame.top + (rows.count - zoom.y) * zoom.scale);
  const ink = (axis: Axis, p: number) =>
    p === answerOf(axis) ? { colour: colours.accent } : { colour: colours.quiet, alpha: 0.5 };
  for (const p of ends(rows)) {
    const y = frame.top + (p - zoom.y) * zoom.scale;
    if (y <= frame.top || y >= bottom) continue;
    pen.lines([frame.left, y, right, y], 1, 0.75, ink(rows, p));
    if (p !== answerOf(rows)) continue;
    tag(pen, right - 4, y - BESIDE, prompt, "end", colours);
    tag(pen, right - 4, y + BESIDE, answer, "end", colours);
  }
  for (const p of ends(columns)) {
    const x = frame.left + (p - zoom.x) * zoom.scale;
    if (x <= frame.left || x >= right) continue;
    pen.lines([x, frame.top, x, bottom], 1, 0.75, ink(columns, p));
    if (p !== answerOf(columns)) continue;
    tag(pen, x - 4, frame.top + BESIDE, prompt, "end", colours);
    tag(pen, x + 4, frame.top + BESIDE, answer, "start", colours);
  }
}

const answerOf = (axis: Axis): number | null => answerAt(axis, [...axis.labels.keys()]);

/** Positions with which another segment begins. */
const ends = ({ segment }: Axis): number[] =>
  [...segment.keys()].filter((p) => p > 0 && segment[p] !== segment[p - 1]);

const BESIDE = 9; // pixels from a rule to the middle of its name

/** A small name on the ground. */
function tag(pen: Pen, x: number, y: number, text: string, align: "start" | "end", colours: Palette): void {
  const size = 11;
  const wide = measure(text, size, false);
  pen.rect(align === "end" ? x - wide - 2 : x - 2, y - 7, wide + 4, 14, {
    colour: colours.ground,
    alpha: 0.9,
  });
  pen.text(x, y, text, { colour: colours.accent, size, align, mono: false });
}
