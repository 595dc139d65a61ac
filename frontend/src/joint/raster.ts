// Points as pixels. A hundred thousand small squares are written into one image: a few milliseconds on any machine,
// with or without a graphics card.

import type { Frame } from "./space";

const SMALL = 20_000; // more points than these begin smaller

/** The width of a point in pixels: larger when one is close, and when there are few. */
export function widthOf(count: number, closer: number, ratio: number): number {
  const first = count > SMALL ? 1.6 : 3;
  return Math.max(1, Math.min(9, Math.round(ratio * first * closer ** 0.3)));
}

/** Draw points one after another, each in its colour (as in memory: little-endian RGBA; 0 is not drawn). */
export function draw(
  pixels: Uint32Array,
  width: number,
  height: number,
  xs: Float32Array,
  ys: Float32Array,
  colours: Uint32Array,
  { left, top, zoom }: Frame,
  size: number,
): void {
  pixels.fill(0);
  const half = size >> 1;
  const right = width - size;
  const bottom = height - size;
  for (let i = 0; i < xs.length; i++) {
    const colour = colours[i];
    const x = ((left + zoom * xs[i]) | 0) - half;
    const y = ((top + zoom * ys[i]) | 0) - half;
    if (colour === 0 || x < 0 || y < 0 || x > right || y > bottom) continue;
    let at = y * width + x;
    for (let row = 0; row < size; row++, at += width)
      for (let column = 0; column < size; column++) pixels[at + column] = colour;
  }
}

/** Numbers in another order: those that are drawn one after another lie side by side. */
export function ordered<T extends Float32Array | Uint32Array>(numbers: T, order: Uint32Array): T {
  const found = numbers.slice() as T;
  for (let n = 0; n < order.length; n++) found[n] = numbers[order[n]];
  return found;
}

/** Every point once, queries and keys mixed, so that none lie on top of all others: the same order every time. */
export function mixed(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let state = 1;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (i + 1);
    [order[i], order[other]] = [order[other], order[i]];
  }
  return order;
}
