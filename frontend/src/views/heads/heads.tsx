// The head view: two columns of tokens, lines from queries to keys.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Active } from "../../compute/active";
import { type Axis, answerAt } from "../../compute/axis";
import { run, superseded } from "../../compute/jobs";
import { FAINT } from "../../compute/links";
import { mean } from "../../compute/mean";
import { partNames, sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { Notice } from "../../frame/notice";
import { isTouch, useSeen } from "../../frame/scroller";
import {
  bars,
  type Geometry,
  geometry,
  type Label,
  labels,
  lineEnd,
  lineStart,
  links,
  longest,
  middle,
  rowHeight,
  strengthOf,
} from "../../marks/columns";
import { divideColumn } from "../../marks/parts";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Positions } from "../../state/shown";
import { formOf, NOTHING, type Store, samePlace } from "../../state/store";
import { Legend, legendPicture } from "./legend";
import { isVision, Patches, picture as patchesPicture } from "./patches";
import { coloursOf, type Scene, sceneKey, sceneOf, together } from "./scene";
import { Sentence, picture as sentencePicture } from "./sentence";
import { leaving, usePointing } from "./tokens";

const lines = stage<Scene>();

export function Heads() {
  const store = useStore();
  const scene = useSignal<Scene | null>(null);
  const busy = useSignal(false);
  const key = useComputed(() => sceneKey(store));
  useSignalEffect(() => {
    key.value;
    const abort = new AbortController();
    busy.value = true;
    run(sceneOf(store), abort.signal).then(
      (found) => {
        scene.value = found;
        busy.value = false;
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  });
  const tell = useSay();
  const current = scene.value;
  if (!current) return <div class="stage" aria-busy="true" />;
  if (!store.selection.value.heads.length) return <Notice text={tell("noHeads")} />;
  if (!current.rows.list.length || !current.columns.list.length) return <Notice text={tell("noPositions")} />;
  if (isVision(store)) return <Patches />;
  return formOf(store) === "sentence" ? (
    <Sentence scene={current} busy={busy.value} />
  ) : (
    <Columns scene={current} busy={busy.value} />
  );
}

function Columns({ scene, busy }: { scene: Scene; busy: boolean }) {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const scroller = useRef<HTMLDivElement>(null);
  const back = useRef<HTMLCanvasElement>(null);
  const front = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller);

  const drawn = useSignal(scene);
  drawn.value = scene;
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const pen = canvasPen(prepare(back.current!, width, height));
    drawBack(pen, store, drawn.value, geometryOf(drawn.value, box.value), top, height);
    mark("regard:drawn");
  });
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const pen = canvasPen(prepare(front.current!, width, height));
    const active = drawFront(pen, store, drawn.value, geometryOf(drawn.value, box.value), top, height);
    back.current!.style.opacity = !active ? "1" : pairOf(store) ? "0.3" : "0";
    if (active) mark("regard:hover");
  });
  lines.use(store, () => drawn.peek());

  const g = geometryOf(scene, box.value);
  const { keys, queries } = store.active.value;
  const still = keys.length + queries.length === 0;
  return (
    <div class={busy ? "stage busy" : "stage"}>
      <Legend scene={scene} />
      <div class="headings" aria-hidden="true">
        <Heading text={tell(still ? "stripStrongest" : "stripBy")} from={0} to={g.left - g.text - 14} end />
        <Heading text={tell("headingQueries")} from={g.left - g.text - 4} to={g.left} end />
        <Heading text={tell("headingKeys")} from={g.right} to={g.right + g.text + 4} />
        <Heading text={still ? tell("stripReceived") : quantity} from={g.right + g.text + 14} to={g.width} />
      </div>
      <div class="scroller flow" ref={scroller} onPointerLeave={leaving(store)}>
        <div
          class="run"
          style={{ height: `${longer(scene) * g.row}px` }}
          onPointerMove={(event) => pointAtLine(event, store, scene, g)}
        >
          <div class="sheet">
            <canvas ref={back} aria-hidden="true" />
            <canvas ref={front} aria-hidden="true" />
          </div>
          <Tokens side="query" axis={scene.rowAxis} shown={scene.rows} g={g} box={box.value} />
          <Tokens side="key" axis={scene.columnAxis} shown={scene.columns} g={g} box={box.value} />
        </div>
      </div>
    </div>
  );
}

const longer = (scene: Scene): number => Math.max(scene.rows.list.length, scene.columns.list.length);

const geometryOf = (scene: Scene, { width, height }: { width: number; height: number }): Geometry =>
  geometry(width || 800, rowHeight(height, longer(scene), isTouch()), scene.widest);

function Heading({ text, from, to, end }: { text: string; from: number; to: number; end?: boolean }) {
  // A heading may reach into the gap between the columns, never over another one.
  const wide = Math.max(0, to - from);
  if (wide < 6.4 * text.length) return null;
  return (
    <span class={end ? "end" : ""} style={{ left: `${from}px`, width: `${wide}px` }} title={text}>
      {text}
    </span>
  );
}

