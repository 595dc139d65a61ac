// The neuron view: for one query, its vector, every key's, their products, scores and softmax.
// One file and long: the five columns of the view share one layout and one pointer.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { productOf } from "../../compute/pairs";
import { type Say, sayIn, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { Notice } from "../../frame/notice";
import { useSeen } from "../../frame/scroller";
import { canvasPen, elided, type Pen, prepare, shifted } from "../../marks/pen";
import { figure, palette } from "../../marks/scales";
import { strip } from "../../marks/vectors";
import { NOTHING } from "../../state/selection";
import type { Store } from "../../state/store";
import { stepFor } from "../../walk/order";
import { pairOf } from "./pair";
import {
  type Expanded,
  expand,
  keyRows,
  type Layout,
  LINE,
  layout,
  namedMarks,
  neuronAt,
  overview,
  queryStrip,
} from "./table";

const drawn = stage<Lens>();

export function Neurons() {
  const store = useStore();
  const tell = useSay();
  const vectors = store.site.value.q !== null;
  useEffect(() => {
    const { queries, level } = store.selection.peek();
    const first = store.rows.peek().special.indexOf(false);
    // Vectors belong to tokens; and an expanded table explains itself better than a closed one.
    if (level !== "tokens") store.set({ level: "tokens" });
    if (queries.length || !vectors) return undefined;
    const own = Math.max(0, first);
    store.set({ queries: [own] });
    return () => {
      // What nobody chose is not left pinned in the next view.
      const left = store.selection.peek().queries;
      if (left.length === 1 && left[0] === own) store.set({ queries: [] });
    };
  }, [store]);
  if (!vectors) return <Notice text={tell("noVectors")} />;
  if (store.look.value.level !== "tokens") return <div class="stage" />;
  return <Table />;
}

function Table() {
  const store = useStore();
  const tell = useSay();
  const lens = store.lens(store.lead);
  const { queries } = store.selection.value;
  const query = queries.at(-1) ?? null;
  return (
    <div class="stage">
      {query !== null && <Lede lens={lens} query={query} />}
      <div class="legend with-tools">
        <p>{legendOf(lens, tell)}</p>
        <label class="check">
          <input
            type="checkbox"
            data-control="ordered"
            checked={store.ordered.value}
            onChange={(event) => (store.ordered.value = event.currentTarget.checked)}
          />{" "}
          {tell("orderNeurons")}
        </label>
        <ToWalk />
      </div>
      <div class="neurons">
        <Queries query={query} />
        <Sheet lens={lens} query={query} />
      </div>
      <Pairs lens={lens} />
    </div>
  );
}

/** What the table shows, in a sentence: the key that agrees best with the query. */
function Lede({ lens, query }: { lens: Lens; query: number }) {
  const tell = useSay();
  const { rows, best } = expand(lens, query, false);
  const names = { query: lens.rows.names[query], key: lens.columns.names[best] };
  return (
    <p class="agrees" dir="auto" data-best={best}>
      {tell("ledeNeurons", { ...names, score: figure(rows[best].score, 2) })}
    </p>
  );
}

/** How vectors become weights, in a sentence. */
function legendOf({ site }: Lens, tell: Say): string {
  const { scale, softcap, bias } = site;
  const more = (softcap === null ? "" : tell("withCap", { cap: softcap })) + (bias ? tell("withBias") : "");
  const d = width(site);
  const usual = Math.abs(scale * Math.sqrt(d) - 1) < 1e-4;
  return tell("legendNeurons", { scale: usual ? `1/√${d}` : figure(scale), d, more });
}

/** Back to the step that led here, where the page has a walk through this layer. */
function ToWalk() {
  const store = useStore();
  const tell = useSay();
  const { walk } = store.page;
  const { kind, layer, step } = store.selection.value;
  if (!walk || walk.header.layer !== layer) return null;
  const back = () => store.set({ view: "walk", heads: [store.lead], step: stepFor(walk, kind, step) });
  return (
    <button type="button" class="plain" data-go="walk" onClick={back}>
      ← {tell("toWalk")}
    </button>
  );
}

function Queries({ query }: { query: number | null }) {
  const store = useStore();
  const tell = useSay();
  const { names } = store.rows.value;
  return (
    <ul class="queries" aria-label={tell("queryColumn")}>
      <li class="quiet" aria-hidden="true">
        {tell("headingQueries")}
      </li>
      {names.map((text, position) => {
        const open = position === query;
        return (
          <li key={position}>
            <button
              type="button"
              class={open ? "open" : ""}
              data-query={position}
              aria-expanded={open}
              aria-label={tell(open ? "collapse" : "expand", { text })}
              title={text}
              onClick={() => store.set({ queries: open ? [] : [position] })}
            >
              <span aria-hidden="true">{open ? "⊖" : "⊕"}</span> <bdi>{text}</bdi>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Sheet({ lens, query }: { lens: Lens; query: number | null }) {
  const store = useStore();
  const tell = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller, LINE * 2);
  const source = useSignal({ lens, query });
  if (source.peek().lens !== lens || source.peek().query !== query) source.value = { lens, query };
  const shown = useComputed(() =>
    source.value.query === null ? null : expand(source.value.lens, source.value.query, store.ordered.value),
  );
  const at = useComputed(() => layout(box.value.width - 8, width(source.value.lens.site)));
  useSignalEffect(() => {
    const { width: wide, height, top } = box.value;
    if (!wide || height <= 0) return;
    const canvas = Math.max(wide, at.value.width);
    drawHead(canvasPen(prepare(head.current!, canvas, LINE * 2)), store, tell, shown.value, at.value);
    const pen = canvasPen(prepare(body.current!, canvas, height));
    drawBody(pen, store, source.value.lens, shown.value, at.value, top, height);
    mark("regard:drawn");
  });
  drawn.use(store, () => source.peek().lens);
  const rows = shown.value ? lens.columns.count : lens.rows.count;
  return (
    <div class="scroller" ref={scroller} onPointerLeave={() => (store.hover.value = NOTHING)}>
      <div class="run" style={{ height: `${rows * LINE + 2 * LINE}px`, minWidth: `${at.value.width}px` }}>
        <div class="sheet">
          <canvas ref={head} aria-hidden="true" />
          <canvas ref={body} aria-hidden="true" />
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
  const first = Math.max(0, Math.floor(box.top / LINE));
  const last = Math.min(count, Math.ceil((box.top + box.height) / LINE));
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
          style={{ top: `${(position + 2) * LINE}px`, left: 0, width: `${at.width}px`, height: `${LINE}px` }}
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

/** Pin a pair, or let it go. */
function togglePair(store: Store, query: number, key: number): void {
  const { pairs } = store.selection.peek();
  const rest = pairs.filter(([q, k]) => q !== query || k !== key);
  store.set({ pairs: rest.length < pairs.length ? rest : [...pairs, [query, key]] });
}

function drawHead(pen: Pen, store: Store, tell: Say, shown: Expanded | null, at: Layout): void {
  const colours = palette(store.theme.value);
  const title = (x: number, text: string, align: "start" | "end" = "start") =>
    pen.text(x, LINE * 1.5, text, { colour: colours.quiet, size: 12, align, mono: false });
  if (!shown) {
    title(at.k, tell("query"));
    title(at.product, tell("keyVector"));
    return;
  }
  pen.text(at.label, LINE / 2, elided(`q ${shown.lens.rows.names[shown.query]}`, at.label - 6), {
    colour: colours.ink,
    align: "end",
    bold: true,
  });
  queryStrip(pen, shown, at, 0);
  title(at.label, tell("headingKeys"), "end");
  title(at.k, tell("keyVector"));
  pen.text(at.product, LINE / 2, tell(at.dot === null ? "productShort" : "product"), {
    ...{ colour: colours.quiet, size: 12, mono: false },
  });
  const pair = pairOf(store);
  if (pair?.[0] === shown.query) namedMarks(pen, shown, pair[1], at, 2 * LINE, colours);
  if (at.dot !== null) title(at.score - 6, tell("score"), "end");
  title(at.score + at.number - 6, tell("scaled"), "end");
  const { contributions, relative } = store.look.value;
  if (at.dot === null) title(at.width, tell("weightShort"), "end");
  else title(at.bar, contributions ? tell(relative ? "sharesName" : "contributionsName") : tell("softmax"));
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
  const keys = Array.from({ length: lens.columns.count }, (_, key) => key);
  const pinned = store.selection.value.pairs.filter(([q]) => q === shown.query).map(([, k]) => k);
  keyRows(pen, shown, keys, at, top, height, { hovered: store.hover.value.key, pinned }, colours);
}

function Pairs({ lens }: { lens: Lens }) {
  const store = useStore();
  const tell = useSay();
  const { pairs } = store.selection.value;
  if (!pairs.length) return null;
  return (
    <section class="pairs">
      <h3>{tell("pairs")}</h3>
      {pairs.map(([query, key]) => (
        <div key={`${query} ${key}`} class="pair">
          <span class="name" dir="auto">
            {tell("cell", {
              query: lens.rows.names[query],
              key: lens.columns.names[key],
            })}
          </span>
          <PairStrip lens={lens} query={query} key_={key} />
          <button
            type="button"
            class="plain"
            aria-label={tell("unpin")}
            onClick={() => togglePair(store, query, key)}
          >
            ✕
          </button>
        </div>
      ))}
    </section>
  );
}

function PairStrip({ lens, query, key_ }: { lens: Lens; query: number; key_: number }) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const ordered = store.ordered.value;
  useLayoutEffect(() => {
    const shown = expand(lens, query, ordered);
    const d = shown.order.length;
    const cell = Math.min(8, 460 / d);
    const pen = canvasPen(prepare(canvas.current!, d * cell, 16));
    strip(pen, productOf(lens.head, query, key_), shown.order, 0, 0, cell, 16, shown.sizes.product);
  }, [lens, query, key_, ordered, store.theme.value]);
  return <canvas ref={canvas} aria-hidden="true" />;
}

export function picture(pen: Pen, store: Store, wide: number): number | null {
  const lens = drawn.of(store);
  if (!lens) return null;
  const query = store.selection.peek().queries.at(-1);
  const shown = query === undefined ? null : expand(lens, query, store.ordered.peek());
  const at = layout(wide, width(lens.site));
  const height = (shown ? lens.columns.count : lens.rows.count) * LINE;
  drawHead(pen, store, sayIn(store), shown, at);
  drawBody(shifted(pen, 0, 2 * LINE), store, lens, shown, at, 0, height);
  const legend = legendOf(lens, sayIn(store));
  const y = height + 2 * LINE + 14;
  pen.text(0, y, legend, { colour: palette(store.theme.value).quiet, size: 11, mono: false });
  return y + 8;
}
