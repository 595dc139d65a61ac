// The tokens of a picture as buttons: patches over it, and beside it those that are no patches ([CLS], registers, words).

import type { Axis } from "../../compute/axis";
import { useSay, useStore } from "../../frame/context";
import { type Box, lettersOf, neighbour } from "../../marks/patches";
import { NOTHING } from "../../state/selection";
import { toggle } from "./tokens";

export type Side = "query" | "key";

function useToken(side: Side, axis: Axis, position: number) {
  const store = useStore();
  const token = axis.starts[position];
  const pins = store.selection.value[side === "query" ? "queries" : "keys"];
  const point = () => {
    store.hover.value = side === "query" ? { query: position, key: null } : { query: null, key: position };
  };
  return {
    type: "button" as const,
    "data-side": side,
    "data-position": position,
    "aria-pressed": pins.includes(token),
    onPointerEnter: point,
    onFocus: point,
    onPointerLeave: () => {
      store.hover.value = NOTHING;
    },
    onClick: () => toggle(store, side, token),
  };
}

interface PlaceProps {
  side: Side;
  axis: Axis;
  position: number;
}

interface ChipProps extends PlaceProps {
  tint?: number; // how much it is looked at, as a share of the most
  shown?: boolean; // whether its looks are those that are shown
}

/** A token that is no patch, tinted by how much it is looked at. */
export function Chip({ side, axis, position, tint = 0, shown = false }: ChipProps) {
  const tell = useSay();
  const name = tell(side === "query" ? "queryToken" : "keyToken", {
    index: axis.starts[position],
    text: axis.labels[position],
  });
  return (
    <button
      class="chip"
      {...useToken(side, axis, position)}
      data-shown={shown ? "" : undefined}
      style={tint ? { "--looks": `${Math.round(100 * tint)}%` } : {}}
      title={name}
      aria-label={name}
      dir="auto"
    >
      {axis.labels[position]}
    </button>
  );
}

const STEPS: Record<string, readonly [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** The patches of a picture as buttons over it: for pointers, keyboards and screen readers. */
export function Buttons({ side, axis, places }: { side: Side; axis: Axis; places: Map<number, Box> }) {
  const moved = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const from = Number((event.target as HTMLElement).dataset.position);
    const to = neighbour(places, from, step);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-position="${to}"]`)?.focus();
  };
  // small patches lie over large ones: a tile over the whole picture
  const order = [...places].sort(([, a], [, b]) => area(b) - area(a)).map(([position]) => position);
  const first = Math.min(...order);
  const letters = lettersOf(axis);
  return (
    <fieldset class="cells" onKeyDown={moved}>
      {order.map((position) => (
        <Patch
          key={position}
          {...{ side, axis, position }}
          box={places.get(position)!}
          first={position === first}
          letter={letters.get(position)}
        />
      ))}
    </fieldset>
  );
}

const area = ([l, t, r, b]: Box): number => (r - l) * (b - t);

const share = (value: number): string => `${(100 * value).toFixed(3)}%`;

interface PatchProps extends PlaceProps {
  box: Box;
  first: boolean;
  letter: string | undefined; // that the model reads there
}

function Patch({ side, axis, position, box, first, letter }: PatchProps) {
  const tell = useSay();
  const token = axis.starts[position];
  const [row, column] = [axis.side.row?.[token] ?? 0, axis.side.column?.[token] ?? 0];
  const [left, top, right, bottom] = box;
  const style = {
    left: share(left),
    top: share(top),
    width: share(right - left),
    height: share(bottom - top),
  };
  return (
    <button
      {...useToken(side, axis, position)}
      class="patch"
      tabIndex={first ? 0 : -1}
      aria-label={letter ? tell("columnSays", { column, letter }) : tell("patch", { row, column })}
      title={letter && tell("columnSays", { column, letter })}
      style={style}
    />
  );
}
