// Every head of a layer over the picture, from the same place; a click chooses one.

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Axis } from "../../compute/axis";
import { pictureOf } from "../../data/picture";
import { useSay, useStore } from "../../frame/context";
import { shownOf } from "../../frame/pictured";
import { edge } from "../../marks/framed";
import { type Canvas, litPicture, placesOf } from "../../marks/patches";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import type { Side } from "./patches";
import { frameOf, type Room, savedOf } from "./room";

export const axisOf = (store: Store, side: Side): Axis =>
  (side === "query" ? store.rows : store.columns).value;

/** The side whose picture the heads of a layer are compared on: where attention goes, or, with a key chosen, comes from. */
function comparedOn(store: Store): Side | null {
  const { queries, keys } = store.active.value;
  const side: Side = keys.length && !queries.length ? "query" : "key";
  return placesOf(axisOf(store, side)) ? side : null;
}

export function Multiples({ room }: { room: () => Room }) {
  const store = useStore();
  const tell = useSay();
  if (!comparedOn(store)) return null;
  const name = tell("everyHead", { layer: store.site.value.layer });
  return (
    <section class="multiples" aria-label={name}>
      <h3>{name}</h3>
      <div>
        {store.site.value.heads.map((head) => (
          <Multiple key={head} head={head} room={room} />
        ))}
      </div>
    </section>
  );
}

function Multiple({ head, room }: { head: number; room: () => Room }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const side = comparedOn(store);
    if (!canvas.current || !side || !store.site.value.heads.includes(head)) return;
    const at = frameOf(axisOf(store, side), room());
    drawOne(canvasPen(prepare(canvas.current, at.width, at.height)), store, side, head, at);
  });
  const name = tell("tipHead", { layer: store.site.value.layer, head });
  return (
    <button
      type="button"
      class="multiple"
      aria-pressed={store.heads.value.includes(head)}
      aria-label={name}
      title={name}
      data-multiple={head}
      onClick={() => store.set({ heads: [head] })}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <span>{head}</span>
    </button>
  );
}

function drawOne(pen: Pen, store: Store, side: Side, head: number, at: Canvas): void {
  const axis = axisOf(store, side);
  const shown = shownOf(store, [head]);
  const values = side === "query" ? shown.toQueries : shown.toKeys;
  const colours = palette(store.theme.value);
  litPicture(pen, pictureOf(axis.side), placesOf(axis)!, values, at, colours);
  edge(pen, at, colours);
}

const NUMBER = 22; // height of the line below a saved one

/** All of them in a saved picture; how high they became. */
export function drawMultiples(pen: Pen, store: Store, width: number): number {
  const side = comparedOn(store);
  if (!side) return 0;
  const each = frameOf(axisOf(store, side), savedOf(axisOf(store, side)));
  const across = Math.max(1, Math.floor(width / (each.width + 8)));
  const ink = { colour: palette(store.theme.value).quiet, size: 11, mono: false };
  const { heads } = store.site.value;
  heads.forEach((head, i) => {
    const [x, y] = [(i % across) * (each.width + 8), Math.floor(i / across) * (each.height + NUMBER)];
    drawOne(shifted(pen, x, y), store, side, head, each);
    pen.text(x, y + each.height + 9, String(head), ink);
  });
  return 16 + Math.ceil(heads.length / across) * (each.height + NUMBER);
}