interface TokensProps {
  side: "query" | "key";
  axis: Axis;
  shown: Positions;
  g: Geometry;
  box: { height: number; top: number };
}

/** The tokens as buttons over the picture, for pointers, keyboards and screen readers; only those in sight. */
function Tokens({ side, axis, shown, g, box }: TokensProps) {
  const tell = useSay();
  const pointing = usePointing(side, axis);
  const first = Math.max(0, Math.floor(box.top / g.row) - 4);
  const last = Math.min(shown.list.length, Math.ceil((box.top + box.height) / g.row) + 4);
  const left = side === "query" ? g.left - g.text - 4 : g.right - 4;
  return (
    <fieldset>
      <legend class="unseen">{tell(side === "query" ? "queryColumn" : "keyColumn")}</legend>
      {shown.list.slice(first, last).map((position, i) => (
        <button
          key={position}
          {...pointing(position)}
          style={{
            top: `${(first + i) * g.row}px`,
            left: `${left}px`,
            width: `${g.text + 8}px`,
            height: `${g.row}px`,
          }}
        />
      ))}
    </fieldset>
  );
}

/** The pair under the pointer, if it is a whole one. */
function pairOf(store: Store): { query: number; key: number; head?: number } | null {
  const { query, key, head } = store.hover.value;
  return query === null || key === null ? null : { query, key, head };
}

const NEAR = 5; // pixels from a line that still mean it

/** Between the columns the pointer means the strongest line near it. */
function pointAtLine(event: PointerEvent, store: Store, scene: Scene, g: Geometry): void {
  if ((event.target as HTMLElement).closest(".token")) return;
  const run = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const [x, y] = [event.clientX - run.left, event.clientY - run.top];
  const { links: all, rows, columns, rowAxis, columnAxis } = scene;
  const { queries, keys } = store.selection.peek();
  const pinned = queries.length + keys.length > 0;
  const t = (x - g.left) / (g.right - g.left);
  let best = -1;
  let most = 0;
  for (let i = 0; t > 0 && t < 1 && i < all.count; i++) {
    const [q, k] = [all.query[i], all.key[i]];
    if (pinned && !queries.includes(rowAxis.starts[q]) && !keys.includes(columnAxis.starts[k])) continue;
    const y1 = middle(rows.place[q], 0, g.row);
    const y2 = middle(columns.place[k], 0, g.row);
    const steep = Math.hypot(1, (y2 - y1) / (g.right - g.left));
    const away = Math.abs(y1 + (y2 - y1) * t - y) / steep;
    const strength = strengthOf(all.weight[i], all.top) - away / (4 * NEAR);
    if (away <= NEAR && strength > most) [best, most] = [i, strength];
  }
  if (best < 0) {
    if (store.hover.peek() !== NOTHING) store.hover.value = NOTHING;
    return;
  }
  const [query, key] = [all.query[best], all.key[best]];
  const head = together(scene) ? undefined : scene.heads[all.head[best]];
  const { query: q, key: k, head: h } = store.hover.peek();
  if (q !== query || k !== key || h !== head) store.hover.value = { query, key, head };
}

function drawLinks(pen: Pen, store: Store, scene: Scene, g: Geometry, top: number, height: number): void {
  const places = { rows: scene.rows.place, columns: scene.columns.place };
  const { kind, layer } = store.site.peek();
  const off = store.off.peek();
  const dashed = together(scene)
    ? [false]
    : scene.heads.map((head) => off.some((one) => samePlace(one, { kind, layer, head })));
  links(pen, scene.links, places, coloursOf(scene, store.theme.value), dashed, g, top, height);
}

const QUIET = 0.4; // bars beside all lines stay in the background

/** The picture where nothing is active: all lines, and what each token gives and gets. */
function drawBack(pen: Pen, store: Store, scene: Scene, g: Geometry, top: number, height: number): void {
  drawLinks(pen, store, scene, g, top, height);
  const { received, strongest } = scene.links;
  drawBars(pen, store, scene, strongest, "query", g, top, height, QUIET);
  drawBars(pen, store, scene, received, "key", g, top, height, QUIET);
}

/** Bars beside one column; a whole bar is the longest of them. */
function drawBars(
  pen: Pen,
  store: Store,
  scene: Scene,
  values: readonly Float32Array[],
  side: "query" | "key",
  g: Geometry,
  top: number,
  height: number,
  alpha?: number,
): void {
  const theme = store.theme.value;
  const { list } = side === "query" ? scene.rows : scene.columns;
  const most = longest(values, list);
  bars(pen, values, most, list, side, coloursOf(scene, theme), g, top, height, palette(theme), alpha);
}

const NONE: Active = { queries: [], keys: [], toKeys: [], toQueries: [] };

