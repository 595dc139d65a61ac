// Looks that are cut, over a map.

import { type Axis, positionOf } from "../../compute/axis";
import type { Lens } from "../../compute/lens";
import type { Frame, Zoom } from "../../marks/axes";
import type { Pen } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { samePlace } from "../../state/selection";
import type { Store } from "../../state/store";

/** Looks that are cut are struck out: one by one, or a whole row or column. */
export function drawCuts(pen: Pen, lens: Lens, frame: Frame, { x, y, scale }: Zoom, store: Store): void {
  const { site, index } = lens.head;
  const { kind, layer } = site;
  const { ink: colour, ground } = palette(store.theme.value);
  const right = Math.min(frame.left + frame.width, frame.left + (lens.columns.count - x) * scale);
  const bottom = Math.min(frame.top + frame.height, frame.top + (lens.rows.count - y) * scale);
  const clipped = (from: number, low: number, high: number) => Math.max(low, Math.min(high, from));
  const placesOf = (axis: Axis, tokens: readonly number[]) =>
    tokens.length ? [...new Set(tokens.map((token) => positionOf(axis, token)))] : [null];
  for (const one of store.cut.value) {
    if (!samePlace(one, { kind, layer, head: site.heads[index] })) continue;
    for (const q of placesOf(lens.rows, one.queries))
      for (const k of placesOf(lens.columns, one.keys)) {
        const [y1, y2] =
          q === null ? [frame.top, bottom] : [q, q + 1].map((p) => frame.top + (p - y) * scale);
        const [x1, x2] =
          k === null ? [frame.left, right] : [k, k + 1].map((p) => frame.left + (p - x) * scale);
        const line = [
          clipped(k === null || q !== null ? x1 : (x1 + x2) / 2, frame.left, right),
          clipped(q === null ? y1 : k === null ? (y1 + y2) / 2 : y2, frame.top, bottom),
          clipped(k === null || q !== null ? x2 : (x1 + x2) / 2, frame.left, right),
          clipped(q === null ? y2 : k === null ? (y1 + y2) / 2 : y1, frame.top, bottom),
        ];
        pen.lines(line, 1, 4, { colour: ground, alpha: 0.7 });
        pen.lines(line, 1, 1.5, { colour, dashed: q === null || k === null });
      }
  }
}
