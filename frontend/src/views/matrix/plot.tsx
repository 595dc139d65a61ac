// One head as a map that zooms and pans: the matrix view, and a head enlarged in the atlas.
// One file and long: pointer, keys and drawing of one plot share its scales.

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Axis } from "../../compute/axis";
import { run, superseded } from "../../compute/jobs";
import type { Lens } from "../../compute/lens";
import { isCausal, type Rests, restsOf } from "../../compute/rest";
import { TILE, type Tile, Tiles } from "../../compute/tiles";
import type { Cell } from "../../data/report";
import { partNames, quantityOf, sayIn, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { foldedNames, nameOn } from "../../frame/folds";
import { axes, axisName, type Frame, type Zoom } from "../../marks/axes";
import { heat, signedHeat } from "../../marks/heat";
import { axisNames, BAR_ROOM, colourBar } from "../../marks/legend";
import { divideMap } from "../../marks/parts";
import { canvasPen, measure, type Pen, prepare, shifted } from "../../marks/pen";
import { type Palette, palette, twoSidedTicks } from "../../marks/scales";
import { NOTHING, type Selection } from "../../state/selection";
import { shownBy } from "../../state/shown";
import type { Store } from "../../state/store";
import { drawCuts } from "./cuts";
import { type Gestures, LARGEST, listen } from "./gestures";
import { HEADER, Headers } from "./headers";
import { rowOf } from "./rowbars";

/** What a plot shows, for the sentences around it. */
export interface PlotState {
  zoom: Signal<Zoom>;
  reset: () => void;
  by: (factor: number) => void;
  show: (query: number, key: number) => void;
  top: number;
  rests: boolean; // whether places where the head rests are grey
  pool: number;
  above: number; // room of the key labels, over the map
  high: number; // of the map in sight
}

const drawn = stage<RestingTiles>();
const painted = new WeakMap<Tile, { canvas: HTMLCanvasElement; key: string }>();

interface PlotProps {
  state: Signal<PlotState | null>;
  cell?: Cell; // the chosen one unless told
  aside?: boolean; // whether another picture is what is waited for
}

export function Plot({ state, cell: given, aside = false }: PlotProps) {
  const store = useStore();
  const cell = given ?? { site: store.site.value, head: store.lead };
  const tell = useSay();
  const holder = useRef<HTMLDivElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const box = useSignal({ width: 0, height: 0 });
  const zoom = useSignal<Zoom>({ x: 0, y: 0, scale: 0 });
  const tick = useSignal(0); // counts up when tiles got better
  const current = useMemo(() => tilesOf(store, cell), [tilesKey(store, cell)]);
  const source = useSignal(current);
  source.value = current;

  const labels = useComputed(() => labelRoom(source.value, store)); // of thousands of tokens: not at every change of the box
  const frame = useComputed<Frame>(() => frameOf(labels.value, box.value.width, box.value.height));
  const reset = () => {
    const { width, height } = frame.peek();
    const { rows, columns } = source.peek().lens;
    zoom.value = { x: 0, y: 0, scale: Math.min(LARGEST, width / columns.count, height / rows.count) };
  };
  const gestures = useGestures({ zoom, frame, reset }, source);

  useLayoutEffect(() => {
    const abort = new AbortController();
    const smallest = () => minimum(frame.peek(), source.peek());
    watchSize(holder.current!, box, zoom, smallest, reset, abort.signal);
    listen(over.current!, gestures, abort.signal);
    return () => abort.abort();
  }, []);
  useEffect(() => {
    if (box.peek().width) reset();
  }, [current.lens.rows.count, current.lens.columns.count]);

  useSignalEffect(() => {
    tick.value;
    const { width, height } = box.value;
    if (!width || !zoom.value.scale) return undefined;
    const pen = canvasPen(prepare(map.current!, width, height));
    const drawing = drawTiles(pen, source.value, frame.value, zoom.value, store);
    state.value = stateOf(gestures, source.value, frame.value);
    if (!aside) mark("regard:drawn");
    if (!aside && !drawing.missing && !drawing.rough.length) mark("regard:exact");
    return improve(source.value, drawing, () => tick.value++);
  });
  useSignalEffect(() => {
    const { width, height } = box.value;
    if (!width || !zoom.value.scale) return;
    drawOver(canvasPen(prepare(over.current!, width, height)), source.value, frame.value, zoom.value, store);
    mark("regard:hover");
  });
  drawn.use(store, () => source.peek());

  return (
    <div class="plot" ref={holder}>
      <canvas ref={map} aria-hidden="true" />
      <canvas
        ref={over}
        class="over"
        tabIndex={0}
        role="img"
        aria-label={`${tell("layerHead", { layer: cell.site.layer, head: cell.head })}. ${tell("matrixHint")}`}
      />
      {store.view.folds && <Headers lens={current.lens} frame={frame.value} zoom={zoom.value} />}
    </div>
  );
}

/** What the pointer and the keys can do. Made once: the listeners put their own abilities into it. */
function useGestures(
  { zoom, frame, reset }: Pick<Gestures, "zoom" | "frame" | "reset">,
  source: Signal<RestingTiles>,
): Gestures {
  const store = useStore();
  return useMemo<Gestures>(
    () => ({
      zoom,
      frame,
      reset,
      bounds: () => [source.peek().lens.rows.count, source.peek().lens.columns.count],
      point: (query, key) => {
        store.hover.value = query === null ? NOTHING : { query, key };
      },
      pick: (query, key) => {
        const { rows, columns } = source.peek().lens;
        store.set({ queries: [rows.starts[query]], keys: [columns.starts[key]] });
      },
    }),
    [],
  );
}

/** What the controls beside the map know of it. */
function stateOf(gestures: Gestures, source: RestingTiles, frame: Frame): PlotState {
  const { zoom, reset } = gestures;
  return {
    zoom,
    reset,
    by: (factor) => gestures.by?.(factor),
    show: (query, key) => gestures.show?.(query, key),
    top: source.end,
    rests: source.awake > 0,
    pool: 2 ** levelOf(zoom.value),
    above: frame.top,
    high: Math.min(frame.height, source.lens.rows.count * zoom.value.scale),
  };
}

/** Keep the size of the box. A map that was shown whole stays whole; one that was zoomed into stays as it is. */
function watchSize(
  element: HTMLElement,
  box: Signal<{ width: number; height: number }>,
  zoom: Signal<Zoom>,
  smallest: () => number,
  reset: () => void,
  signal: AbortSignal,
): void {
  const look = () => {
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (width === box.peek().width && height === box.peek().height) return;
    const whole = box.peek().width === 0 || zoom.peek().scale <= smallest();
    box.value = { width, height };
    if (whole || zoom.peek().scale < smallest()) reset();
  };
  look();
  const watcher = new ResizeObserver(look);
  watcher.observe(element);
  signal.addEventListener("abort", () => watcher.disconnect());
}

/** Make what is missing in the next frame, and what is rough exact; what is returned ends it. */
function improve(tiles: Tiles, { rough, missing }: Drawn, better: () => void): (() => void) | undefined {
  if (missing) {
    const frame = requestAnimationFrame(better);
    return () => cancelAnimationFrame(frame);
  }
  if (!rough.length) return undefined;
  const abort = new AbortController();
  run(refineAll(tiles, rough), abort.signal).then(better, (error) => {
    if (!superseded(error)) throw error;
  });
  return () => abort.abort();
}

function tilesOf(store: Store, { site, head }: Cell): RestingTiles {
  const lens = store.lens(head, site);
  const { rows, columns } = shownBy(lens.rows, lens.columns, shown(store));
  const tiles = new RestingTiles(lens, { rows: rows.mask, columns: columns.mask });
  tiles.causal = isCausal(site);
  if (lens.look.worth) return tiles; // what it is worth to rest is the question
  tiles.rests = restsOf(site, lens.rows, lens.columns);
  tiles.awake = awakeTop(tiles);
  return tiles;
}

/** Tiles that know where the head rests: there they are grey, and colours end at the strongest look elsewhere. */
class RestingTiles extends Tiles {
  rests: Rests = () => false;
  causal = false;
  awake = 0; // the strongest look outside the resting places; 0 where it is not known

  get end(): number {
    return this.awake || this.top;
  }
}

const MANY = 128; // tokens up to which the strongest look is looked for
const FAINT = 0.02; // a weaker one is not made the end of the colours

function awakeTop({ lens, rests }: RestingTiles): number {
  if (Math.max(lens.rows.count, lens.columns.count) > MANY) return 0;
  let most = 0;
  for (let query = 0; query < lens.rows.count; query++)
    lens.row(query).forEach((weight, key) => {
      if (weight > most && key < lens.columns.count && !rests(query, key)) most = weight;
    });
  return most < FAINT ? 0 : most;
}

/** Segments are chosen for one head; a map enlarged among all is whole. */
function shown(store: Store): Selection {
  const selection = store.selection.value;
  return store.view.heads !== "all" ? selection : { ...selection, from: null, to: null };
}

function tilesKey(store: Store, { site, head }: Cell): string {
  const { special, from, to } = shown(store);
  return JSON.stringify([
    store.edition,
    store.page.sites.indexOf(site),
    head,
    special,
    from,
    to,
    store.look.value,
  ]);
}

function* refineAll(tiles: Tiles, rough: Tile[]): Generator<void, void> {
  for (const tile of rough) yield* tiles.refine(tile);
}

const LABEL = 130;
const MOST = 0.36; // of the whole that names take
const FOLDED = 220; // room for the name of a folded segment
const COARSEST = 3; // the level that shows through while finer tiles are made

/** The room that the names of rows and of columns take. */
function labelRoom({ lens }: Tiles, store: Store): { left: number; top: number } {
  const widest = (labels: readonly string[], letters: number) =>
    labels.reduce((widest, text) => Math.max(widest, measure(text.slice(0, letters), 12)), 0);
  const folded = widest(store.view.folds ? foldedNames(store) : [], 32);
  const room = ({ names, side }: Axis) =>
    Math.min(folded ? FOLDED : LABEL, 18 + Math.max(folded, widest(names, 18))) +
    (store.view.folds && side.segments.length > 1 ? HEADER : 0);
  return { left: room(lens.rows), top: room(lens.columns) };
}

function frameOf({ left, top }: { left: number; top: number }, width: number, height: number): Frame {
  const [beside, above] = [Math.min(left, MOST * width), Math.min(top, MOST * height)].map(Math.round);
  return {
    left: beside,
    top: above,
    width: Math.max(40, width - beside),
    height: Math.max(40, height - above),
  };
}

const minimum = (frame: Frame, { lens }: Tiles): number =>
  Math.min(LARGEST, frame.width / lens.columns.count, frame.height / lens.rows.count);

/** The level whose pixels are at least as large as those of the screen. */
function levelOf({ scale }: Zoom): number {
  return Math.max(0, Math.floor(-Math.log2(scale) + 0.01));
}

interface Drawn {
  rough: Tile[]; // tiles that are only samples yet
  missing: boolean; // whether some were left for the next frame
}

const PATIENCE = 12; // milliseconds a frame may spend on new tiles

/** Draw the tiles in sight; where one is not made in time, a coarser one shows through. */
function drawTiles(
  pen: Pen,
  tiles: RestingTiles,
  frame: Frame,
  zoom: Zoom,
  store: Store,
  patience = PATIENCE,
): Drawn {
  const level = levelOf(zoom);
  const until = performance.now() + patience;
  const rough: Tile[] = [];
  let missing = false;
  const draw = (tile: Tile) => drawTile(pen, tile, tiles, frame, zoom, store);
  for (const [y, x] of inSight(tiles, COARSEST, frame, zoom)) {
    const tile = tiles.known(COARSEST, y, x);
    if (tile) draw(tile);
  }
  for (const [y, x] of inSight(tiles, level, frame, zoom)) {
    const tile = tiles.known(level, y, x) ?? (performance.now() < until ? tiles.sample(level, y, x) : null);
    if (!tile) missing = true;
    else {
      draw(tile);
      if (!tile.exact) rough.push(tile);
    }
  }
  const { ground } = palette(store.theme.value);
  pen.rect(0, 0, frame.left, frame.top + frame.height, { colour: ground });
  pen.rect(0, 0, frame.left + frame.width, frame.top, { colour: ground });
  return { rough, missing };
}

/** Rows and columns of the tiles of a level that can be seen. */
function inSight({ lens }: Tiles, level: number, frame: Frame, zoom: Zoom): [number, number][] {
  const span = TILE * 2 ** level;
  const bottom = Math.min(lens.rows.count, zoom.y + frame.height / zoom.scale);
  const right = Math.min(lens.columns.count, zoom.x + frame.width / zoom.scale);
  const seen: [number, number][] = [];
  for (let y = Math.max(0, Math.floor(zoom.y / span)); y * span < bottom; y++)
    for (let x = Math.max(0, Math.floor(zoom.x / span)); x * span < right; x++) seen.push([y, x]);
  return seen;
}

function drawTile(pen: Pen, tile: Tile, tiles: RestingTiles, frame: Frame, zoom: Zoom, store: Store): void {
  const key = `${store.theme.value} ${store.selection.value.log} ${tiles.end} ${tile.changed}`;
  const side = 2 ** tile.level * zoom.scale;
  const x = frame.left + (tile.columns[0] - zoom.x) * zoom.scale;
  const y = frame.top + (tile.rows[0] - zoom.y) * zoom.scale;
  pen.image(imageOf(tile, key, tiles, store), x, y, tile.size[1] * side, tile.size[0] * side);
  if (tiles.lens.look.worth && side >= HATCHED)
    hatch(pen, tile, x, y, side, palette(store.theme.value).quiet);
}

const HATCHED = 6; // pixels from which a cell has room for it

/** A stroke through each cell whose worth only an exact cut tells. */
function hatch(pen: Pen, tile: Tile, x: number, y: number, side: number, colour: string): void {
  const strokes: number[] = [];
  tile.values.forEach((value, i) => {
    if (!Number.isNaN(value)) return;
    const [left, top] = [x + (i % tile.size[1]) * side, y + Math.floor(i / tile.size[1]) * side];
    strokes.push(left + 1, top + side - 1, left + side - 1, top + 1);
  });
  if (strokes.length) pen.lines(strokes, strokes.length / 4, 1, { colour, alpha: 0.7 });
}

function imageOf(tile: Tile, key: string, tiles: RestingTiles, store: Store): HTMLCanvasElement {
  const known = painted.get(tile);
  if (known?.key === key) return known.canvas;
  const canvas = known?.canvas ?? document.createElement("canvas");
  const [high, wide] = tile.size;
  const [top, left] = [tile.rows[0], tile.columns[0]];
  const rests = (i: number) => tiles.rests(top + Math.floor(i / wide), left + (i % wide));
  const { log } = store.selection.value;
  const theme = store.theme.value;
  if (tiles.lens.look.worth) signedHeat(canvas, tile.values, high, wide, tiles.end, theme);
  else heat(canvas, tile.values, high, wide, tiles.end, log, theme, tiles.awake ? rests : undefined);
  painted.set(tile, { canvas, key });
  return canvas;
}

/** Axes, and the cell under the pointer. */
function drawOver(pen: Pen, tiles: RestingTiles, frame: Frame, zoom: Zoom, store: Store): void {
  const colours = palette(store.theme.value);
  const { queries, keys } = store.active.value;
  const { lens } = tiles;
  divideMap(pen, lens.rows, lens.columns, frame, zoom, partNames(store), colours);
  const listed = listedRow(store);
  const lit = { rows: queries.length || listed === null ? queries : [listed], columns: keys };
  axes(pen, lens.rows, lens.columns, frame, zoom, lit, colours, namesOf(store));
  if (listed !== null && store.hover.value.query === null) frameRow(pen, listed, lens, frame, zoom, colours);
  if (tiles.causal) sayUnseen(pen, frame, lens.columns.count * zoom.scale, zoom, store);
  drawCuts(pen, tiles.lens, frame, zoom, store);
  const { query, key } = store.hover.value;
  if (query === null || key === null || query >= lens.rows.count || key >= lens.columns.count) return;
  const x = frame.left + (key - zoom.x) * zoom.scale;
  const y = frame.top + (query - zoom.y) * zoom.scale;
  const s = Math.max(3, zoom.scale);
  pen.lines([x, y, x + s, y, x + s, y, x + s, y + s, x + s, y + s, x, y + s, x, y + s, x, y], 4, 1.5, {
    colour: colours.accent,
  });
}

/** The row whose numbers stand beside the map; null where none do. */
const listedRow = (store: Store): number | null => (store.view.lists ? rowOf(store) : null);

/** A frame around a row. */
function frameRow(pen: Pen, row: number, lens: Lens, frame: Frame, zoom: Zoom, colours: Palette): void {
  const y = frame.top + (row - zoom.y) * zoom.scale;
  const [left, right] = [
    frame.left,
    frame.left + Math.min(frame.width, (lens.columns.count - zoom.x) * zoom.scale),
  ];
  const high = Math.max(3, zoom.scale);
  if (y < frame.top || y + high > frame.top + frame.height + 1) return;
  const box = [
    left,
    y,
    right,
    y,
    right,
    y,
    right,
    y + high,
    right,
    y + high,
    left,
    y + high,
    left,
    y + high,
    left,
    y,
  ];
  pen.lines(box, 4, 1.5, { colour: colours.accent });
}

const CORNER = 220; // pixels of a map whose empty half has room for a sentence

/** In the empty half of a causal map that is shown whole: why it is empty. */
function sayUnseen(pen: Pen, frame: Frame, size: number, zoom: Zoom, store: Store): void {
  if (zoom.x !== 0 || zoom.y !== 0 || size < CORNER || size > frame.width + 1) return;
  const lines = sayIn(store)("unseen").split("\n");
  const { quiet, ground } = palette(store.theme.value);
  lines.forEach((text, n) => {
    const [x, y, wide] = [frame.left + size - 8, frame.top + 0.2 * size + 16 * n, measure(text, 12, false)];
    pen.rect(x - wide - 2, y - 8, wide + 4, 16, { colour: ground }); // rules between parts end here
    pen.text(x, y, text, { colour: quiet, size: 12, align: "end", mono: false });
  });
}

/** What positions are called on the axes. */
const namesOf = (store: Store) => (axis: Axis, position: number, role: "query" | "key") =>
  axis.folded[position] ? nameOn(store, axis, position, role) : axisName(axis, position, role);

const AXIS = 16; // room for the name of an axis

/** The whole map, whatever part of it is in sight. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const tiles = drawn.of(store);
  if (!tiles) return null;
  const { rows, columns } = tiles.lens;
  const frame = frameOf(labelRoom(tiles, store), width - AXIS - BAR_ROOM, width);
  const scale = Math.min(24, frame.width / Math.max(columns.count, rows.count));
  const zoom = { x: 0, y: 0, scale };
  const whole = { ...frame, width: columns.count * scale, height: rows.count * scale };
  const inner = shifted(pen, AXIS, AXIS);
  const nowhere: Pen = { lines() {}, rect() {}, text() {}, image() {} };
  for (const _ of refineAll(tiles, drawTiles(nowhere, tiles, whole, zoom, store, Infinity).rough));
  drawTiles(inner, tiles, whole, zoom, store, Infinity);
  const colours = palette(store.theme.value);
  divideMap(inner, rows, columns, whole, zoom, partNames(store), colours);
  axes(inner, rows, columns, whole, zoom, { rows: [], columns: [] }, colours, namesOf(store));
  const tell = sayIn(store);
  const names = { query: tell("queryAxis"), key: tell("keyAxis") };
  axisNames(pen, { ...whole, left: whole.left + AXIS, top: whole.top + AXIS }, names, colours);
  const marks = tiles.lens.look.worth && twoSidedTicks(tiles.end);
  const bar = { top: tiles.end, log: store.selection.peek().log, name: quantityOf(store), marks };
  colourBar(inner, [whole.left + whole.width + 16, whole.top], whole.height, bar, colours);
  return AXIS + whole.top + whole.height;
}
