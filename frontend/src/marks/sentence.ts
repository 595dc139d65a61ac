// A text set as text, with arcs between its words.

import { type Axis, isSpaced } from "../compute/axis";
import { type Ink, measure, type Pen } from "./pen";
import type { Palette } from "./scales";

/** How a curve is drawn. */
export interface Stroke extends Ink {
  width: number;
}

/** A word on the page: its left edge, the middle of its height. */
export interface Placed {
  position: number;
  text: string;
  index: string; // its position, where the text occurs twice
  x: number;
  y: number;
  width: number;
  line: number;
}

export interface Setting {
  words: Placed[];
  at: Map<number, Placed>; // by position
  size: number; // of letters
  line: number; // from line to line
  lines: number;
  span: number; // of the longest line
  height: number;
}

const CLOSING = /^[.,;:!?%)\]}’”…，。；：！？、）】》」]+$/u;
const OPENING = /^[([{“‘（【《「]+$/u;
const WIDE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A token as it stands in a text, and whether a space comes before it. */
function pieces(axis: Axis, list: readonly number[]): { text: string; spaced: boolean }[] {
  const { text: tokens } = axis.side;
  const marked = tokens.some(isSpaced);
  return list.map((position, i) => {
    const label = axis.labels[position];
    const text = label.replace(/^##(?=.)/, "");
    const before = i ? list[i - 1] : -1;
    const { word } = axis.side;
    const [own, former] = [axis.starts[position], before < 0 ? -1 : axis.starts[before]];
    const joined = former >= 0 && (word?.[own] ?? null) !== null && word?.[own] === word?.[former];
    const tight =
      /^##./.test(label) ||
      joined ||
      CLOSING.test(text) ||
      (former >= 0 && OPENING.test(axis.labels[before])) ||
      (WIDE.test(text) && former >= 0 && WIDE.test(axis.labels[before]));
    return { text, spaced: axis.special[position] || (marked ? isSpaced(tokens[own]) : !tight) };
  });
}

const FEW = 80; // words up to which those that occur twice carry their positions
const SMALL = 0.46; // of the size of a word: its position

/** The position that a word carries in its name, in plain digits; marks carry none: two numbers would run together. */
const indexOf = ({ names, labels }: Axis, position: number): string =>
  /[\p{L}\p{N}]/u.test(labels[position])
    ? names[position]
        .slice(labels[position].length)
        .replace(/[₀-₉]/g, (digit) => String(digit.charCodeAt(0) - "₀".charCodeAt(0)))
    : "";

const indexWide = (index: string, size: number): number =>
  index ? measure(index, SMALL * size, false) + 1 : 0;

export const EDGE = 3; // room for the frame of a word

/** The same in as few lines, each about as long as the others: no word is left alone in the last. */
export function balanced(
  axis: Axis,
  list: readonly number[],
  width: number,
  room: number,
  look: Look,
): Setting {
  const plain = setting(axis, list, width, room, look);
  if (plain.lines === 1) return plain;
  let best = plain;
  for (let wide = 0.96 * width; wide > width / 2; wide -= 0.04 * width) {
    const tried = setting(axis, list, wide, room, look);
    if (tried.lines > plain.lines) break;
    best = tried;
  }
  const left = (width - best.span) / 2 - EDGE; // in the middle of what is free
  for (const word of best.words) word.x += Math.max(0, left);
  return best;
}

interface Look {
  size: number;
  least: number; // that a word is wide
  above: number; // where the text begins
  apart?: number; // from line to line at least, in sizes of its letters; room for arcs where nothing is said
}

/** Words in lines; lines as far apart as `room` allows. Positions make no second line, but letters a little smaller. */
export function setting(
  axis: Axis,
  list: readonly number[],
  width: number,
  room: number,
  look: Look,
): Setting {
  const plain = placedIn(axis, list, width, room, look, false);
  if (list.length > FEW) return plain;
  const whole = placedIn(axis, list, width, room, look, true);
  if (plain.lines > 1 || whole.lines === 1) return whole;
  const smaller = SMALLER.map((part) => part * look.size).filter((size) => size >= LEAST);
  const tried = smaller.map((size) => placedIn(axis, list, width, room, { ...look, size }, true));
  return tried.find(({ lines }) => lines === 1) ?? plain;
}

const SMALLER = [0.95, 0.9, 0.85, 0.8]; // letters may be this much smaller before positions are left out
const LEAST = 14; // pixels of a letter that reads well

const ROOMY = 2.9;

function placedIn(
  axis: Axis,
  list: readonly number[],
  width: number,
  room: number,
  { size, least, above, apart: close = ROOMY }: Look,
  indexed: boolean,
): Setting {
  const words: Placed[] = [];
  const space = size * 0.34;
  const inner = width - 2 * EDGE;
  let x = 0;
  let line = 0;
  pieces(axis, list).forEach(({ text, spaced }, i) => {
    const index = indexed ? indexOf(axis, list[i]) : "";
    const wide = Math.min(inner, Math.max(least, measure(text, size, false) + 2 + indexWide(index, size)));
    if (spaced && x > 0) x += space;
    if (x > 0 && x + wide > inner) {
      x = 0;
      line++;
    }
    words.push({ position: list[i], text, index, x, y: 0, width: wide, line });
    x += wide;
    if (text.includes("⏎")) {
      x = 0;
      line++;
    }
  });
  const lines = (words.at(-1)?.line ?? 0) + 1;
  const apart = Math.max(size * close, Math.min(size * (lines > 2 ? 7 : 16), room / lines));
  for (const word of words) word.y = above + (word.line + 0.5) * apart;
  // A single line stands in the middle of what is free.
  const left = lines === 1 ? (width - x) / 2 : EDGE;
  for (const word of words) word.x += left;
  return {
    words,
    at: new Map(words.map((word) => [word.position, word])),
    size,
    line: apart,
    lines,
    span: Math.max(0, ...words.map((word) => word.x + word.width)) - Math.min(...words.map((word) => word.x)),
    height: lines * apart,
  };
}

/** How an arc is drawn. */
export interface Stroke {
  colour: string;
  alpha: number;
  width: number;
  dashed?: boolean;
}

/** A point of an arc, from 0 where it begins to 1 where it ends. */
export type Along = (t: number) => [x: number, y: number];

/** How high an arc reaches: where the longest would not fit, all are lower, and none is flat. */
function liftOf(wide: number, span: number, room: number): number {
  const [wanted, most] = [10 + RISE * wide, 10 + RISE * span];
  return most <= room ? wanted : room * (wanted / most) ** 0.6;
}

const RISE = 0.36; // of its width

/** An arc from word to word, over or under the line, or between lines that face each other; returns its points. */
export function arc(
  pen: Pen,
  from: Placed,
  to: Placed,
  { size, line, span }: Setting,
  over: boolean,
  top: number,
  ink: Stroke,
): Along {
  const side = over ? -1 : 1;
  if (from.line !== to.line && Math.sign(to.line - from.line) === side)
    return bridge(pen, from, to, size, top, ink);
  const half = size * 0.72;
  const own = from === to;
  const [x1, x2] = [from.x + from.width / 2 - (own ? 7 : 0), to.x + to.width / 2 + (own ? 7 : 0)];
  const [y1, y2] = [from.y + side * half - top, to.y + side * half - top];
  const room = line / 2 - half - 4;
  const lift = (side * Math.min(room, own ? 18 : liftOf(Math.abs(x2 - x1), span, room))) / 0.75;
  return curve(pen, [x1, y1, x1, y1 + lift, x2, y2 + lift, x2, y2], ink);
}

/** An arc from a word of one text to one of the other, which stands above or below it. */
export function bridge(pen: Pen, from: Placed, to: Placed, size: number, top: number, ink: Stroke): Along {
  const half = size * 0.72 * Math.sign(to.y - from.y);
  const [x1, x2] = [from.x + from.width / 2, to.x + to.width / 2];
  const [y1, y2] = [from.y + half - top, to.y - half - top];
  return curve(pen, [x1, y1, x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2], ink);
}

function curve(pen: Pen, points: readonly number[], { width, ...ink }: Stroke): Along {
  pen.curve?.(points, width, ink);
  const [x1, y1, a, b, c, d, x2, y2] = points;
  return (t) => {
    const [w0, w1, w2, w3] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
    return [w0 * x1 + w1 * a + w2 * c + w3 * x2, w0 * y1 + w1 * b + w2 * d + w3 * y2];
  };
}

export const TINTED = 0.55; // the opacity of a tint at full strength

/** Tint behind a word: a band for each head. */
export function tint(
  pen: Pen,
  word: Placed,
  size: number,
  top: number,
  strengths: readonly number[],
  colours: readonly string[],
): void {
  const high = size * 1.36;
  const band = high / strengths.length;
  strengths.forEach((strength, h) => {
    if (strength > 0.03)
      pen.rect(word.x - 1, word.y - top - high / 2 + h * band, word.width + 2, band, {
        colour: colours[h],
        alpha: TINTED * strength,
      });
  });
}

/** The words themselves; lit ones are framed, pinned ones underlined. */
export function writing(
  pen: Pen,
  { words, size }: Setting,
  axis: Axis,
  top: number,
  height: number,
  state: { lit: ReadonlySet<number>; pinned: ReadonlySet<number>; tinted?: boolean }, // special tokens, too
  colours: Palette,
): void {
  for (const word of words) {
    const y = word.y - top;
    if (y < -size || y > height + size) continue;
    const { position, x, width, text, index } = word;
    const high = size * 1.36;
    if (state.lit.has(position)) {
      const [l, t, r, b] = [x - 1.5, y - high / 2, x + width + 1.5, y + high / 2];
      pen.lines([l, t, r, t, r, t, r, b, r, b, l, b, l, b, l, t], 4, 1.5, { colour: colours.ink });
    }
    if (state.pinned.has(position))
      pen.rect(x - 1, y + high / 2 + 1, width + 2, 3, { colour: colours.accent });
    const own = axis.special[position] ? size * 0.8 : size;
    const middle = x + (width - indexWide(index, size)) / 2;
    pen.text(middle, y, text, {
      colour: axis.special[position] && !state.tinted ? colours.quiet : colours.ink,
      size: own,
      mono: false,
      align: "middle",
    });
    if (index)
      pen.text(middle + measure(text, own, false) / 2 + 1, y + 0.3 * size, index, {
        colour: colours.quiet,
        size: SMALL * size,
        mono: false,
      });
  }
}