/** Labels, and what is active: its lines alone and the cells beside the other column. True if something is. */
function drawFront(pen: Pen, store: Store, scene: Scene, g: Geometry, top: number, height: number): boolean {
  const colours = palette(store.theme.value);
  // While the next page is being gathered the old one is still in sight: nothing in it is active.
  const active = scene.edition === store.edition ? store.active.value : NONE;
  const some = active.queries.length + active.keys.length > 0;
  const { queries, keys } = store.selection.value;
  const label =
    (axis: Axis, lit: number[], pins: number[]) =>
    (position: number): Label => ({
      text: axis.names[position],
      special: axis.special[position],
      lit: lit.includes(position),
      pinned: pins.includes(axis.starts[position]),
      dim: false,
    });
  const rows = scene.rows.list.map(label(scene.rowAxis, active.queries, queries));
  const columns = scene.columns.list.map(label(scene.columnAxis, active.keys, keys));
  labels(pen, rows, "query", g, top, height, colours);
  labels(pen, columns, "key", g, top, height, colours);
  drawParts(pen, store, scene, g, top);
  if (!some || active.toKeys.length + active.toQueries.length === 0) return some;
  const pair = pairOf(store);
  if (pair) drawPair(pen, store, scene, pair, g, top);
  else drawLinks(pen, store, { ...scene, links: activeLinks(store, scene) }, g, top, height);
  const merged = (values: Float32Array[]) => (together(scene) ? [mean(values)] : values);
  const { toKeys, toQueries } = active;
  if (toKeys.length) drawBars(pen, store, scene, merged(toKeys), "key", g, top, height);
  if (toQueries.length) drawBars(pen, store, scene, merged(toQueries), "query", g, top, height);
  return some;
}

/** Where a text was continued: what was given, and what the model wrote. */
function drawParts(pen: Pen, store: Store, scene: Scene, g: Geometry, top: number): void {
  const rows = answerAt(scene.rowAxis, scene.rows.list);
  const columns = answerAt(scene.columnAxis, scene.columns.list);
  const colours = palette(store.theme.value);
  if (rows !== null) divideColumn(pen, rows, "query", g, top, partNames(store), colours);
  if (columns !== null) divideColumn(pen, columns, "key", g, top, partNames(store), colours);
}

/** One line, over all others. */
function drawPair(
  pen: Pen,
  store: Store,
  scene: Scene,
  pair: { query: number; key: number; head?: number },
  g: Geometry,
  top: number,
): void {
  const [from, to] = [scene.rows.place[pair.query], scene.columns.place[pair.key]];
  if (from < 0 || to < 0) return;
  const colours = coloursOf(scene, store.theme.value);
  const colour = colours[Math.max(0, together(scene) ? 0 : scene.heads.indexOf(pair.head ?? -1))];
  pen.lines([lineStart(g), middle(from, top, g.row), lineEnd(g), middle(to, top, g.row)], 1, 3, { colour });
}

/** Lines of the active tokens, on the same scale as the whole picture. */
function activeLinks(store: Store, scene: Scene): Scene["links"] {
  const { queries, keys } = store.active.value;
  const { threshold } = store.selection.value;
  const found = { query: [] as number[], key: [] as number[], head: [] as number[], weight: [] as number[] };
  const add = (q: number, k: number, h: number, w: number) => {
    if (w <= Math.max(threshold, scene.links.top * FAINT)) return;
    found.query.push(q);
    found.key.push(k);
    found.head.push(h);
    found.weight.push(w);
  };
  scene.seers.forEach((lens, h) => {
    for (const q of queries) {
      const row = lens.row(q);
      if (scene.rows.mask[q]) for (const k of scene.columns.list) add(q, k, h, row[k]);
    }
    for (const k of keys) {
      const column = lens.column(k);
      if (scene.columns.mask[k]) for (const q of scene.rows.list) add(q, k, h, column[q]);
    }
  });
  return {
    count: found.weight.length,
    query: Uint32Array.from(found.query),
    key: Uint32Array.from(found.key),
    head: Uint8Array.from(found.head),
    weight: Float32Array.from(found.weight),
    top: scene.links.top,
    left: false,
    received: [],
    strongest: [],
  };
}

const PRINTED = 20; // height of a row in a saved picture

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = lines.of(store);
  if (!scene) return isVision(store) ? patchesPicture(pen, store, width) : sentencePicture(pen, store, width);
  const g = geometry(width, PRINTED, scene.widest);
  const height = longer(scene) * g.row;
  const inner = shifted(pen, 0, PRINTED);
  if (!drawFront(inner, store, scene, g, 0, height)) drawBack(inner, store, scene, g, 0, height);
  const tell = sayIn(store);
  const ink = { colour: palette(store.theme.value).quiet, size: 11, mono: false };
  pen.text(g.left, PRINTED / 2 - 4, tell("queryAxis"), { ...ink, align: "end" });
  pen.text(g.right, PRINTED / 2 - 4, tell("keyAxis"), ink);
  return PRINTED + height + legendPicture(shifted(pen, 0, PRINTED + height), store, scene, width);
}
