// The head view as a sentence: the text set as text, arcs above (what a word looks at) and below (who looks at it).

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Axis, boundsOf } from "../../compute/axis";
import { mean } from "../../compute/mean";
import { sizeOf } from "../../compute/worth";
import { partName, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { isTouch, useSeen } from "../../frame/scroller";
import { RESTING, strengthOf } from "../../marks/columns";
import { scissors } from "../../marks/cut";
import { divideText } from "../../marks/parts";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { figure, palette, signed, type Theme } from "../../marks/scales";
import { arc, bridge, type Placed, type Setting, setting, tint, writing } from "../../marks/sentence";
import type { Store } from "../../state/store";
import { Legend, legendPicture } from "./legend";
import { coloursOf, cutIn, inkOf, type Scene } from "./scene";
import { leaving, usePointing } from "./tokens";

const shownScene = stage<Scene>();

/** The text of a page, or the two texts where one looks at the other. */
interface Texts {
  queries: Setting;
  keys: Setting; // the same one where a text looks at itself
  own: boolean;
  height: number;
}

const FEW = 48; // words up to which all strong arcs are drawn at once
const ARCS = 60; // of one word, in one direction
const TOLD = 3; // arcs with their number

/** Short texts are set larger, where there is room. */
const sizes = (count: number, wide: boolean): number =>
  count <= 30 ? (wide ? 28 : 22) : count <= 80 ? (wide ? 24 : 18) : count <= 160 ? 18 : 15;

function textsOf(scene: Scene, width: number, free: number, narrow: boolean): Texts {
  const { rowAxis, columnAxis, rows, columns } = scene;
  const own = rowAxis === columnAxis && same(rows.list, columns.list);
  const count = Math.max(rows.list.length, columns.list.length);
  const size = narrow ? (count <= 80 ? 18 : 16) : sizes(count, width > 1000);
  const look = { size, least: isTouch() ? 24 : 0, above: 0 };
  const room = narrow ? 340 : free;
  if (own) {
    const plain = setting(rowAxis, rows.list, width, room, look);
    // What is free above and below is the same.
    const above = narrow ? 0 : Math.max(0, (free - plain.height) / 2);
    const text = above ? setting(rowAxis, rows.list, width, room, { ...look, above }) : plain;
    return { queries: text, keys: text, own, height: Math.max(text.height, narrow ? 0 : free) };
  }
  const keys = setting(columnAxis, columns.list, width, room / 2, look);
  const queries = setting(rowAxis, rows.list, width, room / 2, { ...look, above: keys.height });
  return { queries, keys, own, height: keys.height + queries.height };
}

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((p, i) => p === b[i]);

export function Sentence({ scene, busy }: { scene: Scene; busy: boolean }) {
  const store = useStore();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller);
  const drawn = useSignal(scene);
  drawn.value = scene;
  const { width, height } = box.value;
  const narrow = store.narrow.value;
  const texts = useSignal<Texts | null>(null);
  const key = useRef<unknown[]>([]);
  const now = [scene, width, narrow ? 0 : height, narrow];
  if (width && now.some((value, i) => value !== key.current[i])) {
    key.current = now;
    texts.value = textsOf(scene, width, height, narrow);
  }
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width || !texts.value) return;
    const pen = canvasPen(prepare(canvas.current!, width, height));
    const active = draw(pen, store, drawn.value, texts.value, top, height);
    mark("regard:drawn");
    if (active) mark("regard:hover");
  });
  shownScene.use(store, () => drawn.peek());
  const set = texts.value;
  return (
    <div class={busy ? "stage busy" : "stage"}>
      <Legend scene={scene} sentence />
      <div class="scroller flow" ref={scroller} onPointerLeave={leaving(store)}>
        <div class="run" style={{ height: `${set?.height ?? 200}px` }}>
          <div class="sheet">
            <canvas ref={canvas} aria-hidden="true" />
          </div>
          {set && !set.own && <Words side="key" axis={scene.columnAxis} text={set.keys} box={box.value} />}
          {set && <Words side="query" axis={scene.rowAxis} text={set.queries} box={box.value} />}
        </div>
      </div>
    </div>
  );
}

interface WordsProps {
  side: "query" | "key";
  axis: Axis;
  text: Setting;
  box: { height: number; top: number };
}

/** Words as buttons over the picture; only those in sight. */
function Words({ side, axis, text, box }: WordsProps) {
  const tell = useSay();
  const pointing = usePointing(side, axis);
  const high = Math.max(24, text.size * 1.5);
  const near = text.words.filter(({ y }) => y > box.top - 100 && y < box.top + (box.height || 600) + 100);
  return (
    <fieldset>
      <legend class="unseen">{tell(side === "query" ? "queryColumn" : "keyColumn")}</legend>
      {near.map(({ position, x, y, width }) => (
        <button
          key={position}
          {...pointing(position)}
          style={{ left: `${x}px`, top: `${y - high / 2}px`, width: `${width}px`, height: `${high}px` }}
        />
      ))}
    </fieldset>
  );
}

