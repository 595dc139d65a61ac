// The table itself: a picture of its head and of the rows in sight, with a button over each row.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { sayIn, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { useSeen } from "../../frame/scroller";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { figure, palette } from "../../marks/scales";
import { NOTHING } from "../../state/selection";
import type { Store } from "../../state/store";
import { HEAD, type Layout, layout, rowHeight } from "./columns";
import { type Expanded, expand } from "./expanded";
import { drawHead } from "./head";
import { pairOf, togglePair } from "./pair";
import { legendOf } from "./said";
import { keyRows, neuronAt, overview } from "./table";

const drawn = stage<Lens>();
const FINGER = 26; // height of a row that a finger can meet

/** What is above the list of queries, and how high its rows are: those of the table beside it. */
export type Rhythm = (row: number) => void;

export function Sheet({ lens, query, beat }: { lens: Lens; query: number | null; beat: Rhythm }) {
  const store = useStore();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller, HEAD);
  const source = useSignal({ lens, query });
  if (source.peek().lens !== lens || source.peek().query !== query) source.value = { lens, query };
  const shown = useComputed(() =>
    source.value.query === null ? null : expand(source.value.lens, source.value.query, store.ordered.value),
  );
  const rows = shown.value ? lens.columns.count : lens.rows.count;
  const at = useComputed(() => {
    const count = shown.value ? shown.value.rows.length : source.value.lens.rows.count;
    const row = store.narrow.value ? FINGER : rowHeight(box.value.height, count);
    return layout(box.value.width - 8, width(source.value.lens.site), row, shown.value?.counting.length);
  });
  useSignalEffect(() => {
    const { width: wide, height, top } = box.value;
    if (!wide || height <= 0) return;
    beat(at.value.row);
    const canvas = Math.max(wide, at.value.width);
    drawHead(canvasPen(prepare(head.current!, canvas, HEAD)), store, shown.value, at.value);
    const pen = canvasPen(prepare(body.current!, canvas, height));
    drawBody(pen, store, source.value.lens, shown.value, at.value, top, height);
    mark("regard:drawn");
  });
  drawn.use(store, () => source.peek().lens);
  return (
    <div class="scroller" ref={scroller} onPointerLeave={() => (store.hover.value = NOTHING)}>
      <div class="run" style={{ height: `${rows * at.value.row + HEAD}px`, minWidth: `${at.value.width}px` }}>
        <div class="sheet">
          <canvas ref={head} aria-hidden="true" />
          <canvas ref={body} aria-hidden="true" style={{ top: `${HEAD}px` }} />
        </div>
        <Rows shown={shown.value} at={at.value} count={rows} box={box.value} />
      </div>
    </div>
  );
}

interface RowsProps {
  shown: Expanded | null;
  at: Layout;
  count: number;
  box: { height: number; top: number };
}

/** The rows in sight as buttons over the picture: a key to pin with its query, or a query to expand. */
function Rows({ shown, at, count, box }: RowsProps) {
  const store = useStore();
  const tell = useSay();
  const first = Math.max(0, Math.floor(box.top / at.row));
  const last = Math.min(count, Math.ceil((box.top + box.height) / at.row));
  const pinned = store.selection.value.pairs.filter(([q]) => q === shown?.query).map(([, k]) => k);
  const name = (position: number) =>
    shown
      ? [
          tell("keyToken", { index: position, text: shown.lens.columns.names[position] }),
          `${tell("scaled")} ${figure(shown.rows[position].score)}`,
          figure(shown.weights[position]),
        ].join(tell("comma"))
      : tell("expand", { text: store.rows.value.names[position] });
  const point = (position: number, x: number | null) => {
    store.hover.value = shown ? { query: null, key: position } : NOTHING;
    store.neuron.value = shown && x !== null ? neuronAt(shown, at, x) : null;
  };
  return (
    <fieldset>
      <legend class="unseen">{tell("keyColumn")}</legend>
      {Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i).map((position) => (
        <button
          key={position}
          type="button"
          class="token"
          data-key={position}
          aria-label={name(position)}
          aria-pressed={pinned.includes(position)}
          style={{
            top: `${HEAD + position * at.row}px`,
            left: 0,
            width: `${at.width}px`,
            height: `${at.row}px`,
          }}
          onPointerMove={(event) => point(position, event.offsetX)}
          onFocus={() => point(position, null)}
          onClick={() =>
            shown ? togglePair(store, shown.query, position) : store.set({ queries: [position] })
          }
        />
      ))}
    </fieldset>
  );
}

function drawBody(
  pen: Pen,
  store: Store,
  lens: Lens,
  shown: Expanded | null,
  at: Layout,
  top: number,
  height: number,
): void {
  const colours = palette(store.theme.value);
  if (!shown) {
    overview(pen, lens, at, top, height, colours);
    return;
  }
  const pinned = store.selection.value.pairs.filter(([q]) => q === shown.query).map(([, k]) => k);
  keyRows(
    pen,
    shown,
    at,
    top,
    height,
    { key: pairOf(store)?.[1] ?? null, pinned },
    colours,
    sayIn(store)("neverLooked"),
  );
}

const PRINTED = 24; // height of a row of a saved picture

export function picture(pen: Pen, store: Store, wide: number): number | null {
  const lens = drawn.of(store);
  if (!lens) return null;
  const query = store.selection.peek().queries.at(-1);
  const shown = query === undefined ? null : expand(lens, query, store.ordered.peek());
  const at = layout(wide - 8, width(lens.site), PRINTED, shown?.counting.length);
  const height = (shown ? lens.columns.count : lens.rows.count) * at.row;
  drawHead(pen, store, shown, at);
  drawBody(shifted(pen, 0, HEAD), store, lens, shown, at, 0, height);
  const y = height + HEAD + 14;
  const quiet = { colour: palette(store.theme.value).quiet, size: 11, mono: false };
  pen.text(0, y, legendOf(lens, shown, sayIn(store)), quiet);
  return y + 8;
}
