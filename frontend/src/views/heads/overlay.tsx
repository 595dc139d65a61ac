// Heads over a picture: the patch that looks on the left, where it looks on the right, and below the same for every
// head of the layer. Tokens that are no patches ([CLS], registers, words) stand above as words.
// One file and long: both pictures and the row of heads share one layout and one pointer.

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Active, activity } from "../../compute/active";
import type { Axis } from "../../compute/axis";
import { aspectOf, isStrip, pictureOf } from "../../data/picture";
import { useQuantity, useSay, useStore } from "../../frame/context";
import { mark } from "../../frame/drawn";
import { foldSentence } from "../../frame/folds";
import { followWidth } from "../../frame/scroller";
import {
  type Box,
  type Canvas,
  firstLooker,
  framePatches,
  lettersOf,
  litPicture,
  neighbour,
  placesOf,
} from "../../marks/patches";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { NOTHING } from "../../state/selection";
import { positions } from "../../state/shown";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { isPadding, Letters, Padding, useReading } from "./strip";
import { toggle } from "./tokens";

type Role = "query" | "key";
const LONGER = 360; // the longer side of a picture, in CSS pixels
const NARROW = 300; // on a phone
const SMALL = 104; // of the picture of one head
const WIDEST = 1100; // of a line of text, which has a row for itself
const HIGHEST = 96; // of its letters
const LOW = 320; // of the line of one head

/** Whether the current site looks from or at patches of a picture. */
export function isVision(store: Store): boolean {
  return [store.rows.value, store.columns.value].some((axis) => placesOf(axis) !== null);
}

export function Overlay() {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const rows = store.rows.value;
  const { queries, keys } = store.active.value;
  const legend = isStrip(rows.side) && lettersOf(rows).size ? "legendStrip" : "legendPatches";
  const stage = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useLayoutEffect(() => followWidth(stage.current!, width), []);
  const first =
    !(queries.length + keys.length) && tell("looksFirst", { token: rows.labels[firstLooker(rows)] });
  return (
    <div class="stage overlay" ref={stage}>
      <p class="legend">
        {together(useReading(), tell(legend, { what: quantity }), first, foldSentence(store))}
      </p>
      <div class="panels">
        <Panel side="query" axis={store.rows.value} room={width} />
        <Panel side="key" axis={store.columns.value} room={width} />
      </div>
      <Multiples />
    </div>
  );
}

/** The longer side of a picture beside another one; a line of text is as wide as there is room, and no higher than legible. */
function longerOf({ side }: Axis, narrow: boolean, room: number): number {
  if (!isStrip(side)) return narrow ? NARROW : LONGER;
  return Math.max(NARROW, Math.min(WIDEST, HIGHEST * aspectOf(side), room - 2 * EDGE));
}

const EDGE = 16;

function frameOf(axis: Axis, longer: number): Canvas {
  const aspect = aspectOf(axis.side);
  const [width, height] = aspect >= 1 ? [longer, longer / aspect] : [longer * aspect, longer];
  return { x: 0, y: 0, width: Math.round(width), height: Math.round(height) };
}

const axisOf = (store: Store, side: Role): Axis => (side === "query" ? store.rows : store.columns).value;

/** What is chosen; with nothing chosen, [CLS] looks, or in a text the last token, from which the next one is chosen. */
function shownOf(store: Store, heads: readonly number[]): Active {
  const { queries, keys } = store.active.value;
  const lenses = heads.map((head) => store.lens(head));
  if (queries.length + keys.length) return activity(lenses, queries, keys);
  return activity(lenses, [firstLooker(store.rows.value)], []);
}

function Panel({ side, axis, room }: { side: Role; axis: Axis; room: ReadonlySignal<number> }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  const places = placesOf(axis);
  const sized = (axis: Axis) => frameOf(axis, longerOf(axis, store.narrow.value, room.value));
  const frame = sized(axis);
  useSignalEffect(() => {
    const at = sized(axisOf(store, side));
    if (!canvas.current) return;
    drawPanel(canvasPen(prepare(canvas.current, at.width, at.height)), store, side, at);
    mark("regard:drawn");
  });
  const { special } = store.selection.value;
  const loose = positions(axis, special, null).list.filter((p) => !places?.has(p) && !isPadding(axis, p));
  const shown = shownOf(store, store.heads.value);
  const name = tell(side === "query" ? "queryColumn" : "keyColumn");
  return (
    <section class="panel" aria-label={name}>
      <h3>{name}</h3>
      <div class="chips">
        {loose.map((position) => (
          <Chip key={position} side={side} axis={axis} position={position} />
        ))}
      </div>
      {places && (
        <div class="patches" style={{ width: `${frame.width}px`, height: `${frame.height}px` }}>
          <canvas ref={canvas} aria-hidden="true" />
          <Buttons side={side} axis={axis} places={places} />
        </div>
      )}
      {places && (
        <Letters
          {...{ axis, places }}
          width={frame.width}
          active={side === "query" ? shown.queries : shown.keys}
        />
      )}
      {side === "key" && <Padding axis={axis} values={shown.toKeys} />}
    </section>
  );
}

