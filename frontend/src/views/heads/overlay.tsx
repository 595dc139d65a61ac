// Heads over a picture: the patch that looks on the left, where it looks on the right, and below the same for every
// head of the layer. Tokens that are no patches ([CLS], registers, words) stand beside it as words.

import { useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Active } from "../../compute/active";
import type { Axis } from "../../compute/axis";
import { aspectOf, isStrip } from "../../data/picture";
import { partNames, sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { mark } from "../../frame/drawn";
import { foldSentence } from "../../frame/folds";
import { framedMost, ranked, shownOf, spotOf } from "../../frame/pictured";
import { seenPicture } from "../../frame/picturing";
import { useSeen } from "../../frame/scroller";
import { type Framed, GUTTER } from "../../marks/framed";
import { type Canvas, lettersOf, placesOf } from "../../marks/patches";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { positions } from "../../state/shown";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { axisOf, drawMultiples, Multiples } from "./multiples";
import { Buttons, Chip, type Side } from "./patches";
import { APART, frameOf, LOW, lineOf, type Room, SAVED, type Sizes, sizesOf } from "./room";
import { isPadding, Letters, Padding, useReading } from "./strip";

const TALK = 64; // height of a question and its answer, and of the words below a picture

export function Overlay() {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const stage = useRef<HTMLDivElement>(null);
  const seen = useSeen(stage);
  const rows = store.rows.value;
  const sizes = useComputed((): Sizes => {
    const { width, height } = seen.value;
    const free = { width, height: isTalk(store.rows.value) ? height - TALK : height };
    const narrow = store.narrow.value;
    if (isLine(store)) {
      const line = lineOf(free, narrow);
      return { query: line, key: line, small: LOW, below: false };
    }
    const sides = pictured(store);
    const aspect = aspectOf(axisOf(store, sides[0]).side);
    return sizesOf(free, { count: sides.length, aspect, heads: store.site.value.heads.length }, narrow);
  });
  const { below } = sizes.value;
  const legend = isLine(store) && lettersOf(rows).size ? "legendStrip" : "legendPatches";
  return (
    <div class="stage overlay" ref={stage}>
      <p class="legend">{together(useReading(), tell(legend, { what: quantity }), foldSentence(store))}</p>
      <Said />
      <div
        class={`panels ${below ? "heads-below" : isLine(store) ? "lines" : litFirst(store) ? "lit-first" : ""}`}
        style={{ columnGap: `${APART}px` }}
      >
        <Panel side="query" axis={rows} room={() => sizes.value.query} />
        <Panel side="key" axis={store.columns.value} room={() => sizes.value.key} />
        <Multiples room={() => sizes.value.small} />
      </div>
    </div>
  );
}

/** The sides that are a picture. */
const pictured = (store: Store): Side[] =>
  (["query", "key"] as const).filter((side) => placesOf(axisOf(store, side)));

/** Whether the picture is a line of text: one side stands below the other, each as wide as there is room. */
const isLine = (store: Store): boolean => {
  const sides = pictured(store);
  return sides.length > 0 && sides.every((side) => isStrip(axisOf(store, side).side));
};

/** Whether, on a phone, where it looks stands above a picture in which nothing looks: a word does. */
function litFirst(store: Store): boolean {
  const { queries } = shownOf(store, []);
  const places = placesOf(store.rows.value);
  return store.narrow.value && queries.length > 0 && !queries.some((query) => places?.has(query));
}

/** The positions of a side that are shown and no patches. */
function looseOf(store: Store, axis: Axis): number[] {
  const places = placesOf(axis);
  return positions(axis, store.selection.value.special, null).list.filter(
    (p) => !places?.has(p) && !isPadding(axis, p),
  );
}

const isTalk = (axis: Axis): boolean => axis.side.segments.length > 1 && placesOf(axis) !== null;

/** Question and answer, each of their tokens to be chosen. */
function Said() {
  const store = useStore();
  const tell = useSay();
  const axis = store.rows.value;
  if (!isTalk(axis)) return null;
  const loose = looseOf(store, axis);
  const part = partNames(store);
  const { queries } = shownOf(store, []);
  return (
    <dl class="talk">
      {axis.side.segments.map(({ name }, number) => {
        const own = loose.filter((position) => axis.segment[position] === number);
        const empty = name !== "answer" && own.every((position) => axis.special[position]);
        if (!own.length || (empty && !own.some((position) => queries.includes(position)))) return null;
        return (
          <div key={number} data-said={name}>
            <dt>{part(name)}</dt>
            <dd class="chips">
              {own.map((position) => (
                <Chip
                  key={position}
                  side="query"
                  axis={axis}
                  position={position}
                  shown={queries.includes(position)}
                />
              ))}
              {own.some((position) => queries.includes(position)) && <small>{tell("talkLooks")}</small>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** What a picture shows: who looks, or where it looks; with a key chosen, what is looked at and from where. */
function headingOf(store: Store, side: Side): string {
  const tell = sayIn(store);
  const axis = axisOf(store, side);
  const { queries } = shownOf(store, store.heads.value);
  if (!queries.length) return tell(side === "query" ? "pictureFrom" : "pictureSeen");
  if (side === "key") return tell("pictureTo");
  if (queries.length > 1) return tell("pictureLooksMany", { count: queries.length });
  if (isTalk(axis) && !placesOf(axis)?.has(queries[0])) return tell("pictureAlone"); // a word above it looks
  return tell("pictureLooks", { name: spotOf(axis, queries[0], tell) });
}

interface PanelProps {
  side: Side;
  axis: Axis;
  room: () => Room;
}

function Panel({ side, axis, room }: PanelProps) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const places = placesOf(axis);
  const at = frameOf(axis, room());
  useSignalEffect(() => {
    const at = frameOf(axisOf(store, side), room());
    if (!canvas.current) return;
    const pen = canvasPen(prepare(canvas.current, at.width + GUTTER.left, at.height + GUTTER.top));
    drawPanel(pen, store, side, { ...at, x: GUTTER.left, y: GUTTER.top });
    mark("regard:drawn");
  });
  const shown = shownOf(store, store.heads.value);
  const name = headingOf(store, side);
  const talk = isTalk(axis);
  return (
    <section
      class={talk ? "panel talking" : "panel"}
      aria-label={name}
      style={places ? { width: `${at.width}px` } : {}}
    >
      <h3>{name}</h3>
      {!(talk && side === "query") && <Loose side={side} axis={axis} shown={shown} />}
      {places && (
        <div class="patches" style={{ width: `${at.width}px`, height: `${at.height}px` }}>
          <canvas
            ref={canvas}
            aria-hidden="true"
            style={{ left: `${-GUTTER.left}px`, top: `${-GUTTER.top}px` }}
          />
          <Buttons side={side} axis={axis} places={places} />
        </div>
      )}
      {places && (
        <Letters
          {...{ axis, places }}
          width={at.width}
          active={side === "query" ? shown.queries : shown.keys}
        />
      )}
      {side === "key" && <Padding axis={axis} values={shown.toKeys} />}
    </section>
  );
}

/** Tokens that are no patches; as what is looked at, tinted by how much. */
function Loose({ side, axis, shown }: { side: Side; axis: Axis; shown: Active }) {
  const store = useStore();
  const values = new Map(ranked(store, shown, side));
  const top = Math.max(1e-12, ...values.values());
  return (
    <div class="chips">
      {isTalk(axis) && <small>{sayIn(store)("talkOthers")}</small>}
      {looseOf(store, axis).map((position) => (
        <Chip
          key={position}
          tint={(values.get(position) ?? 0) / top}
          shown={side === "query" && shown.queries.includes(position)}
          {...{ side, axis, position }}
        />
      ))}
    </div>
  );
}

/** What is framed in a picture: the patches that are chosen, and the one that is looked at, or looks there, most. */
function framed(store: Store, shown: Active, side: Side): Framed[] {
  const axis = axisOf(store, side);
  const own = side === "query" ? shown.queries : shown.keys;
  const tell = sayIn(store);
  const chosen = own.map((position) => ({
    position,
    label: own.length < 2 ? spotOf(axis, position, tell) : "",
  }));
  const other = side === "query" ? shown.keys : shown.queries;
  if (own.length || !other.length) return chosen;
  const places = placesOf(axis);
  if (!places) return [];
  return framedMost(store, places, ranked(store, shown, side), other.length < 2);
}

/** One picture: lit where attention is; the chosen patch framed, or the one that gets most. */
function drawPanel(pen: Pen, store: Store, side: Side, at: Canvas): void {
  const axis = axisOf(store, side);
  const places = placesOf(axis);
  if (!places) return;
  const shown = shownOf(store, store.heads.value);
  const values = side === "query" ? shown.toQueries : shown.toKeys;
  seenPicture(pen, axis, places, values, framed(store, shown, side), at, palette(store.theme.value));
}

const GAP = 16; // between two lines of text
const TITLE = 20; // height of the line above a saved picture

export function picture(pen: Pen, store: Store, width: number): number {
  const ink = { colour: palette(store.theme.value).quiet, size: 12, mono: false };
  let [left, height] = [0, 0];
  for (const side of pictured(store)) {
    const line = isStrip(axisOf(store, side).side);
    const at = frameOf(axisOf(store, side), line ? lineOf({ width }, false) : SAVED);
    const top = line ? height : 0; // lines stand one below the other
    pen.text(left, top + TITLE / 2 - 2, headingOf(store, side), ink);
    drawPanel(shifted(pen, left + GUTTER.left, top + TITLE + GUTTER.top), store, side, at);
    if (line) height += TITLE + GUTTER.top + at.height + GAP;
    else [left, height] = [left + at.width + APART, Math.max(height, TITLE + GUTTER.top + at.height)];
  }
  return height + drawMultiples(shifted(pen, 0, height + 16), store, width);
}
