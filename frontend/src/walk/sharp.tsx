// Where dividing by √d shows nothing, for a head is sharp with it too: which head shows it.

import type { Say } from "../frame/context";
import type { WalkData } from "./data";
import { attention, divides, type WhatIf } from "./layer";
import { headsOf, softmax } from "./maths";
import { partOf } from "./order";
import { rowOf } from "./pieces";

const SHARP = 0.95; // a weight that leaves next to nothing to others

/** The largest weight of a row, without and with the division. */
function topsOf(data: WalkData, head: number, what: WhatIf, row: number): [without: number, divided: number] {
  const { raw, scaled } = attention(data, partOf(data, "scale"), head, what);
  const top = (m: typeof raw) => Math.max(...rowOf(softmax(m, what.temperature), row));
  return [top(raw), top(scaled)];
}

/** The head whose softmax the division softens most. */
export function softened(data: WalkData, what: WhatIf, row: number): number {
  const gains = headsOf(data.header.heads).map((head) => {
    const [without, divided] = topsOf(data, head, what, row);
    return without - divided;
  });
  return gains.indexOf(Math.max(...gains));
}

interface Props {
  data: WalkData;
  head: number;
  what: WhatIf;
  row: number;
  choose: (head: number) => void;
  tell: Say;
}

export function Sharp({ data, head, what, row, choose, tell }: Props) {
  if (data.reader !== "encoder" || !divides(data, what) || what.single) return null;
  if (topsOf(data, head, what, row)[1] < SHARP) return null;
  const other = softened(data, what, row);
  if (topsOf(data, other, what, row)[1] >= SHARP) return null;
  return (
    <p class="sharp quiet" data-sharp={other}>
      {tell("walk_sharp", { head })}{" "}
      <button type="button" class="plain" onClick={() => choose(other)}>
        {tell("walk_softer", { head: other })} →
      </button>
    </p>
  );
}
