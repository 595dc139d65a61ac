// A line of text in a picture: the letters that a model reads, each below the column that says it, and what falls on
// the padding behind the picture.

import type { Axis } from "../../compute/axis";
import { useSay, useStore } from "../../frame/context";
import { type Box, lettersOf } from "../../marks/patches";

/** Whether a position stands for nothing in the picture: it only fills the model's width. */
export const isPadding = ({ side, segment, folded }: Axis, position: number): boolean =>
  !folded[position] && side.segments[segment[position]]?.name === "padding";

interface LettersProps {
  axis: Axis;
  places: ReadonlyMap<number, Box>;
  active: readonly number[];
  width: number;
}

/** The letters of a line, as wide as its picture. */
export function Letters({ axis, places, active, width }: LettersProps) {
  const letters = [...lettersOf(axis)].filter(([position]) => places.has(position));
  if (!letters.length) return null;
  const middle = ([left, , right]: Box) => `${(50 * (left + right)).toFixed(3)}%`;
  return (
    <div class="letters" style={{ width: `${width}px` }} aria-hidden="true">
      {letters.map(([position, letter]) => (
        <span
          key={position}
          class={active.includes(position) ? "active" : undefined}
          style={{ left: middle(places.get(position)!) }}
        >
          {letter.trim() ? letter : "␣"}
        </span>
      ))}
    </div>
  );
}

/** What the model reads in the picture; null where it reads nothing. */
export function useReading(): string | null {
  const tell = useSay();
  const { reads } = useStore().page.facts;
  if (reads === undefined) return null;
  return reads === "" ? tell("readsNothing") : tell("reads", { text: String(reads) });
}

/** How much of what is shown falls on the padding. */
export function Padding({ axis, values }: { axis: Axis; values: readonly Float32Array[] }) {
  const tell = useSay();
  const padding = [...Array(axis.count).keys()].filter((p) => isPadding(axis, p));
  if (!padding.length || !values.length) return null;
  const sum = padding.reduce((all, p) => all + values.reduce((most, row) => most + row[p], 0), 0);
  const share = `${((100 * sum) / values.length).toFixed(0)}%`;
  return <p class="legend">{tell("onPadding", { share, count: padding.length })}</p>;
}