/** Everything in sight; true if a word is active. */
function draw(pen: Pen, store: Store, scene: Scene, texts: Texts, top: number, height: number): boolean {
  const theme = store.theme.value;
  const colours = coloursOf(scene, theme);
  const grey = colours.map(() => palette(theme).quiet);
  const coloursAt = (key: number) => (scene.rests(key, key) ? grey : colours);
  const shaded = (
    text: Setting,
    values: readonly Float32Array[],
    own: (position: number) => readonly string[],
  ) => {
    const shown = scene.signed ? [mean(values)] : values;
    const ink = inkOf(scene, theme);
    tints(pen, text, shown, scene.signed ? (p) => [ink(0, shown[0][p])] : own, top, height);
  };
  const fresh = scene.edition === store.edition;
  const { queries, keys } = fresh ? store.active.value : { queries: [], keys: [] };
  const looking = queries.filter((p) => texts.queries.at.has(p));
  // In a text that looks at itself, a word shows both directions.
  const lookedAt = [...new Set([...keys, ...(texts.own ? looking : [])])].filter((p) => texts.keys.at.has(p));
  const active = looking.length + lookedAt.length > 0;
  if (active) {
    const out = looking.map((p) => scene.seers.map((seer) => seer.row(p)));
    const back = lookedAt.map((p) => scene.seers.map((seer) => seer.column(p)));
    if (looking.length) shaded(texts.keys, summed(out), coloursAt);
    else shaded(texts.queries, summed(back), () => colours);
    looking.forEach((p, i) => {
      arcs(pen, scene, texts, p, "query", out[i], top, store);
    });
    lookedAt.forEach((p, i) => {
      arcs(pen, scene, texts, p, "key", back[i], top, store);
    });
  } else {
    shaded(texts.keys, scene.links.received, coloursAt);
    if (texts.keys.words.length <= FEW) allArcs(pen, scene, texts, theme, top, cutIn(store, scene));
  }
  const { queries: pinnedQueries, keys: pinnedKeys } = store.selection.value;
  const pinned = (axis: Axis, pins: number[], text: Setting) =>
    new Set(text.words.map((w) => w.position).filter((p) => pins.includes(axis.starts[p])));
  const { query, key } = store.hover.value;
  const ends = [...looking, ...(query !== null && key !== null ? [key] : [])];
  const write = (text: Setting, axis: Axis, lit: number[], pins: number[]) =>
    writing(
      pen,
      text,
      axis,
      top,
      height,
      { lit: new Set(lit), pinned: pinned(axis, pins, text) },
      palette(theme),
    );
  if (!texts.own) write(texts.keys, scene.columnAxis, keys, pinnedKeys);
  for (const [text, axis] of texts.own
    ? [[texts.queries, scene.rowAxis] as const]
    : [[texts.keys, scene.columnAxis] as const, [texts.queries, scene.rowAxis] as const])
    drawParts(pen, store, text, axis, top);
  write(
    texts.queries,
    scene.rowAxis,
    texts.own ? [...ends, ...keys] : looking,
    texts.own ? [...pinnedQueries, ...pinnedKeys] : pinnedQueries,
  );
  return active;
}

/** Rules before the first words of what the model wrote, and of the turns of a conversation. */
function drawParts(pen: Pen, store: Store, text: Setting, axis: Axis, top: number): void {
  const bounds = boundsOf(
    axis,
    text.words.map(({ position }) => position),
  );
  divideText(pen, text, bounds, top, partName(store), palette(store.theme.value));
}

/** Per head, the sum over words. */
const summed = (words: Float32Array[][]): Float32Array[] =>
  words.length === 1
    ? words[0]
    : words[0].map((first, h) => first.map((_, i) => words.reduce((sum, word) => sum + word[h][i], 0)));

function tints(
  pen: Pen,
  text: Setting,
  values: readonly Float32Array[],
  coloursAt: (position: number) => readonly string[],
  top: number,
  height: number,
): void {
  let most = 1e-12;
  for (const { position } of text.words)
    for (const row of values) most = Math.max(most, sizeOf(row[position]));
  for (const word of text.words)
    if (word.y > top - 40 && word.y < top + height + 40)
      tint(
        pen,
        word,
        text.size,
        top,
        values.map((row) => strengthOf(row[word.position], most)),
        coloursAt(word.position),
      );
}

