// The head view: two columns of tokens, lines from queries to keys.

import { untracked, useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Axis } from "../../compute/axis";
import { FIRST, run, superseded } from "../../compute/jobs";
import { sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { mark, stage, useDrawing } from "../../frame/drawn";
import { FoldButton, headsOf } from "../../frame/folds";
import { Notice } from "../../frame/notice";
import { isVision } from "../../frame/pictured";
import { isTouch, useSeen } from "../../frame/scroller";
import { barsOf, GAP, type Geometry, geometry, middle, rowHeight, strengthOf } from "../../marks/columns";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import { NOTHING } from "../../state/selection";
import type { Positions } from "../../state/shown";
import { formOf, type Store } from "../../state/store";
import { Legend, legendPicture } from "./legend";
import { drawBack, drawFront, pairOf, type Sheet } from "./lines";
import { Overlay, picture as overlayPicture } from "./overlay";
import { cutIn, type Scene, sceneKey, sceneOf, together } from "./scene";
import { Sentence, picture as sentencePicture } from "./sentence";
import { leaving, usePointing } from "./tokens";

const lines = stage<Scene>();

export function Heads() {
  const store = useStore();
  const scene = useSignal<Scene | null>(null);
  const busy = useSignal(false);
  const key = useComputed(() => sceneKey(store));
  useDrawing(() => {
    key.value;
    const abort = new AbortController();
    busy.value = true;
    const job = untracked(() => run(sceneOf(store), abort.signal, scene.peek() ? undefined : FIRST));
    job.then(
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
  if (isVision(store)) return <Overlay />;
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
  const sheetOf = (pen: Pen, scene: Scene, top: number, height: number): Sheet => {
    return { pen, store, scene, g: geometryOf(scene, box.value), top, height };
  };
  useDrawing(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const pen = canvasPen(prepare(back.current!, width, height));
    drawBack(sheetOf(pen, drawn.value, top, height));
    mark("regard:drawn");
  });
  useDrawing(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const pen = canvasPen(prepare(front.current!, width, height));
    const active = drawFront(sheetOf(pen, drawn.value, top, height));
    back.current!.style.opacity = !active ? "1" : pairOf(store) ? "0.3" : "0";
    if (active) mark("regard:hover");
  });
  lines.use(store, () => drawn.peek());

  const g = geometryOf(scene, box.value);
  const { keys, queries } = store.active.value;
  const still = keys.length + queries.length === 0;
  const { contributions } = store.look.value;
  const cut = cutIn(store, scene) !== null;
  const received = tell(`received_${scene.signed ? "worth" : contributions ? "contributions" : "weights"}`);
  return (
    <div class={busy ? "stage busy" : "stage"}>
      <Legend scene={scene} />
      <div class="headings" aria-hidden="true">
        {!still && <Heading text={tell("stripBy")} from={0} to={g.left - g.text - 14} end />}
        <Heading text={tell("headingQueries")} from={g.left - g.text - 4} to={g.left} end />
        <Heading text={tell("headingKeys")} from={g.right} to={g.right + g.text + 4} />
        <Heading
          text={still ? received : cut ? tell("beforeCut") : quantity}
          hint={still ? tell("receivedHint") : undefined}
          from={g.right + g.text + 14}
          to={g.width}
        />
      </div>
      <div class="scroller flow" ref={scroller} onPointerLeave={leaving(store)}>
        <div
          class="run"
          style={{ height: `${longer(scene) * g.row}px` }}
          onPointerMove={(event) => pointAtLine(event, store, scene, g)}
          onPointerUp={(event) => {
            pointAtLine(event, store, scene, g); // a finger has not moved before
            keepLine(event, store, scene);
          }}
        >
          <div class="sheet">
            <canvas ref={back} aria-hidden="true" />
            <canvas ref={front} aria-hidden="true" />
          </div>
          <Tokens side="query" axis={scene.rowAxis} shown={scene.rows} g={g} box={box.value} />
          <Tokens side="key" axis={scene.columnAxis} shown={scene.columns} g={g} box={box.value} />
          <Headers side="query" axis={scene.rowAxis} shown={scene.rows} g={g} box={box.value} />
          <Headers side="key" axis={scene.columnAxis} shown={scene.columns} g={g} box={box.value} />
        </div>
      </div>
    </div>
  );
}

const longer = (scene: Scene): number => Math.max(scene.rows.list.length, scene.columns.list.length);

const geometryOf = (scene: Scene, { width, height }: { width: number; height: number }): Geometry =>
  geometry(
    width || 800,
    rowHeight(height, longer(scene), isTouch()),
    scene.widest,
    [scene.rowAxis, scene.columnAxis].some(({ side }) => side.segments.length > 1) ? TRIANGLE : 0,
  );

const TRIANGLE = 20; // pixels that the triangle of a part takes, beside the bars

function Heading({ text, hint = text, from, to, end }: HeadingProps) {
  // A heading may reach into the gap between the columns, never over another one.
  const wide = Math.max(0, to - from);
  if (wide < 6.4 * text.length) return null;
  return (
    <span class={end ? "end" : ""} style={{ left: `${from}px`, width: `${wide}px` }} title={hint}>
      {text}
    </span>
  );
}

interface HeadingProps {
  text: string;
  hint?: string; // what it means
  from: number;
  to: number;
  end?: boolean;
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

/** Where a part of the text begins: a triangle that folds it. */
function Headers({ side, axis, shown, g }: TokensProps) {
  const edge = g.text + GAP + barsOf(g, side) + TRIANGLE;
  const from = Math.max(0, side === "query" ? g.left - edge : g.width - g.right - edge);
  const away = side === "query" ? { left: `${from}px` } : { right: `${from}px` };
  return (
    <>
      {headsOf(axis, shown.list).map(({ at, number }) => (
        <FoldButton
          key={number}
          {...{ side: axis.side, number, short: true }}
          style={{ ...away, position: "absolute", top: `${at * g.row + 1}px`, height: `${g.row - 2}px` }}
        />
      ))}
    </>
  );
}

const NEAR = 5; // pixels from a line that still mean it

/** Between the columns the pointer means the strongest line near it. */
function pointAtLine(event: PointerEvent, store: Store, scene: Scene, g: Geometry): void {
  if ((event.target as HTMLElement).closest(".token, .fold")) return;
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

/** A click keeps the line under the pointer: both its ends are pinned, and its head leads. */
function keepLine(event: PointerEvent, store: Store, { rowAxis, columnAxis }: Scene): void {
  const pair = pairOf(store);
  if (!pair || event.button !== 0 || (event.target as HTMLElement).closest(".token, .fold")) return;
  const { heads, queries, keys } = store.selection.peek();
  const [query, key] = [rowAxis.starts[pair.query], columnAxis.starts[pair.key]];
  const { head = store.lead } = pair;
  const kept = String(queries) === String(query) && String(keys) === String(key) && head === store.lead;
  store.set({
    queries: kept ? [] : [query],
    keys: kept ? [] : [key],
    heads: [head, ...heads.filter((one) => one !== head)],
  });
}

const PRINTED = 20; // height of a row in a saved picture

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = lines.of(store);
  if (!scene) return isVision(store) ? overlayPicture(pen, store, width) : sentencePicture(pen, store, width);
  const g = geometry(width, PRINTED, scene.widest);
  const height = longer(scene) * g.row;
  const sheet = { pen: shifted(pen, 0, PRINTED), store, scene, g, top: 0, height };
  if (!drawFront(sheet)) drawBack(sheet);
  const tell = sayIn(store);
  const ink = { colour: palette(store.theme.value).quiet, size: 11, mono: false };
  pen.text(g.left, PRINTED / 2 - 4, tell("queryAxis"), { ...ink, align: "end" });
  pen.text(g.right, PRINTED / 2 - 4, tell("keyAxis"), ink);
  return PRINTED + height + legendPicture(shifted(pen, 0, PRINTED + height), store, scene, width);
}
