// A line that is shown, but cut: dashed, with a gap in its middle and two small strokes beside it.

import type { Pen } from "./pen";

const GAP = 9; // half of it
const STROKE = 6; // half the length of a small stroke

interface Stroke {
  colour: string;
  alpha: number;
}

/** Two small slanted strokes at a place, along a direction; `ground` clears what lies under them. */
export function scissors(
  pen: Pen,
  x: number,
  y: number,
  way: [number, number],
  ground: string,
  ink: string,
): void {
  const [dx, dy] = way;
  pen.lines([x - dx * GAP, y - dy * GAP, x + dx * GAP, y + dy * GAP], 1, 6, { colour: ground });
  for (const side of [-1, 1]) {
    const [a, b] = [x + side * dx * (GAP - 4), y + side * dy * (GAP - 4)];
    const [sx, sy] = [-dy * STROKE + dx * 3, dx * STROKE + dy * 3];
    pen.lines([a - sx, b - sy, a + sx, b + sy], 1, 1.5, { colour: ink });
  }
}

/** A straight line that is cut. */
export function cutLine(
  pen: Pen,
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  width: number,
  { colour, alpha }: Stroke,
  ground: string,
  ink: string,
): void {
  const long = Math.hypot(x2 - x1, y2 - y1) || 1;
  pen.lines([x1, y1, x2, y2], 1, width, { colour, alpha, dashed: true });
  scissors(pen, (x1 + x2) / 2, (y1 + y2) / 2, [(x2 - x1) / long, (y2 - y1) / long], ground, ink);
}
