// The atlas: every head of the model as a small map, side by side.

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Say, useSay, useStore } from "../app/context";
import { savedBy } from "../app/picture";
import { type Digest, digest, type Measure, poolOf } from "../digest";
import { run, superseded } from "../jobs";
import { heat } from "../marks/heat";
import type { Pen } from "../marks/pen";
import { figure, palette, type Theme } from "../scales";
import type { Store } from "../state";
import type { Site } from "../wire";
import { mark } from "./heads";
import { Plot, type PlotState } from "./plot";

interface Cell {
  site: Site;
  head: number;
}

const nameOf = (cell: Cell): string => `${cell.site.layer} ${cell.site.part} ${cell.head}`;

export function Atlas() {
  const store = useStore();
  const tell = useSay();
  const { order } = store;
  const layers = useSignal<number[]>([]); // chosen; none means all
  const heads = useSignal<number[]>([]);
  const found = useSignal(new Map<string, Digest>());
  const key = useComputed(() => JSON.stringify([store.selection.value.kind, store.look.value]));
  useSignalEffect(() => {
    key.value;
    const abort = new AbortController();
    found.value = new Map();
    run(digests(store, found), abort.signal, 24).catch((error) => {
      if (!superseded(error)) throw error;
    });
    return () => abort.abort();
  });
  useEffect(() => savedBy(store, (pen, width) => picture(pen, store, found.peek(), width)), [store]);
  const all = cellsOf(store);
  const chosen = all.filter(
    ({ site, head }) =>
      (!layers.value.length || layers.value.includes(site.layer)) &&
      (!heads.value.length || heads.value.includes(head)),
  );
  const value = (cell: Cell) => measureOf(cell, found.value.get(nameOf(cell)), order.value);
  const sorted =
    order.value === "grid" ? chosen : chosen.slice().sort((a, b) => (value(b) ?? -1) - (value(a) ?? -1));
  return (
    <div class="stage">
      <Legend digests={found.value} />
      <div class="scroller">
        {order.value === "grid" ? (
          <GridOf cells={sorted} digests={found.value} layers={layers} heads={heads} all={all} />
        ) : (
          <div class="ranked">
            {sorted.map((cell) => (
              <figure key={nameOf(cell)}>
                <Thumb cell={cell} digest={found.value.get(nameOf(cell))} />
                <figcaption>
                  {cell.site.layer}-{cell.head} <b>{value(cell) === null ? "–" : figure(value(cell)!, 2)}</b>
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
  const passes = lenses.some((lens) => poolOf(lens) > 2) ? [false, true] : [true];
  for (const full of passes) {
    const results = new Map(found.peek());
    let shown = performance.now();
    for (const [i, cell] of cells.entries()) {
      results.set(nameOf(cell), yield* digest(lenses[i], full ? "exact" : "sketch"));
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

function measureOf(cell: Cell, found: Digest | undefined, name: string): number | null {
  const given = cell.site.measures[name];
  const value = given ? given.all()[cell.site.heads.indexOf(cell.head)] : found?.measures[name as Measure];
  return value === undefined || Number.isNaN(value) ? null : value;
}

function Legend({ digests: found }: { digests: Map<string, Digest> }) {
  const tell = useSay();
  const all = [...found.values()];
  const pool = Math.max(1, ...all.map((d) => d.pool));
  const sampled = Math.max(1, ...all.map((d) => d.sampled));
  return (
    <p class="legend">
      {tell("legendAtlas")}
      {pool > 1 && ` ${tell("legendAtlasPooled", { n: pool })}`}
      {sampled > 1 && ` ${tell("legendAtlasSampled", { n: sampled })}`}
    </p>
  );
}

interface GridProps {
  cells: Cell[];
  all: Cell[];
  digests: Map<string, Digest>;
  layers: { value: number[] };
  heads: { value: number[] };
}

function GridOf({ cells, all, digests: found, layers, heads }: GridProps) {
  const tell = useSay();
  const rows = [...new Set(cells.map(({ site }) => `${site.layer} ${site.part}`))];
  const columns = [...new Set(cells.map(({ head }) => head))].sort((a, b) => a - b);
  const toggle = (list: { value: number[] }, n: number) => {
    list.value = list.value.includes(n) ? list.value.filter((x) => x !== n) : [...list.value, n];
  };
  const windows = all.some(({ site }) => site.part > 0);
  return (
    <fieldset
      class="grid"
      style={{ gridTemplateColumns: `auto repeat(${columns.length}, minmax(34px, 84px))` }}
      onKeyDown={arrows(columns.length)}
    >
      <span />
      {columns.map((head) => (
        <button
          key={head}
          type="button"
          class="plain"
          data-only-head={head}
          aria-pressed={heads.value.includes(head)}
          title={tell("onlyHead", { head })}
          onClick={() => toggle(heads, head)}
        >
          {head}
        </button>
      ))}
      {rows.map((row) => {
        const [layer, part] = row.split(" ").map(Number);
        return [
          <button
            key={row}
            type="button"
            class="plain"
            data-only-layer={layer}
            aria-pressed={layers.value.includes(layer)}
            title={tell("onlyLayer", { layer })}
            onClick={() => toggle(layers, layer)}
          >
            {windows ? `${layer}.${part}` : layer}
          </button>,
          ...columns.map((head) => {
            const cell = cells.find((c) => c.head === head && c.site.layer === layer && c.site.part === part);
            return cell ? (
              <Thumb key={nameOf(cell)} cell={cell} digest={found.get(nameOf(cell))} />
            ) : (
              <span key={`${row} ${head}`} />
            );
          }),
        ];
      })}
    </fieldset>
  );
}

/** Arrow keys move between the maps of a grid. */
const arrows = (columns: number) => (event: KeyboardEvent) => {
  const step = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".thumb")];
  const at = all.indexOf(event.target as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  all[at + step]?.focus();
};

function Thumb({ cell, digest: found }: { cell: Cell; digest: Digest | undefined }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = store.theme.value;
  useLayoutEffect(() => {
    if (found) paint(canvas.current!, found, theme);
  }, [found, theme]);
  const { kind, layer, part, heads } = store.selection.value;
  const { site, head } = cell;
  const current =
    kind === site.kind &&
    layer === site.layer &&
    part === site.part &&
    heads.length === 1 &&
    heads[0] === head;
  const name = tell("cellName", { layer: site.layer, head });
  const choose = (enlarge: boolean) => {
    store.set({ layer: site.layer, part: site.part, heads: [head] });
    store.enlarged.value = enlarge;
  };
  return (
    <button
      type="button"
      class="thumb"
      data-cell={`${site.layer}-${head}`}
      aria-label={name}
      title={name}
      aria-pressed={current}
      onClick={() => choose(true)}
      onDblClick={() => {
        choose(false);
        store.set({ view: "heads" });
      }}
      onPointerEnter={() => (store.pointed.value = cell)}
      onPointerLeave={() => (store.pointed.value = null)}
      onFocus={() => (store.pointed.value = cell)}
      onBlur={() => (store.pointed.value = null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </button>
  );
}

function paint(canvas: HTMLCanvasElement, found: Digest, theme: Theme): void {
  heat(canvas, found.pixels, found.size[0], found.size[1], found.top, false, theme);
}

/** One head, large, over the atlas. */
function Enlarged({ tell }: { tell: Say }) {
  const store = useStore();
  const state = useSignal<PlotState | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const { layer } = store.selection.value;
  const close = () => (store.enlarged.value = false);
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
        {(["heads", "matrix", "neurons"] as const).map((view) => (
          <button
            key={view}
            type="button"
            class="plain"
            data-open={view}
            onClick={() => {
              close();
              store.set({ view });
            }}
          >
            {tell("open", { view: tell(view) })}
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
const LABEL = 28;

function picture(pen: Pen, store: Store, found: Map<string, Digest>, width: number): number {
  const colours = palette(store.theme.value);
  const cells = cellsOf(store);
  const columns = [...new Set(cells.map(({ head }) => head))];
  const rows = [...new Set(cells.map(({ site }) => `${site.layer} ${site.part}`))];
  const size = (width - LABEL) / columns.length - GAP;
  const x = (head: number) => LABEL + columns.indexOf(head) * (size + GAP);
  const y = (row: string) => LABEL + rows.indexOf(row) * (size + GAP);
  const write = (px: number, py: number, text: string) =>
    pen.text(px, py, text, { colour: colours.quiet, size: 11, align: "middle", mono: false });
  for (const head of columns) write(x(head) + size / 2, LABEL / 2, String(head));
  for (const row of rows) write(LABEL / 2, y(row) + size / 2, row.split(" ")[0]);
  for (const cell of cells) {
    const known = found.get(nameOf(cell));
    if (!known) continue;
    const canvas = document.createElement("canvas");
    paint(canvas, known, store.theme.value);
    pen.image(canvas, x(cell.head), y(`${cell.site.layer} ${cell.site.part}`), size, size);
  }
  return LABEL + rows.length * (size + GAP);
}
