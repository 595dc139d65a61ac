// The atlas: every head of the model as a small map, side by side.

import { type Signal, untracked, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { release } from "../../compute/attention";
import { type Digest, digest, type Measure, pictured, poolOf } from "../../compute/digest";
import { FIRST, run, superseded } from "../../compute/jobs";
import { Lens } from "../../compute/lens";
import { type Cell, colourOf, isKnown, measureOf, NONE, nameOf, namesOf } from "../../data/report";
import { isHere, type Site } from "../../data/wire";
import { quantityOf, sayIn, useStore } from "../../frame/context";
import { mark, stage, useDrawing } from "../../frame/drawn";
import { paint } from "../../frame/small";
import { axisNames, BAR_ROOM, colourBar } from "../../marks/legend";
import type { Pen } from "../../marks/pen";
import { figure, palette, rootTicks } from "../../marks/scales";
import type { Store } from "../../state/store";
import { picture as plotPicture } from "../matrix/plot";
import { ghost, glimpseOf, mapShape } from "./ghost";
import { GridOf, sidesOf } from "./grid";
import { Beside, Enlarged } from "./large";
import { Legend, PhoneLine } from "./legend";
import { NameRow } from "./names";
import { useLayout } from "./room";
import { Thumb } from "./thumb";

const drawn = stage<Map<string, Digest>>();
const BETWEEN = 400; // milliseconds: every change lays out and paints the page again

export function Atlas() {
  const store = useStore();
  const { order } = store;
  const layers = useSignal<number[]>([]); // chosen; none means all
  const heads = useSignal<number[]>([]);
  const found = useSignal(new Map<string, Digest>());
  const key = useComputed(() =>
    JSON.stringify([store.edition, store.selection.value.kind, store.look.value]),
  );
  useDrawing(() => {
    key.value;
    const abort = new AbortController();
    if (found.peek().size) found.value = new Map();
    untracked(() => drawAll(store, found, abort.signal)).catch((error) => {
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
  const shared = sharedTop(store, found.value);
  const sorted =
    order.value === "grid" ? chosen : chosen.slice().sort((a, b) => (value(b) ?? -1) - (value(a) ?? -1));
  const around = useRef<HTMLDivElement>(null);
  const grid = order.value === "grid";
  const shape = mapShape(store);
  const layout = useLayout(around, grid ? sorted : [], store, shape);
  const below = store.narrow.value && grid; // on a phone one head, large, stands below the others
  return (
    <div class="stage">
      <Legend digests={found.value} cells={all} shared={shared} small={grid && layout.small} />
      {store.narrow.value && <NameRow cells={all} />}
      {below && shared === null && <PhoneLine turned={layout.turned} />}
      <div class="around" ref={around} style={{ "--aspect": String(shape.aspect) }}>
        <div class="scroller">
          {grid ? (
            layout.size > 0 && (
              <GridOf
                cells={sorted}
                digests={found.value}
                layers={layers}
                heads={heads}
                {...{ all, layout, shared }}
              />
            )
          ) : (
            <Ranked cells={sorted} digests={found.value} {...{ shared, value }} />
          )}
        </div>
        {layout.beside > 0 && <Beside width={layout.beside} />}
      </div>
      {below && <Beside told />}
      {store.enlarged.value && !layout.beside && !layout.panel && !below && <Enlarged />}
    </div>
  );
}

interface RankedProps {
  cells: Cell[];
  digests: Map<string, Digest>;
  shared: number | null;
  value: (cell: Cell) => number | null;
}

/** Maps in the order of a number, which stands below each. */
function Ranked({ cells, digests: found, shared, value }: RankedProps) {
  return (
    <div class="ranked">
      {cells.map((cell) => (
        <figure key={nameOf(cell)}>
          <Thumb cell={cell} digest={found.get(nameOf(cell))} shared={shared} enlarges />
          <figcaption>
            {cell.site.layer}.{cell.head} <b>{value(cell) === null ? "–" : figure(value(cell)!, 2)}</b>
          </figcaption>
        </figure>
      ))}
    </div>
  );
}

const made = new WeakMap<Site, Cell[]>(); // the same ones each time: a map is drawn again only when it changes

function cellsIn(site: Site): Cell[] {
  const known = made.get(site) ?? site.heads.map((head) => ({ site, head }));
  made.set(site, known);
  return known;
}

function cellsOf(store: Store): Cell[] {
  const { kind } = store.selection.value;
  return store.page.sites.filter((site) => site.kind === kind).flatMap(cellsIn);
}

/** The maps of all heads; layers that are still on their way are drawn as they come, and then refined if they stay. */
async function drawAll(store: Store, found: Signal<Map<string, Digest>>, signal: AbortSignal): Promise<void> {
  const here = () => cellsOf(store).every(({ site }) => isHere(site));
  if (hasPictures(store, here())) return showPictures(store, found, signal);
  const sketched = !here();
  if (sketched) await streamed(store, found, signal);
  if (here()) await run(digests(store, found, sketched), signal, 24);
}

/** Whether small pictures of all heads came with the page, or a server makes them for layers that are not here. */
function hasPictures(store: Store, here: boolean): boolean {
  const { level, contributions, worth } = store.look.peek();
  const known = cellsOf(store).every(({ site }) => site.block !== undefined);
  return (
    level === "tokens" && !contributions && !worth && (known || (!here && Boolean(store.powers.picture)))
  );
}

/** The pictures that heads come with, layer by layer. */
async function showPictures(
  store: Store,
  found: Signal<Map<string, Digest>>,
  signal: AbortSignal,
): Promise<void> {
  for (const site of new Set(cellsOf(store).map((cell) => cell.site))) {
    const { picture, fetch } = store.powers;
    if (!site.blocks) await (picture ? picture(site, signal) : fetch!(site, false, signal)); // or its page is being read
    signal.throwIfAborted();
    const made = site.heads.map((head, index) => [nameOf({ site, head }), pictured(site, index)] as const);
    found.value = new Map([...found.peek(), ...made]);
  }
  requestAnimationFrame(() => mark("regard:drawn"));
  requestAnimationFrame(() => mark("regard:exact"));
}

/** First every head from some of its rows, unless it is sketched already, then every head in full. */
function* digests(
  store: Store,
  found: Signal<Map<string, Digest>>,
  sketched: boolean,
): Generator<void, void> {
  const look = store.look.peek();
  const cells = cellsOf(store);
  const lenses = cells.map(({ site, head }) => store.lenses.of(site, site.heads.indexOf(head), look));
  const thorough = isKnown(store.page) ? "picture" : "exact"; // measures need not be counted twice
  const passes = !sketched && lenses.some((lens) => poolOf(lens) > 2) ? [false, true] : [true];
  for (const full of passes) {
    const results = new Map(found.peek());
    let shown = performance.now();
    for (const [i, cell] of cells.entries()) {
      results.set(nameOf(cell), yield* digest(lenses[i], full ? thorough : "glance"));
      if (performance.now() - shown > BETWEEN) {
        found.value = new Map(results);
        shown = performance.now();
      }
    }
    found.value = results;
    if (!sketched && (!full || passes.length === 1)) requestAnimationFrame(() => mark("regard:drawn"));
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
  const results = new Map(found.peek());
  let shown = performance.now();
  for (const site of store.page.sites.filter((one) => one.kind === kind)) {
    if (!store.reaches(site)) continue;
    const whole = isHere(site) ? site : await store.powers.fetch!(site, false, signal);
    signal.throwIfAborted();
    const [rows, columns] = [site.query, site.key].map((side) => store.lenses.axis(side, look.level));
    const lenses = site.heads.map((_, index) => new Lens(whole, index, rows, columns, look));
    const made = await run(sketches(lenses), signal, FIRST);
    for (const [i, head] of site.heads.entries()) results.set(nameOf({ site, head }), made[i]);
    if (performance.now() - shown > BETWEEN) {
      found.value = new Map(results);
      shown = performance.now();
    }
    if (whole !== site) release([whole]);
  }
  found.value = results;
  requestAnimationFrame(() => mark("regard:drawn"));
  if (store.page.sites.some((site) => !isHere(site))) mark("regard:exact"); // more there will not be
}

/** The maps of some heads, each from a few of its rows. */
function* sketches(lenses: readonly Lens[]): Generator<void, Digest[]> {
  const made: Digest[] = [];
  for (const lens of lenses) made.push(yield* digest(lens, "glance"));
  return made;
}

/** How far the worth of any line goes, which all maps share; null where each has its own scale. */
const sharedTop = (store: Store, found: ReadonlyMap<string, Digest>): number | null =>
  store.look.value.worth ? [...found.values()].reduce((most, { top }) => Math.max(most, top), 1e-12) : null;

/** A measure that came with the page, or one counted here; by worth, the largest of a line. */
function sortValue(cell: Cell, found: Digest | undefined, name: string): number | null {
  if (name === "worth") return found?.top ?? null;
  const counted = found?.measures[name as Measure];
  return measureOf(cell, name) ?? (counted === undefined || Number.isNaN(counted) ? null : counted);
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
  const shared = sharedTop(store, found);
  const { rows, columns } = sidesOf(cells);
  const size = (width - LABEL - BAR_ROOM) / columns.length - GAP;
  const tall = size / mapShape(store).aspect;
  const x = (head: number) => LABEL + columns.indexOf(head) * (size + GAP);
  const y = (row: string) => LABEL + rows.indexOf(row) * (tall + GAP);
  const write = (px: number, py: number, text: string) =>
    pen.text(px, py, text, { colour: colours.quiet, size: 11, align: "middle", mono: false });
  for (const head of columns) write(x(head) + size / 2, LABEL - 12, String(head));
  for (const row of rows) write(LABEL - 12, y(row) + tall / 2, row.split(" ")[0]);
  for (const cell of cells) {
    const known = found.get(nameOf(cell));
    if (!known) continue;
    const canvas = document.createElement("canvas");
    const glimpse = glimpseOf(store, cell);
    if (glimpse) ghost(canvas, store, cell, glimpse);
    else paint(canvas, known, cell.site, store, shared);
    const [left, top] = [x(cell.head), y(`${cell.site.layer} ${cell.site.part}`)];
    pen.image(canvas, left, top, size, tall, glimpse !== null);
    const [name] = namesOf(store.page, cell, store.tint.value, store.look.value.contributions);
    if (name !== NONE)
      pen.rect(left, top + tall - STRIP, size, STRIP, {
        colour: colourOf(store.page, store.tint.value, name, store.theme.value),
      });
  }
  const [wide, high] = [columns.length * (size + GAP), rows.length * (tall + GAP)];
  const tell = sayIn(store);
  const names = { query: tell("layerAxis"), key: tell("headAxis") };
  axisNames(pen, { left: LABEL, top: LABEL, width: wide, height: high }, names, colours);
  const bar = shared
    ? { top: shared, log: false, name: quantityOf(store), marks: rootTicks(shared) }
    : { top: 1, log: false, name: tell("ofLargest") };
  colourBar(pen, [LABEL + wide + 8, LABEL], high - GAP, bar, colours);
  return LABEL + high;
}
