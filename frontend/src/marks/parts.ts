// Where a part of a text ends and another begins (what a model was given and what it wrote, the turns of a
// conversation): a rule with their names, on every axis.

import { type Axis, type Bound, boundsOf } from "../compute/axis";
import type { Frame, Zoom } from "./axes";
import { GAP, type Geometry } from "./columns";
import { measure, type Pen } from "./pen";
import type { Palette } from "./scales";
import { EDGE, type Setting } from "./sentence";

export type PartName = (part: string) => string; // what a part is called

const BESIDE = 9; // pixels from a rule to the middle of its name
const LETTERS = 11; // pixels of a name
const LINE = 15; // pixels that a name needs

/** The answer stands out; turns before it are quiet. */
const inkOf = ({ after }: Bound, colours: Palette): string =>
  after === "answer" ? colours.accent : colours.quiet;

/** Rules where another part begins, named at the left: across both columns where it begins in both at one height. */
export function divideColumns(
  pen: Pen,
  rows: readonly Bound[],
  columns: readonly Bound[],
  g: Geometry,
  top: number,
  name: PartName,
  colours: Palette,
): void {
  const [start, end] = [g.left - g.text - GAP - g.before, g.right + g.text + GAP + g.strip];
  const both = (bound: Bound) => columns.some(({ at, after }) => at === bound.at && after === bound.after);
  const rule = (bound: Bound, from: number, to: number) => {
    const y = bound.at * g.row - top;
    const ink = { colour: inkOf(bound, colours), alpha: 0.7 };
    pen.lines([from, y, to, y], 1, bound.after === "answer" ? 1.5 : 0.75, ink);
    return y;
  };
  const textOf = ({ before, after }: Bound) =>
    `${after === "answer" ? `${name(before)} ↑ | ` : ""}↓ ${name(after)}`;
  for (const bound of rows) {
    const y = rule(bound, start, both(bound) ? end : g.left);
    const text = textOf(bound);
    const fits = measure(text, LETTERS, false) <= g.before + GAP + g.text / 2; // else it covers words
    tag(pen, fits ? start + 2 : g.left + GAP, y, text, "start", inkOf(bound, colours), colours);
  }
  for (const bound of columns) {
    if (rows.some(({ at, after }) => at === bound.at && after === bound.after)) continue;
    const y = rule(bound, g.right, end);
    tag(pen, g.right - GAP, y, textOf(bound), "end", inkOf(bound, colours), colours); // bars have their numbers behind
  }
}

/** Rules before the words with which another part begins. */
export function divideText(
  pen: Pen,
  { words, size }: Setting,
  bounds: readonly Bound[],
  top: number,
  name: PartName | null, // null: rules alone
  colours: Palette,
): void {
  for (const bound of bounds) {
    const [last, first] = [words[bound.at - 1], words[bound.at]];
    const x = first.line === last.line ? (last.x + last.width + first.x) / 2 : first.x - EDGE + 1;
    const y = first.y - top;
    const own = bound.after === "answer";
    const colour = inkOf(bound, colours);
    pen.lines([x, y - size, x, y + size * 1.2], 1, own ? 1.5 : 0.75, { colour });
    if (!name) continue;
    tag(pen, x + 4, y + size * 1.1, name(bound.after), "start", colour, colours);
    if (!own) continue;
    const end = first.line === last.line ? x - 4 : last.x + last.width;
    tag(pen, end, last.y - top + size * 1.1, name(bound.before), "end", colour, colours);
  }
}

/** Rules between the segments of a map; names of parts stand where a causal map is empty. */
export function divideMap(
  pen: Pen,
  rows: Axis,
  columns: Axis,
  frame: Frame,
  zoom: Zoom,
  name: PartName,
  colours: Palette,
): void {
  const right = Math.min(frame.left + frame.width, frame.left + (columns.count - zoom.x) * zoom.scale);
  const bottom = Math.min(frame.top + frame.height, frame.top + (rows.count - zoom.y) * zoom.scale);
  const ink = (bound: Bound | undefined) =>
    bound?.after === "answer" ? { colour: colours.accent } : { colour: colours.quiet, alpha: 0.5 };
  const named = new Map(allBounds(rows).map((bound) => [bound.at, bound]));
  let free = frame.top; // where the next name has room
  for (const p of ends(rows)) {
    const y = frame.top + (p - zoom.y) * zoom.scale;
    if (y <= frame.top || y >= bottom) continue;
    const bound = named.get(p);
    pen.lines([frame.left, y, right, y], 1, 0.75, ink(bound));
    if (!bound || (y < free && bound.after !== "answer")) continue;
    free = y + LINE;
    if (bound.after === "answer")
      tag(pen, right - 4, y - BESIDE, name(bound.before), "end", inkOf(bound, colours), colours);
    tag(pen, right - 4, y + BESIDE, name(bound.after), "end", inkOf(bound, colours), colours);
  }
  const across = new Map(allBounds(columns).map((bound) => [bound.at, bound]));
  free = frame.left;
  for (const p of ends(columns)) {
    const x = frame.left + (p - zoom.x) * zoom.scale;
    if (x <= frame.left || x >= right) continue;
    const bound = across.get(p);
    pen.lines([x, frame.top, x, bottom], 1, 0.75, ink(bound));
    if (!bound || (x < free && bound.after !== "answer")) continue;
    free = x + 8 + measure(name(bound.after), 11, false);
    if (bound.after === "answer" && across.size === 1)
      tag(pen, x - 4, frame.top + BESIDE, name(bound.before), "end", inkOf(bound, colours), colours);
    tag(pen, x + 4, frame.top + BESIDE, name(bound.after), "start", inkOf(bound, colours), colours);
  }
}

const allBounds = (axis: Axis): Bound[] => boundsOf(axis, [...axis.labels.keys()]);

/** Positions with which another segment begins. */
const ends = ({ segment }: Axis): number[] =>
  [...segment.keys()].filter((p) => p > 0 && segment[p] !== segment[p - 1]);

/** A small name on the ground. */
function tag(
  pen: Pen,
  x: number,
  y: number,
  text: string,
  align: "start" | "end",
  colour: string,
  colours: Palette,
): void {
  const wide = measure(text, LETTERS, false);
  pen.rect(align === "end" ? x - wide - 2 : x - 2, y - 7, wide + 4, 14, {
    colour: colours.ground,
    alpha: 0.9,
  });
  pen.text(x, y, text, { colour, size: LETTERS, align, mono: false });
}