/** The arcs of one word: above what it looks at, below who looks at it. */
function arcs(
  pen: Pen,
  scene: Scene,
  texts: Texts,
  position: number,
  side: "query" | "key",
  looks: readonly Float32Array[], // per head
  top: number,
  store: Store,
): void {
  const [here, there] = side === "query" ? [texts.queries, texts.keys] : [texts.keys, texts.queries];
  const from = here.at.get(position)!;
  const most = scene.links.top;
  const { threshold } = store.selection.value;
  const { ink, ground, quiet } = palette(store.theme.value);
  const inks = inkOf(scene, store.theme.value);
  const cut = cutIn(store, scene);
  const found: { to: Placed; h: number; weight: number }[] = [];
  looks.forEach((values, h) => {
    for (const to of there.words) {
      const weight = values[to.position];
      if (!(Math.abs(weight) <= Math.max(threshold, 0.01 * most))) found.push({ to, h, weight });
    }
  });
  found.sort((a, b) => sizeOf(b.weight) - sizeOf(a.weight));
  const drawn = found.slice(0, ARCS).map(({ to, h, weight }, i) => {
    const strength = strengthOf(weight, most);
    const rests = side === "query" ? scene.rests(position, to.position) : scene.rests(to.position, position);
    const stroke = rests
      ? { colour: quiet, alpha: Math.max(0.12, RESTING * strength), width: 1 }
      : { colour: inks(h, weight), alpha: Math.max(0.12, strength), ...drawnAs(weight, 2 * strength) };
    const [q, k] = side === "query" ? [position, to.position] : [to.position, position];
    if (cut?.(q, k, scene.heads[h])) {
      if (!texts.own) bridge(pen, from, to, here.size, top, { ...stroke, dashed: true });
      else {
        const at = arc(pen, from, to, here, side === "query", top, { ...stroke, dashed: true });
        scissors(pen, ...at, [1, 0], ground, ink);
      }
      return null;
    }
    if (!texts.own) {
      bridge(pen, from, to, here.size, top, stroke);
      return null;
    }
    const at = arc(pen, from, to, here, side === "query", top, stroke);
    return i < TOLD && Math.abs(weight) > 0.1 * most ? { at, weight, to } : null;
  });
  for (const one of drawn) {
    if (!one || one.to === from || one.to.line !== from.line) continue; // between lines it would cover words
    const text = scene.signed ? signed(one.weight) : figure(one.weight, 2);
    const half = scene.signed ? 22 : 15;
    pen.rect(one.at[0] - half, one.at[1] - 8, 2 * half, 16, { colour: ground, alpha: 0.85 });
    pen.text(one.at[0], one.at[1], text, { colour: ink, size: 12, mono: false, align: "middle" });
  }
}

/** How wide an arc is; what is not known is dashed. */
const drawnAs = (weight: number, more: number): { width: number; dashed: boolean } =>
  Number.isNaN(weight) ? { width: 1, dashed: true } : { width: 1 + more, dashed: false };

const STRONG = 0.08; // of the strongest: weaker arcs are drawn for one word at a time only

/** The strong arcs of all words; those that rest are grey, thin and below. */
function allArcs(
  pen: Pen,
  scene: Scene,
  texts: Texts,
  theme: Theme,
  top: number,
  cut: ReturnType<typeof cutIn>,
): void {
  const { links, rests } = scene;
  const inks = inkOf(scene, theme);
  const { quiet } = palette(theme);
  for (const resting of [true, false])
    for (let i = 0; i < links.count; i++) {
      if (rests(links.query[i], links.key[i]) !== resting) continue;
      const [from, to] = [texts.queries.at.get(links.query[i]), texts.keys.at.get(links.key[i])];
      const weight = links.weight[i];
      if (!from || !to || Math.abs(weight) < STRONG * links.top) continue;
      const strength = strengthOf(weight, links.top);
      const isCut = cut?.(links.query[i], links.key[i], scene.heads[links.head[i]]) ?? false;
      const ink = resting
        ? { colour: quiet, alpha: 0.5 * RESTING * strength, width: 1 }
        : { colour: inks(links.head[i], weight), alpha: 0.85 * strength, ...drawnAs(weight, 1.5 * strength) };
      const drawn = isCut ? { ...ink, dashed: true } : ink;
      if (texts.own) arc(pen, from, to, texts.queries, true, top, drawn);
      else bridge(pen, from, to, texts.queries.size, top, drawn);
    }
}

const PRINTED = 300; // free height of a saved picture

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = shownScene.of(store);
  if (!scene) return null;
  const texts = textsOf(scene, width, PRINTED, false);
  draw(pen, store, scene, texts, 0, texts.height);
  return texts.height + legendPicture(shifted(pen, 0, texts.height), store, scene, width);
}
