// Triangles at the edges of a map, where segments begin: they fold and unfold them.

import type { Axis } from "../../compute/axis";
import type { Lens } from "../../compute/lens";
import { FoldButton, headsOf } from "../../frame/folds";
import type { Frame, Zoom } from "../../marks/axes";

export const HEADER = 22; // room for them beside the names of tokens

interface Props {
  lens: Lens;
  frame: Frame;
  zoom: Zoom;
}

export function Headers({ lens, frame, zoom }: Props) {
  if (!zoom.scale) return null;
  const down = placed(lens.rows, zoom.y, zoom.scale, frame.height);
  const across = placed(lens.columns, zoom.x, zoom.scale, frame.width);
  return (
    <>
      {down.map(({ number, at }) => (
        <FoldButton
          key={`query ${number}`}
          {...{ side: lens.rows.side, number, short: true }}
          style={{ position: "absolute", left: 0, top: `${frame.top + at}px` }}
        />
      ))}
      {across.map(({ number, at }) => (
        <FoldButton
          key={`key ${number}`}
          {...{ side: lens.columns.side, number, short: true }}
          style={{ position: "absolute", top: 0, left: `${frame.left + at}px` }}
        />
      ))}
    </>
  );
}

/** The segments in sight and where they begin, those apart that have room; the first is there while any of it is. */
function placed(axis: Axis, start: number, scale: number, room: number): { number: number; at: number }[] {
  const heads = headsOf(axis, [...axis.labels.keys()]);
  const found: { number: number; at: number }[] = [];
  heads.forEach(({ at, number }, n) => {
    const end = ((heads[n + 1]?.at ?? axis.count) - start) * scale;
    const from = Math.max(0, (at - start) * scale);
    const before = found.at(-1);
    if (end > 0 && from <= room - HEADER && (!before || from - before.at >= HEADER))
      found.push({ number, at: from });
  });
  return found;
}
