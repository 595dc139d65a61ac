// What colours and strengths of a saved picture mean: bars with ticks, and swatches.

import { opacityOn, strengthOf } from "./columns";
import { measure, type Pen } from "./pen";
import { figure, type Palette, rampStops, STEPS, type Theme, ticks, twoSidedStops } from "./scales";

const SMALL = 11;
const THICK = 12; // of a colour bar

/** Room that a colour bar takes beside a map. */
export const BAR_ROOM = 84;

type Marks = readonly (readonly [value: number, at: number])[]; // ticks of numbers of both signs

/** The colours of a map from zero to `top`, or of both signs, with ticks and a name, beside (x, y). */
export function colourBar(
  pen: Pen,
  [x, y]: readonly [number, number],
  height: number,
  { top, log, name, marks }: { top: number; log: boolean; name: string; marks?: Marks },
  colours: Palette,
): void {
  const stops = marks ? twoSidedStops(colours.theme) : rampStops(colours.theme, STEPS);
  const step = height / stops.length;
  stops.forEach((colour, i) => {
    pen.rect(x, y + height - (i + 1) * step, THICK, step + 0.5, { colour });
  });
  const edge = [x, y, x + THICK, y + height];
  pen.lines(frameOf(edge), 4, 1, { colour: colours.rule });
  for (const [value, at] of marks ?? ticks(top, log)) {
    const level = y + height * (1 - at);
    pen.lines([x + THICK, level, x + THICK + 4, level], 1, 1, { colour: colours.quiet });
    pen.text(x + THICK + 7, level, figure(value, 2), { colour: colours.quiet, size: SMALL, mono: false });
  }
  const beside = { colour: colours.quiet, size: SMALL, mono: false, turned: true, align: "middle" } as const;
  pen.text(x + THICK + 52, y + height / 2, name, beside);
}

/** Colours in a row below a map, with ticks; returns where it ends. */
export function colourRow(
  pen: Pen,
  [x, y]: readonly [number, number],
  width: number,
  { stops, ticks: marks }: { stops: readonly string[]; ticks: readonly (readonly [number, number])[] },
  colours: Palette,
): number {
  const step = width / stops.length;
  stops.forEach((colour, i) => {
    pen.rect(x + i * step, y, step + 0.5, ROW_THICK, { colour });
  });
  pen.lines(frameOf([x, y, x + width, y + ROW_THICK]), 4, 1, { colour: colours.rule });
  const bottom = y + ROW_THICK;
  for (const [value, at] of marks) {
    const place = x + width * at;
    pen.lines([place, bottom, place, bottom + 4], 1, 1, { colour: colours.quiet });
    const align = at > 0.9 ? "end" : at < 0.1 ? "start" : "middle"; // within the row
    pen.text(place, bottom + 12, figure(value, 2), {
      colour: colours.quiet,
      size: SMALL,
      mono: false,
      align,
    });
  }
  return y + COLOUR_ROW;
}

const ROW_THICK = 8;
export const COLOUR_ROW = ROW_THICK + 22; // a row of colours with its numbers

const frameOf = ([l, t, r, b]: readonly number[]): number[] => [
  ...[l, t, r, t],
  ...[r, t, r, b],
  ...[r, b, l, b],
  ...[l, b, l, t],
];

/** The names of two axes of a map: keys above it, queries at its left. */
export function axisNames(
  pen: Pen,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
  names: { query: string; key: string },
  colours: Palette,
): void {
  const ink = { colour: colours.quiet, size: SMALL, mono: false, align: "middle" } as const;
  pen.text(left + width / 2, 6, names.key, ink);
  pen.text(6, top + height / 2, names.query, { ...ink, turned: true });
}

const ROW = 18; // height of a row of swatches

/** Lines of a few strengths, and of the heads' colours, each with what it stands for; returns the height. */
export function swatches(
  pen: Pen,
  y: number,
  width: number,
  entries: readonly { colour: string; alpha?: number; text: string }[],
  name: string,
  colours: Palette,
): number {
  const ink = { colour: colours.quiet, size: SMALL, mono: false };
  let [x, row] = [0, y + ROW / 2];
  pen.text(0, row, name, ink);
  x += measure(name, SMALL, false) + 12;
  for (const { colour, alpha, text } of entries) {
    const wide = 24 + measure(text, SMALL, false) + 14;
    if (x + wide > width) [x, row] = [0, row + ROW];
    pen.rect(x, row - 2, 20, 4, { colour, alpha });
    pen.text(x + 24, row, text, ink);
    x += wide;
  }
  return row + ROW / 2 - y;
}

/** Weights of a few strengths up to the strongest, and how they are written. */
export function strengths(top: number): [value: number, text: string][] {
  const below = TICKS.filter((tick) => tick < 0.85 * top).slice(1 - SWATCHES);
  return [...below.map((tick): [number, string] => [tick, String(tick)]), [top, figure(top, 2)]];
}

const TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];
const SWATCHES = 4;

/** A row of strengths, as they are drawn in one colour. */
export const strengthEntries = (top: number, colour: string, theme: Theme) =>
  strengths(top).map(([value, text]) => ({ colour, alpha: opacityOn(theme, strengthOf(value, top)), text }));