function useToken(side: Role, axis: Axis, position: number) {
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
  side: Role;
  axis: Axis;
  position: number;
}

function Chip({ side, axis, position }: PlaceProps) {
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

const STEPS: Record<string, readonly [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

function Buttons({ side, axis, places }: { side: Role; axis: Axis; places: Map<number, Box> }) {
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

/** One picture: lit where attention is; the active patch framed. */
function drawPanel(pen: Pen, store: Store, side: Role, at: Canvas): void {
  const axis = axisOf(store, side);
  const places = placesOf(axis);
  if (!places) return;
  const shown = shownOf(store, store.heads.value);
  const colours = palette(store.theme.value);
  litPicture(
    pen,
    pictureOf(axis.side),
    places,
    side === "query" ? shown.toQueries : shown.toKeys,
    at,
    colours,
  );
  framePatches(pen, places, side === "query" ? shown.queries : shown.keys, at, colours);
}

// -- every head of the layer -------------------------------------------------------------------------------

/** The side whose picture the heads of a layer are compared on: where attention goes, or, with a key chosen, comes from. */
function comparedOn(store: Store): Role | null {
  const { queries, keys } = store.active.value;
  const side: Role = keys.length && !queries.length ? "query" : "key";
  return placesOf(axisOf(store, side)) ? side : null;
}

function Multiples() {
  const store = useStore();
  const tell = useSay();
  if (!comparedOn(store)) return null;
  return (
    <section class="multiples" aria-label={tell("everyHead", { layer: store.site.value.layer })}>
      <h3>{tell("everyHead", { layer: store.site.value.layer })}</h3>
      <div>
        {store.site.value.heads.map((head) => (
          <Multiple key={head} head={head} />
        ))}
      </div>
    </section>
  );
}

const smallOf = ({ side }: Axis): number => (isStrip(side) ? LOW : SMALL);

function Multiple({ head }: { head: number }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const side = comparedOn(store);
    if (!canvas.current || !side || !store.site.value.heads.includes(head)) return;
    const at = frameOf(axisOf(store, side), smallOf(axisOf(store, side)));
    drawOne(canvasPen(prepare(canvas.current, at.width, at.height)), store, side, head, at);
  });
  const pressed = store.heads.value.includes(head);
  const name = tell("tipHead", { layer: store.site.value.layer, head });
  return (
    <button
      type="button"
      class="multiple"
      aria-pressed={pressed}
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

function drawOne(pen: Pen, store: Store, side: Role, head: number, at: Canvas): void {
  const axis = axisOf(store, side);
  const places = placesOf(axis)!;
  const shown = shownOf(store, [head]);
  const colours = palette(store.theme.value);
  litPicture(
    pen,
    pictureOf(axis.side),
    places,
    side === "query" ? shown.toQueries : shown.toKeys,
    at,
    colours,
  );
}

// -- the saved picture -------------------------------------------------------------------------------------

export function picture(pen: Pen, store: Store, width: number): number {
  const sides = (["query", "key"] as const).filter((side) => placesOf(axisOf(store, side)));
  let [left, height] = [0, 0];
  for (const side of sides) {
    const axis = axisOf(store, side);
    const at = frameOf(axis, longerOf(axis, false, width));
    if (isStrip(axis.side)) {
      drawPanel(shifted(pen, 0, height), store, side, at); // one below the other
      height += at.height + 16;
      continue;
    }
    drawPanel(shifted(pen, left, 0), store, side, at);
    [left, height] = [left + at.width + 40, Math.max(height, at.height)];
  }
  const side = comparedOn(store);
  if (!side) return height;
  const each = frameOf(axisOf(store, side), smallOf(axisOf(store, side)));
  const across = Math.max(1, Math.floor(width / (each.width + 8)));
  const ink = { colour: palette(store.theme.value).quiet, size: 11, mono: false };
  const heads = store.site.value.heads;
  heads.forEach((head, i) => {
    const [x, y] = [
      (i % across) * (each.width + 8),
      height + 16 + Math.floor(i / across) * (each.height + 22),
    ];
    drawOne(shifted(pen, x, y), store, side, head, each);
    pen.text(x, y + each.height + 9, String(head), ink);
  });
  return height + 16 + Math.ceil(heads.length / across) * (each.height + 22);
}
