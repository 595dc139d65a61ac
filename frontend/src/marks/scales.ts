// Colours and numbers. One accent; colour only for data.

import { interpolateRgbBasis } from "d3-interpolate";
import { scaleSequential, scaleSequentialLog } from "d3-scale";
import themes from "../../../src/regard/views/themes.json";

export type Theme = "light" | "dark";

/**
 * Colour of a head, of 32 for each ground that stay apart for normal and colour-blind eyes (test/scales.test.ts
 * measures it); beyond 32 they repeat. Patches also carry the head's number: colour never stands alone.
 */
export function headColour(head: number, theme: Theme): string {
  const { heads } = themes[theme];
  return heads[head % heads.length];
}

/** The colour of a head's lines: on a dark ground brighter than its patch, for thin lines lose contrast. */
export function lineColour(head: number, theme: Theme): string {
  const colour = headColour(head, theme);
  if (theme === "light") return colour;
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const mixed = parts.map((part) => Math.round(part + LIFT * (255 - part)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

const LIFT = 0.35; // of the way to white

/** Black or white, whichever reads better on a colour. */
export function inkOn(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** Blue for positive, orange for negative: apart for colour-blind eyes too. */
export const SIGNS = { positive: "#2b6fd6", negative: "#e07b1a" };

/** The same for lines and bars: dark enough on each ground. */
export const signColour = (value: number, theme: Theme): string =>
  Number.isNaN(value) ? themes[theme].quiet : themes[theme][value < 0 ? "below" : "above"][3];

/** Ground, ink and accents of a picture. */
export interface Palette {
  theme: Theme;
  ground: string;
  ink: string;
  quiet: string;
  rule: string;
  accent: string;
  band: string;
}

export const palette = (theme: Theme): Palette => ({ theme, ...themes[theme] });

const perTheme = <T>(make: (colours: (typeof themes)[Theme]) => T): Record<Theme, T> => ({
  light: make(themes.light),
  dark: make(themes.dark),
});

// Even steps of lightness from the ground up, so that zero is the ground and twice the weight looks twice as far.
const RAMPS = perTheme(({ ramp }) => interpolateRgbBasis(ramp));

// Differences: from the ground to blue above zero, and to orange below.
const SIDES = perTheme(({ below, above }) => [interpolateRgbBasis(below), interpolateRgbBasis(above)]);

/** 511 colours (r, g, b each) of a difference: the middle one is zero, which is the ground. */
export function twoSided(theme: Theme): Uint8Array {
  const table = new Uint8Array(511 * 3);
  for (let i = 0; i < 511; i++) {
    const colour = SIDES[theme][i < 255 ? 0 : 1](Math.abs(i - 255) / 255);
    table.set(colour.match(/\d+/g)!.map(Number), 3 * i);
  }
  return table;
}

const LOG_FLOOR = 1e-4; // of the strongest: where a logarithmic scale begins

/** 256 colours (r, g, b each) of a map, from zero to the strongest. */
export function ramp(theme: Theme): Uint8Array {
  const scale = scaleSequential(RAMPS[theme]).domain([0, 255]);
  const table = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = scale(i).match(/\d+/g)!.map(Number);
    table.set([r, g, b], 3 * i);
  }
  return table;
}

// Where attention rests: from the ground to a middle grey, weaker than the colours of what is looked at.
const GREYS = perTheme(({ ground, quiet }) => {
  const grey = interpolateRgbBasis([ground, quiet]);
  return (share: number) => grey(0.75 * share);
});

/** The same in grey, for places where attention rests. */
export function greys(theme: Theme): Uint8Array {
  const table = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++)
    table.set(
      GREYS[theme](i / 255)
        .match(/\d+/g)!
        .map(Number),
      3 * i,
    );
  return table;
}

// How much something changes: a hue of its own, for blue is where a head looks.
const CHANGES = perTheme(({ change }) => interpolateRgbBasis(change));

const within = (share: number): number => Math.max(0, Math.min(1, share));

/** The colour of a share (0..1) of the strongest look. */
export const shades =
  (theme: Theme) =>
  (share: number): string =>
    RAMPS[theme](within(share));

/** The colour of a share (0..1) of the largest change. */
export const changeShades =
  (theme: Theme) =>
  (share: number): string =>
    CHANGES[theme](within(share));

/** Ticks beside a colour bar up to `top`: value, and how far up it stands (0..1). */
export function ticks(top: number, log: boolean): [value: number, at: number][] {
  if (!(top > 0)) return [[0, 0]];
  if (log) {
    const decades = Math.round(-Math.log10(LOG_FLOOR));
    return Array.from({ length: decades + 1 }, (_, i) => [top * 10 ** (i - decades), i / decades]);
  }
  const size = 10 ** Math.floor(Math.log10(top));
  const step = [0.1, 0.2, 0.25, 0.5, 1, 2].map((f) => f * size).find((s) => top / s <= 5.5) ?? size;
  const found: [number, number][] = [];
  for (let i = 0; i * step < top * 0.92; i++) found.push([i * step, (i * step) / top]);
  return [...found, [top, 1]];
}

/** Round numbers between two others, 0 among them where it lies there, and how they are written. */
export function roundTicks(low: number, high: number, most = 5): [value: number, text: string][] {
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = power * ([1, 2, 5].find((one) => (high - low) / (one * power) <= most) ?? 10);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => {
    const value = (first + i) * step;
    const text = Math.abs(value).toFixed(decimals);
    return [value, first + i === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`];
  });
}

/** A few colours of a map, from zero to the strongest, for a colour bar. */
export const rampStops = (theme: Theme, count = 9): string[] =>
  Array.from({ length: count }, (_, i) => RAMPS[theme](i / (count - 1)));

/** The same for changes. */
export const changeStops = (theme: Theme, count = 9): string[] =>
  Array.from({ length: count }, (_, i) => CHANGES[theme](i / (count - 1)));

export const STEPS = 64; // colours of which a colour bar is made

/** The colours of a difference for a colour bar: from the lowest to the highest, zero in the middle. */
export const twoSidedStops = (theme: Theme): string[] =>
  Array.from({ length: STEPS + 1 }, (_, i) => {
    const value = (2 * i) / STEPS - 1;
    return SIDES[theme][value < 0 ? 0 : 1](Math.abs(value));
  });

/** Values of a difference and where they stand on its colour bar: −top, 0 and top. */
export const twoSidedTicks = (top: number): [value: number, at: number][] =>
  top > 0
    ? [
        [-top, 0],
        [0, 0.5],
        [top, 1],
      ]
    : [[0, 0.5]];

/** The same where colours follow the square root: also a tenth of the largest. */
export const rootTicks = (top: number): [value: number, at: number][] =>
  [-1, -0.1, 0, 0.1, 1].map((share) => [
    share * top,
    0.5 + (Math.sign(share) * Math.sqrt(Math.abs(share))) / 2,
  ]);

/** Colour index (0..255) of a weight, linear or logarithmic up to `top`. */
export function indexer(top: number, log: boolean): (weight: number) => number {
  if (top <= 0) return () => 0;
  if (!log) return (weight) => Math.min(255, (weight / top) * 255) | 0;
  const scale = scaleSequentialLog((t: number) => t * 255).domain([top * LOG_FLOOR, top]);
  return (weight) => (weight <= top * LOG_FLOOR ? 0 : Math.min(255, scale(weight)) | 0);
}

export const SMALL = 0.001; // below it a weight is a dot where others are to be found

/** A number in a list: two significant digits, tiny ones only named as such. */
export function brief(value: number): string {
  if (value > 0 && value < SMALL) return "<0.001";
  return value >= 0.095 && value < 10 ? value.toFixed(2) : figure(value, value >= 0.01 ? 2 : 1);
}

/** A number of either sign in a list: +0.12, −0.020; what is not known is a question mark. */
export function signed(value: number): string {
  if (Number.isNaN(value)) return "?";
  const size = Math.abs(value);
  if (size < NOTHING) return size ? "≈ 0" : "0";
  const text = size >= 0.095 && size < 10 ? size.toFixed(2) : figure(size, size >= 0.01 ? 2 : 1);
  return (value < 0 ? "−" : "+") + text;
}

const NOTHING = 0.00005;

/** A share in hundredths, as every sentence and legend rounds it. */
export const percent = (share: number): number => Math.round(100 * share);

/** A share in a list, as people read it: 68%, 8.7%, 0.4%; tiny ones only named as such. */
export function hundredths(share: number): string {
  if (share > 0 && share < SMALL) return "<0.1%";
  return `${share >= 0.0995 || share < SMALL ? percent(share) : (100 * share).toFixed(1)}%`;
}

/** A difference or a share, with its sign. */
export const withSign = (value: number, digits = 2): string => (value > 0 ? "+" : "") + figure(value, digits);

/** A number with so many decimals and a real minus sign: what every view writes. */
export const decimals = (value: number, places: number): string => value.toFixed(places).replace("-", "−");

/** A number as people read it: three significant digits, small ones as 0.00012, never 1.2e-4. */
export function figure(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size < -6) return value > 0 ? "< 0.000001" : "> −0.000001";
  return decimals(value, Math.max(0, Math.min(9, digits - 1 - size)));
}

const WHOLE = 100;

/** Shares in whole percent that add up to 100: those that lose most by rounding down are rounded up. */
export function inWholes(shares: readonly number[]): number[] {
  const sum = shares.reduce((a, b) => a + b, 0) || 1;
  const exact = shares.map((share) => (WHOLE * share) / sum);
  const found = exact.map(Math.floor);
  const lost = exact.map((one, i) => [one - found[i], i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const left = WHOLE - found.reduce((a, b) => a + b, 0);
  for (const [, i] of lost.slice(0, left)) found[i]++;
  return found;
}
