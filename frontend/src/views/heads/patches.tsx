// Heads over an image: the patch that looks on the left, where it looks on the right. Tokens that are no patches
// ([CLS], text) stand below as words.

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { activity } from "../../compute/active";
import type { Axis } from "../../compute/axis";
import { useQuantity, useSay, useStore } from "../../frame/context";
import { mark } from "../../frame/drawn";
import { type Grid, gridOf, imageCanvas, patchImage } from "../../marks/patches";
import { canvasPen, type Pen, prepare } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { NOTHING } from "../../state/selection";
import { positions } from "../../state/shown";
import type { Store } from "../../state/store";
import { toggle } from "./tokens";

const SIZE = 340; // side of a picture, in CSS pixels

/** Whether the current site looks from or at patches of an image. */
export function isVision(store: Store): boolean {
  return [store.rows.value, store.columns.value].some((axis) => axis.side.row !== null);
}

export function Patches() {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  return (
    <div class="stage">
      <p class="legend">{tell("legendPatches", { what: quantity })}</p>
      <div class="panels">
        <Panel side="query" axis={store.rows.value} />
        <Panel side="key" axis={store.columns.value} />
      </div>
    </div>
  );
}

function Panel({ side, axis }: { side: "query" | "key"; axis: Axis }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = gridOf(axis);
  useSignalEffect(() => {
    if (!canvas.current) return;
    drawPanel(canvasPen(prepare(canvas.current, SIZE, SIZE)), store, side, 0);
    mark("regard:drawn");
  });
  const { special } = store.selection.value;
  const loose = positions(axis, special, null).list.filter((p) => !grid?.place.has(p));
  return (
    <section class="panel" aria-label={tell(side === "query" ? "queryColumn" : "keyColumn")}>
      <h3>{tell(side === "query" ? "queryColumn" : "keyColumn")}</h3>
      {grid && (
        <div class="patches" style={{ width: `${SIZE}px`, height: `${SIZE}px` }}>
          <canvas ref={canvas} aria-hidden="true" />
          <Buttons side={side} axis={axis} grid={grid} />
        </div>
      )}
      <div class="chips">
        {loose.map((position) => (
          <Chip key={position} side={side} axis={axis} position={position} />
        ))}
      </div>
    </section>
  );
}

function useToken(side: "query" | "key", axis: Axis, position: number) {
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

function Chip({ side, axis, position }: { side: "query" | "key"; axis: Axis; position: number }) {
  const tell = useSay();
  const name = tell(side === "query" ? "queryToken" : "keyToken", {
    index: axis.starts[position],
    text: axis.labels[position],
  });
  return (
    <button class="chip" {...useToken(side, axis, position)} title={name} aria-label={name} dir="auto">
      {axis.labels[position]}
    </button>
  );
}

function Buttons({ side, axis, grid }: { side: "query" | "key"; axis: Axis; grid: Grid }) {
  const moved = (event: KeyboardEvent) => {
    const step = { ArrowUp: -grid.columns, ArrowDown: grid.columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
    const at = all.indexOf(event.target as HTMLButtonElement);
    all[Math.max(0, Math.min(all.length - 1, at + step))].focus();
  };
  const style = {
    gridTemplateColumns: `repeat(${grid.columns}, 1fr)`,
    gridTemplateRows: `repeat(${grid.rows}, 1fr)`,
  };
  return (
    <fieldset class="cells" style={style} onKeyDown={moved}>
      {grid.order.map((position, i) => (
        <Patch key={position} side={side} axis={axis} position={position} first={i === 0} />
      ))}
    </fieldset>
  );
}

function Patch({
  side,
  axis,
  position,
  first,
}: {
  side: "query" | "key";
  axis: Axis;
  position: number;
  first: boolean;
}) {
  const tell = useSay();
  const token = axis.starts[position];
  const row = axis.side.row![token]!;
  const column = axis.side.column![token]!;
  return (
    <button
      {...useToken(side, axis, position)}
      class="patch"
      tabIndex={first ? 0 : -1}
      aria-label={tell("patch", { row, column })}
      style={{ gridRow: `${row + 1}`, gridColumn: `${column + 1}` }}
    />
  );
}

/** One picture: the image, lit where attention is; the active patch framed. */
function drawPanel(pen: Pen, store: Store, side: "query" | "key", x: number): void {
  const axis = (side === "query" ? store.rows : store.columns).value;
  const grid = gridOf(axis);
  if (!grid) return;
  const active = store.active.value;
  // With nothing chosen, the first position looks: [CLS] in most models.
  const nothing = active.queries.length + active.keys.length === 0;
  const shown = nothing
    ? activity(
        store.heads.value.map((head) => store.lens(head)),
        [0],
        [],
      )
    : active;
  const values = side === "query" ? shown.toQueries : shown.toKeys;
  const lit = side === "query" ? shown.queries : shown.keys;
  const colours = palette(store.theme.value);
  patchImage(pen, grid, imageCanvas(axis.side), values, lit, x, SIZE, colours);
}

export function picture(pen: Pen, store: Store, width: number): number {
  drawPanel(pen, store, "query", 0);
  drawPanel(pen, store, "key", Math.min(width - SIZE, SIZE + 40));
  return SIZE;
}
