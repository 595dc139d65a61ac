// One head as a map that zooms and pans: the matrix view, and a head enlarged in the atlas.
// One file and long: pointer, keys and drawing of one plot share its scales.

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { run, superseded } from "../../compute/jobs";
import { TILE, type Tile, Tiles } from "../../compute/tiles";
import type { Cell } from "../../data/report";
import { partNames, quantityOf, sayIn, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { axes, type Frame, type Zoom } from "../../marks/axes";
import { heat } from "../../marks/heat";
import { axisNames, BAR_ROOM, colourBar } from "../../marks/legend";
import { divideMap } from "../../marks/parts";
import { canvasPen, measure, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { shownBy } from "../../state/shown";
import { NOTHING, type Selection, type Store } from "../../state/store";
import { type Gestures, LARGEST, listen } from "./gestures";

/** What a plot shows, for the sentences around it. */
export interface PlotState {
  zoom: Signal<Zoom>;
  reset: () => void;
  by: (factor: number) => void;
  top: number;
  pool: number;
  above: number; // room of the key labels, over the map
  high: number; // of the map in sight
}

const drawn = stage<Tiles>();
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

  const frame = useComputed<Frame>(() => frameOf(source.value, box.value.width, box.value.height));
  const reset = () => {
    const { width, height } = frame.peek();
    const { rows, columns } = source.peek().lens;
    zoom.value = { x: 0, y: 0, scale: Math.min(LARGEST, width / columns.count, height / rows.count) };
  };
  const gestures: Gestures = {
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
  };

  useLayoutEffect(() => {
    const element = holder.current!;
    const look = () => {
      const [width, height] = [element.clientWidth, element.clientHeight];
      if (width === box.peek().width && height === box.peek().height) return;
      // A map that was shown whole stays whole; one that was zoomed into stays as it is.
      const whole = box.peek().width === 0 || zoom.peek().scale <= minimum(frame.peek(), source.peek());
      box.value = { width, height };
      if (whole || zoom.peek().scale < minimum(frame.peek(), source.peek())) reset();
    };
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    const abort = new AbortController();
    listen(over.current!, gestures, abort.signal);
    return () => {
      watcher.disconnect();
      abort.abort();
    };
  }, []);
  useEffect(() => {
    if (box.peek().width) reset();
  }, [current.lens.rows.count, current.lens.columns.count]);

  useSignalEffect(() => {
    tick.value;
    const { width, height } = box.value;
    if (!width || !zoom.value.scale) return undefined;
    const pen = canvasPen(prepare(map.current!, width, height));
    const { rough, missing } = drawTiles(pen, source.value, frame.value, zoom.value, store);
    state.value = {
      zoom,
      reset,
      by: (factor) => gestures.by?.(factor),
      top: source.value.top,
      pool: 2 ** levelOf(zoom.value),
      above: frame.value.top,
      high: Math.min(frame.value.height, source.value.lens.rows.count * zoom.value.scale),
    };
    if (!aside) mark("regard:drawn");
    if (missing) {
      const frame = requestAnimationFrame(() => tick.value++);
      return () => cancelAnimationFrame(frame);
    }
    if (!rough.length) {
      if (!aside) mark("regard:exact");
      return undefined;
    }
    const abort = new AbortController();
    run(refineAll(source.value, rough), abort.signal).then(
      () => {
        tick.value++;
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
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
    </div>
  );
}

function tilesOf(store: Store, { site, head }: Cell): Tiles {
  const lens = store.lens(head, site);
  const { rows, columns } = shownBy(lens.rows, lens.columns, shown(store));
  return new Tiles(lens, { rows: rows.mask, columns: columns.mask });
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
const COARSEST = 3; // the level that shows through while finer tiles are made

function frameOf({ lens }: Tiles, width: number, height: number): Frame {
  const room = (labels: readonly string[]) =>
    Math.min(
      LABEL,
      18 + labels.reduce((widest, text) => Math.max(widest, measure(text.slice(0, 18), 12)), 0),
    );
  const left = room(lens.rows.names);
  const top = room(lens.columns.names);
  return { left, top, width: Math.max(40, width - left), height: Math.max(40, height - top) };
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
  tiles: Tiles,
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

function drawTile(pen: Pen, tile: Tile, tiles: Tiles, frame: Frame, zoom: Zoom, store: Store): void {
  const key = `${store.theme.value} ${store.selection.value.log} ${tiles.top} ${tile.changed}`;
  const side = 2 ** tile.level * zoom.scale;
  const x = frame.left + (tile.columns[0] - zoom.x) * zoom.scale;
  const y = frame.top + (tile.rows[0] - zoom.y) * zoom.scale;
  pen.image(imageOf(tile, key, tiles.top, store), x, y, tile.size[1] * side, tile.size[0] * side);
}

function imageOf(tile: Tile, key: string, top: number, store: Store): HTMLCanvasElement {
  const known = painted.get(tile);
  if (known?.key === key) return known.canvas;
  const canvas = known?.canvas ?? document.createElement("canvas");
  heat(canvas, tile.values, tile.size[0], tile.size[1], top, store.selection.value.log, store.theme.value);
  painted.set(tile, { canvas, key });
  return canvas;
}

/** Axes, and the cell under the pointer. */
function drawOver(pen: Pen, tiles: Tiles, frame: Frame, zoom: Zoom, store: Store): void {
  const colours = palette(store.theme.value);
  const { queries, keys } = store.active.value;
  const { lens } = tiles;
  divideMap(pen, lens.rows, lens.columns, frame, zoom, partNames(store), colours);
  axes(pen, lens.rows, lens.columns, frame, zoom, { rows: queries, columns: keys }, colours);
  const { query, key } = store.hover.value;
  if (query === null || key === null || query >= lens.rows.count || key >= lens.columns.count) return;
  const x = frame.left + (key - zoom.x) * zoom.scale;
  const y = frame.top + (query - zoom.y) * zoom.scale;
  const s = Math.max(3, zoom.scale);
  pen.lines([x, y, x + s, y, x + s, y, x + s, y + s, x + s, y + s, x, y + s, x, y + s, x, y], 4, 1.5, {
    colour: colours.accent,
  });
}

const AXIS = 16; // room for the name of an axis

/** The whole map, whatever part of it is in sight. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const tiles = drawn.of(store);
  if (!tiles) return null;
  const { rows, columns } = tiles.lens;
  const frame = frameOf(tiles, width - AXIS - BAR_ROOM, width);
  const scale = Math.min(24, frame.width / Math.max(columns.count, rows.count));
  const zoom = { x: 0, y: 0, scale };
  const whole = { ...frame, width: columns.count * scale, height: rows.count * scale };
  const inner = shifted(pen, AXIS, AXIS);
  const nowhere: Pen = { lines() {}, rect() {}, text() {}, image() {} };
  for (const _ of refineAll(tiles, drawTiles(nowhere, tiles, whole, zoom, store, Infinity).rough));
  drawTiles(inner, tiles, whole, zoom, store, Infinity);
  const colours = palette(store.theme.value);
  divideMap(inner, rows, columns, whole, zoom, partNames(store), colours);
  axes(inner, rows, columns, whole, zoom, { rows: [], columns: [] }, colours);
  const tell = sayIn(store);
  const names = { query: tell("queryAxis"), key: tell("keyAxis") };
  axisNames(pen, { ...whole, left: whole.left + AXIS, top: whole.top + AXIS }, names, colours);
  const bar = { top: tiles.top, log: store.selection.peek().log, name: quantityOf(store) };
  colourBar(inner, [whole.left + whole.width + 16, whole.top], whole.height, bar, colours);
  return AXIS + whole.top + whole.height;
}
