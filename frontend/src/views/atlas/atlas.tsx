// The atlas: every head of the model as a small map, side by side.

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { release } from "../../compute/attention";
import { type Digest, digest, type Measure, poolOf } from "../../compute/digest";
import { run, superseded } from "../../compute/jobs";
import { Lens } from "../../compute/lens";
import { type Cell, colourOf, isKnown, measureOf, NONE, nameOf, namesOf } from "../../data/report";
import { isHere } from "../../data/wire";
import { type Say, sayIn, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { Switch } from "../../frame/switch";
import { axisNames, BAR_ROOM, colourBar } from "../../marks/legend";
import type { Pen } from "../../marks/pen";
import { figure, palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { Plot, type PlotState, picture as plotPicture } from "../matrix/plot";
import { GridOf, paint, Thumb } from "./grid";
import { Legend } from "./legend";

const drawn = stage<Map<string, Digest>>();

export function Atlas() {
  const store = useStore();
  const tell = useSay();
  const { order } = store;
  const layers = useSignal<number[]>([]); // chosen; none means all
  const heads = useSignal<number[]>([]);
  const found = useSignal(new Map<string, Digest>());
  const key = useComputed(() =>
    JSON.stringify([store.edition, store.selection.value.kind, store.look.value]),
  );
  useSignalEffect(() => {
    key.value;
    const abort = new AbortController();
    found.value = new Map();
    const here = cellsOf(store).every(({ site }) => isHere(site));
    const made = here ? run(digests(store, found), abort.signal, 24) : streamed(store, found, abort.signal);
    made.catch((error) => {
      if (!superseded(error)) throw error;
    });
    return () => abort.abort();
  });
  drawn.use(store, () => found.peek());
  const all = cellsOf(store);
  const chosen = all.filter(
    ({ site, head }) =>
      (!layers.value.length || layers.value.includes(site.layer)) &&
      (!heads.value.length || heads.value.includes(head)),
  );
  const value = (cell: Cell) => sortValue(cell, found.value.get(nameOf(cell)), order.value);
  const sorted =
    order.value === "grid" ? chosen : chosen.slice().sort((a, b) => (value(b) ?? -1) - (value(a) ?? -1));
  return (
    <div class="stage">
      <Legend digests={found.value} cells={all} />
      <div class="scroller">
        {order.value === "grid" ? (
          <GridOf cells={sorted} digests={found.value} layers={layers} heads={heads} all={all} />
        ) : (
          <div class="ranked">
            {sorted.map((cell) => (
              <figure key={nameOf(cell)}>
                <Thumb cell={cell} digest={found.value.get(nameOf(cell))} />
                <figcaption>
                  {cell.site.layer}.{cell.head} <b>{value(cell) === null ? "–" : figure(value(cell)!, 2)}</b>
                </figcaption>
              </figure>
            ))}
          </div>
        )}
      </div>
      {store.enlarged.value && <Enlarged tell={tell} />}
    </div>
  );
}

function cellsOf(store: Store): Cell[] {
  const { kind } = store.selection.value;
  const sites = store.page.sites.filter((site) => site.kind === kind);
  return sites.flatMap((site) => site.heads.map((head) => ({ site, head })));
}

/** First every head from some of its rows, then every head in full. */
function* digests(store: Store, found: Signal<Map<string, Digest>>): Generator<void, void> {
  const look = store.look.peek();
  const cells = cellsOf(store);
  const lenses = cells.map(({ site, head }) => store.lenses.of(site, site.heads.indexOf(head), look));
  const thorough = isKnown(store.page) ? "picture" : "exact"; // measures need not be counted twice
  const passes = lenses.some((lens) => poolOf(lens) > 2) ? [false, true] : [true];
  for (const full of passes) {
    const results = new Map(found.peek());
    let shown = performance.now();
    for (const [i, cell] of cells.entries()) {
      results.set(nameOf(cell), yield* digest(lenses[i], full ? thorough : "sketch"));
      if (performance.now() - shown > 250) {
        found.value = new Map(results);
        shown = performance.now();
      }
    }
    found.value = results;
    if (!full || passes.length === 1) requestAnimationFrame(() => mark("regard:drawn"));
    if (full) requestAnimationFrame(() => mark("regard:exact"));
    yield;
  }
}

/** Layers whose weights are not here come one after the other, are looked at, and go again. */
async function streamed(
  store: Store,
  found: Signal<Map<string, Digest>>,
  signal: AbortSignal,
): Promise<void> {
  const look = store.look.peek();
  const { kind } = store.selection.peek();
  for (const site of store.page.sites.filter((one) => one.kind === kind)) {
    const whole = isHere(site) ? site : await store.powers.fetch!(site, false, signal);
    signal.throwIfAborted();
    const [rows, columns] = [site.query, site.key].map((side) => store.lenses.axis(side, look.level));
    for (const [index, head] of site.heads.entries()) {
      const lens = new Lens(whole, index, rows, columns, look);
      const made = await run(digest(lens, "sketch"), signal, 24);
      found.value = new Map(found.peek()).set(nameOf({ site, head }), made);
    }
    if (whole !== site) release([whole]);
    mark("regard:drawn");
  }
  mark("regard:exact");
}

/** A measure that came with the page, or one counted here. */
function sortValue(cell: Cell, found: Digest | undefined, name: string): number | null {
  const counted = found?.measures[name as Measure];
  return measureOf(cell, name) ?? (counted === undefined || Number.isNaN(counted) ? null : counted);
}

/** One head, large, over the atlas. */
function Enlarged({ tell }: { tell: Say }) {
  const store = useStore();
  const state = useSignal<PlotState | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const { layer } = store.selection.value;
  const close = () => (store.enlarged.value = false);
  const views = store.views.filter((view) => view.heads !== "all" && !view.wide);
  return (
    <div
      class="enlarged"
      role="dialog"
      aria-label={tell("layerHead", { layer, head: store.lead })}
      tabIndex={-1}
      ref={box}
    >
      <div class="enlarged-head">
        <strong>{tell("layerHead", { layer, head: store.lead })}</strong>
        <span class="fill" />
        <Switch place={store.place} />
        {views.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            class="plain"
            data-open={id}
            onClick={() => {
              close();
              store.set({ view: id });
            }}
          >
            {tell("open", { view: tell(title) })}
          </button>
        ))}
        <button type="button" class="plain" aria-label={tell("close")} onClick={close}>
          ✕
        </button>
      </div>
      <Plot state={state} />
    </div>
  );
}

