// The picture of a sound: its spectrogram over time, a curve below it, and a row for every word.

import { sayIn } from "../../frame/context";
import { heat } from "../../marks/heat";
import { BAR_ROOM, colourBar, colourRow } from "../../marks/legend";
import { elided, type Pen } from "../../marks/pen";
import { hundredths, type Palette, palette, rampStops, STEPS as SHADES } from "../../marks/scales";
import type { Store } from "../../state/store";
import { listedName } from "../../words/quoted";
import { curveOf, type Heard, type Listened, type Pointed, restIn } from "./scene";

export interface Layout {
  left: number; // room for words
  width: number; // of the time axis
  spectrogram: number; // heights
  axis: number;
  curve: number;
  gap: number; // between the curve and the rows
  row: number;
  beside: boolean; // the colours of the rows are explained at their right, else below them
}

const MANY = 24; // words from which rows are lower

/** Where things are drawn in so much width. */
export function layoutOf(heard: Heard, width: number, narrow: boolean): Layout {
  const left = narrow ? 74 : 120;
  const gap = restIn(heard) ? MARK : 12;
  const parts = narrow
    ? { spectrogram: 72, axis: 20, curve: 40, gap, row: 24 }
    : { spectrogram: 80, axis: 20, curve: 44, gap, row: heard.words.length > MANY ? 18 : 23 };
  const beside = heard.words.length > 0 && !narrow;
  return { left, width: Math.max(40, width - left - (beside ? BAR_ROOM + 4 : 8)), ...parts, beside };
}

const topOf = ({ spectrogram, axis, curve, gap }: Layout): number => spectrogram + axis + curve + gap;

/** How high the picture is. */
export const heightOf = (heard: Heard, layout: Layout): number =>
  topOf(layout) + heard.words.length * layout.row + 8 + keyHeight(heard, layout);

/** Room below the rows for what their colours mean, where there is none beside them. */
const keyHeight = (heard: Heard, { beside }: Layout): number => (heard.words.length && !beside ? 44 : 0);

const MARK = 22; // height of the line above the rows that says where heads rest

/** What lies at a point. */
export function pointedAt(heard: Heard, layout: Layout, x: number, y: number): Pointed {
  const frame = Math.floor(((x - layout.left) / layout.width) * heard.frames);
  const word = Math.floor((y - topOf(layout)) / layout.row);
  return {
    frame: frame >= 0 && frame < heard.frames ? frame : null,
    word: word >= 0 && word < heard.words.length ? word : null,
  };
}

const pictures = new WeakMap<Listened["medium"], Map<string, HTMLCanvasElement>>();

/** The spectrogram as an image, high pitch at the top. */
function spectrogramOf({ medium }: Listened, theme: "light" | "dark"): HTMLCanvasElement | null {
  if (!medium.features) return null;
  const known = pictures.get(medium) ?? new Map<string, HTMLCanvasElement>();
  pictures.set(medium, known);
  let canvas = known.get(theme);
  if (!canvas) {
    const [bands, columns] = medium.features.shape;
    const loud = medium.features.raw();
    const upright = new Uint8Array(loud.length);
    for (let band = 0; band < bands; band++)
      upright.set(loud.subarray(band * columns, (band + 1) * columns), (bands - 1 - band) * columns);
    canvas = document.createElement("canvas");
    heat(canvas, upright, bands, columns, 255, false, theme, () => true); // grey: colour is for attention
    known.set(theme, canvas);
  }
  return canvas;
}

const rasters = new WeakMap<Heard, Map<string, HTMLCanvasElement>>();

/** Every word's row, each scaled to its own maximum. */
function rasterOf(heard: Heard, theme: "light" | "dark"): HTMLCanvasElement {
  const known = rasters.get(heard) ?? new Map<string, HTMLCanvasElement>();
  rasters.set(heard, known);
  let canvas = known.get(theme);
  if (!canvas) {
    const { words, frames, values } = heard;
    const shares = new Float32Array(values.length);
    for (let word = 0; word < words.length; word++) {
      const row = values.subarray(word * frames, (word + 1) * frames);
      const top = row.reduce((a, b) => Math.max(a, b), 1e-12);
      for (let frame = 0; frame < frames; frame++) shares[word * frames + frame] = row[frame] / top;
    }
    canvas = document.createElement("canvas");
    heat(canvas, shares, words.length, frames, 1, false, theme);
    known.set(theme, canvas);
  }
  return canvas;
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5];
const APART = 56; // pixels between two numbers of the axis

