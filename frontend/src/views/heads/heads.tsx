// The head view: two columns of tokens, lines from queries to keys.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Active } from "../../compute/active";
import type { Axis } from "../../compute/axis";
import { run, superseded } from "../../compute/jobs";
import { FAINT } from "../../compute/links";
import { useQuantity, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { Notice } from "../../frame/notice";
import { useSeen } from "../../frame/scroller";
import { cells, type Geometry, geometry, type Label, labels, links, ROW } from "../../marks/columns";
import { canvasPen, type Pen, prepare } from "../../marks/pen";
import { figure, palette } from "../../marks/scales";
import type { Positions } from "../../state/shown";
import { NOTHING, type Store } from "../../state/store";
import { isVision, Patches, picture as patchesPicture } from "./patches";
import { type Scene, sceneKey, sceneOf } from "./scene";

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
  return <Columns scene={current} busy={busy.value} />;
}

function Columns({ scene, busy }: { scene: Scene; busy: boolean }) {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const scroller = useRef<HTMLDivElement>(null);
  const back = useRef<HTMLCanvasElement>(null);
  const front = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller);
  const rows = Math.max(scene.rows.list.length, scene.columns.list.length);

  const drawn = useSignal(scene);
  drawn.value = scene;
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const g = geometry(width, drawn.value.heads.length, drawn.value.widest);
    const pen = canvasPen(prepare(back.current!, width, height));
    drawLinks(pen, drawn.value, g, top, height);
    mark("regard:drawn");
  });
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const g = geometry(width, drawn.value.heads.length, drawn.value.widest);
    const active = drawFront(
      canvasPen(prepare(front.current!, width, height)),
      store,
      drawn.value,
      g,
      top,
      height,
    );
    back.current!.style.opacity = active ? "0" : "1";
    if (active) mark("regard:hover");
  });
  lines.use(store, () => drawn.peek());

  const g = geometry(box.value.width || 800, scene.heads.length, scene.widest);
  const { count, top, left } = scene.links;
  return (
    <div class={busy ? "stage busy" : "stage"}>
      <p class="legend">
        {tell("legendHeads", { what: quantity, top: figure(top) })}
        {left && ` ${tell("legendLeft", { count })}`}
      </p>
      <div class="scroller" ref={scroller} onPointerLeave={() => (store.hover.value = NOTHING)}>
        <div class="run" style={{ height: `${rows * ROW}px` }}>
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

interface TokensProps {
  side: "query" | "key";
  axis: Axis;
  shown: Positions;
  g: Geometry;
  box: { height: number; top: number };
}

/** The tokens as buttons over the picture, for pointers, keyboards and screen readers; only those in sight. */
function Tokens({ side, axis, shown, g, box }: TokensProps) {
  const store = useStore();
  const tell = useSay();
  const pins = store.selection.value[side === "query" ? "queries" : "keys"];
  const first = Math.max(0, Math.floor(box.top / ROW) - 4);
  const last = Math.min(shown.list.length, Math.ceil((box.top + box.height) / ROW) + 4);
  const left = side === "query" ? g.left - g.text - 4 : g.right - 4;
  const point = (position: number) => {
    store.hover.value = side === "query" ? { query: position, key: null } : { query: null, key: position };
  };
  return (
    <fieldset>
      <legend class="unseen">{tell(side === "query" ? "queryColumn" : "keyColumn")}</legend>
      {shown.list.slice(first, last).map((position, i) => {
        const token = axis.starts[position];
        const name = tell(side === "query" ? "queryToken" : "keyToken", {
          index: token,
          text: axis.labels[position],
        });
        return (
          <button
            key={position}
            type="button"
            class="token"
            data-side={side}
            data-position={position}
            dir="auto"
            aria-label={name}
            aria-pressed={pins.includes(token)}
            title={name}
            style={{
              top: `${(first + i) * ROW}px`,
              left: `${left}px`,
              width: `${g.text + 8}px`,
              height: `${ROW}px`,
            }}
            onPointerEnter={() => point(position)}
            onFocus={() => point(position)}
            onBlur={() => (store.hover.value = NOTHING)}
            onClick={() => toggle(store, side, token)}
            onDblClick={() =>
              store.set({ queries: [], keys: [], [side === "query" ? "queries" : "keys"]: [token] })
            }
          />
        );
      })}
    </fieldset>
  );
}

/** Pin a token, or let it go. */
export function toggle(store: Store, side: "query" | "key", token: number): void {
  const name = side === "query" ? "queries" : "keys";
  const pins = store.selection.peek()[name];
  store.set({ [name]: pins.includes(token) ? pins.filter((p) => p !== token) : [...pins, token] });
}

function drawLinks(pen: Pen, scene: Scene, g: Geometry, top: number, height: number): void {
  const places = { rows: scene.rows.place, columns: scene.columns.place };
  links(pen, scene.links, places, scene.colours, g, top, height);
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
      text: axis.labels[position],
      special: axis.special[position],
      lit: lit.includes(position),
      pinned: pins.includes(axis.starts[position]),
      dim: false,
    });
  const rows = scene.rows.list.map(label(scene.rowAxis, active.queries, queries));
  const columns = scene.columns.list.map(label(scene.columnAxis, active.keys, keys));
  labels(pen, rows, "query", g, top, height, colours);
  labels(pen, columns, "key", g, top, height, colours);
  if (!some || active.toKeys.length + active.toQueries.length === 0) return some;
  drawLinks(pen, { ...scene, links: activeLinks(store, scene) }, g, top, height);
  const strongest = largest([...active.toKeys, ...active.toQueries]);
  if (active.toKeys.length)
    cells(pen, active.toKeys, strongest, scene.columns.list, "key", scene.colours, g, top, height);
  if (active.toQueries.length)
    cells(pen, active.toQueries, strongest, scene.rows.list, "query", scene.colours, g, top, height);
  return some;
}

function largest(rows: Float32Array[]): number {
  let top = 1e-12;
  for (const row of rows) for (const value of row) if (value > top) top = value;
  return top;
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
  scene.heads.forEach((head, h) => {
    const lens = store.lens(head);
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
  };
}

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = lines.of(store);
  if (!scene) return isVision(store) ? patchesPicture(pen, store, width) : null;
  const height = Math.max(scene.rows.list.length, scene.columns.list.length) * ROW;
  const g = geometry(width, scene.heads.length, scene.widest);
  if (!drawFront(pen, store, scene, g, 0, height)) drawLinks(pen, scene, g, 0, height);
  return height;
}