const GAP = 6;
const LABEL = 40;
const STRIP = 5;

/** All maps, or the one that is shown large. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const found = drawn.of(store);
  if (store.enlarged.peek() || !found) return plotPicture(pen, store, width);
  const colours = palette(store.theme.value);
  const cells = cellsOf(store);
  const columns = [...new Set(cells.map(({ head }) => head))];
  const rows = [...new Set(cells.map(({ site }) => `${site.layer} ${site.part}`))];
  const size = (width - LABEL - BAR_ROOM) / columns.length - GAP;
  const x = (head: number) => LABEL + columns.indexOf(head) * (size + GAP);
  const y = (row: string) => LABEL + rows.indexOf(row) * (size + GAP);
  const write = (px: number, py: number, text: string) =>
    pen.text(px, py, text, { colour: colours.quiet, size: 11, align: "middle", mono: false });
  for (const head of columns) write(x(head) + size / 2, LABEL - 12, String(head));
  for (const row of rows) write(LABEL - 12, y(row) + size / 2, row.split(" ")[0]);
  for (const cell of cells) {
    const known = found.get(nameOf(cell));
    if (!known) continue;
    const canvas = document.createElement("canvas");
    paint(canvas, known, store.theme.value);
    const [left, top] = [x(cell.head), y(`${cell.site.layer} ${cell.site.part}`)];
    pen.image(canvas, left, top, size, size);
    const [name] = namesOf(store.page, cell, store.tint.value, store.look.value.contributions);
    if (name !== NONE)
      pen.rect(left, top + size - STRIP, size, STRIP, { colour: colourOf(store.tint.value, name) });
  }
  const [wide, high] = [columns.length * (size + GAP), rows.length * (size + GAP)];
  const tell = sayIn(store);
  const names = { query: tell("layerAxis"), key: tell("headAxis") };
  axisNames(pen, { left: LABEL, top: LABEL, width: wide, height: high }, names, colours);
  const bar = { top: 1, log: false, name: tell("ofLargest") };
  colourBar(pen, [LABEL + wide + 8, LABEL], high - GAP, bar, colours);
  return LABEL + high;
}
