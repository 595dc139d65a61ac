// The colour of a number in a strip: blue is positive, orange negative, pale is small.

import { SIGNS } from "../marks/scales";

export const sizeOf = (values: readonly number[]): number =>
  Math.max(1e-12, ...values.filter(Number.isFinite).map(Math.abs));

export const tint = (value: number, size: number) => ({
  background: value < 0 ? SIGNS.negative : SIGNS.positive,
  opacity: 0.08 + 0.92 * Math.min(1, Math.abs(value) / size),
});
