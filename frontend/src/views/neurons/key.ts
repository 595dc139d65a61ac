// What the colours of a strip mean: a bar from a negative to a positive number.

import { measure, type Pen } from "../../marks/pen";
import { figure, type Palette, SIGNS } from "../../marks/scales";
import type { Layout } from "./columns";

const SMALL = 11; // pixels of a letter
const STEPS = 28;

/** A round number near twice the size at which a strip has three quarters of its colour: there it has all of it. */
export function roundly(size: number): number {
  const power = 10 ** Math.floor(Math.log10(2 * size));
  return power * ([5, 2, 1].find((step) => step * power <= 2 * size) ?? 1);
}

const ends = (size: number): [low: string, high: string] => {
  const end = figure(roundly(size), 1);
  return [`≤ −${end}`, `≥ +${end}`];
};

/** How wide the colours of a key are, and the key with its numbers. */
const barWidth = ({ k }: Layout): number => (k ? 56 : 24);
export const keyWidth = (size: number, at: Layout): number =>
  barWidth(at) + 8 + ends(size).reduce((sum, text) => sum + measure(text, SMALL, false), 0);

/** The key itself, with a tick at 0. */
export function colourKey(pen: Pen, x: number, y: number, size: number, at: Layout, colours: Palette): void {
  const wide = barWidth(at);
  const [low, high] = ends(size);
  const small = { colour: colours.quiet, size: SMALL, mono: false };
  pen.text(x, y, low, small);
  const from = x + measure(low, SMALL, false) + 4;
  for (let i = 0; i < STEPS; i++) {
    const value = ((i + 0.5) / STEPS) * 2 - 1;
    pen.rect(from + (i * wide) / STEPS, y - 4, wide / STEPS, 8, {
      colour: value < 0 ? SIGNS.negative : SIGNS.positive,
      alpha: Math.tanh((Math.abs(value) * roundly(size)) / size),
    });
  }
  pen.lines([from + wide / 2, y - 6, from + wide / 2, y + 6], 1, 1, { colour: colours.quiet });
  pen.text(from + wide + 4, y, high, small);
}