/** What does not change with the pointer: spectrogram, axis, rows. */
export function drawBack(pen: Pen, store: Store, heard: Heard, layout: Layout): void {
  const theme = store.theme.value;
  const colours = palette(theme);
  const { left, width, spectrogram } = layout;
  const image = spectrogramOf(heard, theme);
  if (image) pen.image(image, left, 0, width, spectrogram);
  const [seconds] = heard.medium.size;
  const step = STEPS.find((one) => (one / seconds) * width >= APART) ?? 5;
  for (let n = 0; n * step <= seconds + 1e-9; n++) {
    const x = left + (width * n * step) / seconds;
    pen.rect(x, spectrogram, 1, 5, { colour: colours.quiet });
    const align = n * step > 0.97 * seconds ? "end" : "start";
    const unit = n ? "" : " s";
    pen.text(x + (n && align === "start" ? -6 : 0), spectrogram + 13, `${+(n * step).toFixed(1)}${unit}`, {
      colour: colours.quiet,
      size: 12,
      align,
      mono: false,
    });
  }
  const quiet = { colour: colours.quiet, size: 11, mono: false, align: "end" as const };
  const tell = sayIn(store);
  if (image) {
    pen.text(left - 8, 7, tell("soundHigh"), quiet);
    pen.text(left - 8, spectrogram - 7, tell("soundLow"), quiet);
  }
  if (!heard.words.length) return;
  const top = topOf(layout);
  pen.image(rasterOf(heard, theme), left, top, width, heard.words.length * layout.row);
  heard.names.forEach((name, n) => {
    const y = top + (n + 0.5) * layout.row;
    pen.text(left - 8, y, elided(listedName(name), left - 14, 13), { colour: colours.ink, align: "end" });
  });
  key(pen, heard, layout, tell("soundBar"), colours);
  const rest = restIn(heard);
  if (!rest) return;
  const x = left + ((rest.frame + 0.5) / heard.frames) * width;
  const text = `▼ ${sayIn(store)("soundRestMark")}`;
  pen.text(x - 5, top - 8, text, { colour: colours.quiet, size: 12, mono: false });
}

/** What the colours of the rows mean. */
function key(pen: Pen, heard: Heard, layout: Layout, name: string, colours: Palette): void {
  const { left, width, row, beside } = layout;
  const top = topOf(layout);
  const high = heard.words.length * row;
  if (beside) {
    const bar = { top: 1, log: false, name };
    colourBar(pen, [left + width + 16, top], Math.max(BAR.least, Math.min(high, BAR.most)), bar, colours);
    return;
  }
  const y = heightOf(heard, layout) - keyHeight(heard, layout) + 4;
  pen.text(left, y + 4, name, { colour: colours.quiet, size: 11, mono: false });
  const stops = rampStops(colours.theme, SHADES);
  const marks = [0, 0.5, 1].map((share): [number, number] => [share, share]);
  colourRow(pen, [left, y + 14], Math.min(width, BAR.most), { stops, ticks: marks }, colours);
}

const BAR = { least: 60, most: 240 }; // pixels
const VEIL = 0.3; // over the rows of other words, while one is meant; their names stay as they are

/** What follows the pointer: the curve, the word and moment that are meant, and where it plays. */
export function drawFront(
  pen: Pen,
  store: Store,
  heard: Heard,
  layout: Layout,
  pointed: Pointed,
  playing: number | null,
): void {
  const colours = palette(store.theme.value);
  const { left, width, spectrogram, axis, curve } = layout;
  const base = spectrogram + axis + curve;
  const values = curveOf(heard, pointed);
  const most = values.reduce((a, b) => Math.max(a, b), 1e-12);
  const bar = width / heard.frames;
  for (let frame = 0; frame < heard.frames; frame++) {
    const high = (values[frame] / most) * (curve - 4);
    if (high < 0.5) continue;
    const x = left + frame * bar;
    pen.rect(x, base - high, Math.max(1, bar), high, { colour: colours.accent, alpha: 0.85 });
    if (pointed.word !== null || !heard.words.length)
      pen.rect(x, 0, Math.max(1, bar), spectrogram, {
        colour: colours.accent,
        alpha: 0.55 * (values[frame] / most),
      });
  }
  pen.rect(left, base, width, 1, { colour: colours.rule });
  const chosen = pointed.word !== null || !heard.words.length;
  if (most > 1e-9) scale(pen, layout, most, sayIn(store)(chosen ? "soundCurve" : "soundCurveMean"), colours);
  const top = topOf(layout);
  const bottom = top + heard.words.length * layout.row;
  if (pointed.word !== null) {
    const y = top + pointed.word * layout.row;
    const veil = { colour: colours.ground, alpha: VEIL };
    pen.rect(left, top, width, y - top, veil);
    pen.rect(left, y + layout.row, width, bottom - y - layout.row, veil);
    const name = elided(listedName(heard.names[pointed.word]), left - 14, 13);
    pen.text(left - 8, y + layout.row / 2, name, { colour: colours.ink, align: "end", bold: true });
    pen.lines([0, y, left + width, y, 0, y + layout.row, left + width, y + layout.row], 2, 1, {
      colour: colours.ink,
    });
  }
  const upright = (frame: number, colour: string, wide: number) =>
    pen.rect(left + frame * bar + bar / 2 - wide / 2, 0, wide, bottom, { colour });
  if (pointed.frame !== null) upright(pointed.frame, colours.ink, 1);
  if (playing !== null) upright(playing / heard.step - 0.5, colours.accent, 2);
}

/** How high the curve goes, and what it is. */
function scale(pen: Pen, layout: Layout, most: number, name: string, colours: Palette): void {
  const { left, spectrogram, axis, curve } = layout;
  const base = spectrogram + axis + curve;
  const quiet = { colour: colours.quiet, size: 11, mono: false, align: "end" as const };
  const levels: [number, string][] = [
    [base - curve + 7, hundredths(most)],
    [base - curve / 2, name],
    [base - 5, "0"],
  ];
  for (const [y, text] of levels) pen.text(left - 8, y, text, quiet);
}

/** The picture in words, for who does not see it. */
export const described = (store: Store, heard: Heard): string =>
  sayIn(store)("soundPicture", { seconds: heard.medium.size[0].toFixed(1) });
