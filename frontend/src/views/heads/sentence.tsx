// The head view as a sentence: the text set as text, arcs above (what a word looks at) and below (who looks at it).

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Axis, bare, boundsOf } from "../../compute/axis";
import { mean } from "../../compute/mean";
import { partNames, useSay, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { FoldButton, headsOf } from "../../frame/folds";
import { useSeen } from "../../frame/scroller";
import { divideText } from "../../marks/parts";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import { figure, hundredths, palette } from "../../marks/scales";
import { type Setting, writing } from "../../marks/sentence";
import type { Store } from "../../state/store";
import { allArcs, arcs, summed, tints } from "./arcs";
import { Legend, legendPicture } from "./legend";
import { coloursOf, cutIn, focusOf, inkOf, type Scene } from "./scene";
import { type Texts, textsOf } from "./texts";
import { leaving, usePointing } from "./tokens";

const shownScene = stage<Scene>();

const FEW = 48; // words up to which all strong arcs are drawn at once
const BEHIND = 0.3; // how much of their opacity these keep behind the arcs of one word

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
      <Opening scene={scene} />
      <Legend scene={scene} sentence />
      <div class="scroller flow" ref={scroller} onPointerLeave={leaving(store)}>
        <div class="run" style={{ height: `${set ? heightOf(set, narrow && isPair(store)) : 200}px` }}>
          <div class="sheet">
            <canvas ref={canvas} aria-hidden="true" />
          </div>
          {set && !set.own && <Words side="key" axis={scene.columnAxis} text={set.keys} box={box.value} />}
          {set && <Words side="query" axis={scene.rowAxis} text={set.queries} box={box.value} />}
          {set && !set.own && <Headers axis={scene.columnAxis} text={set.keys} />}
          {set && <Headers axis={scene.rowAxis} text={set.queries} />}
        </div>
      </div>
    </div>
  );
}

/** How high a text is with its arcs; one line of which one link is shown has none below it. */
const heightOf = ({ queries, own, height }: Texts, pair: boolean): number =>
  pair && own && queries.lines === 1 ? Math.min(height, queries.words[0].y + 1.6 * queries.size) : height;

/** What the word does after which a causal model speaks, where no word is chosen yet. */
function Opening({ scene }: { scene: Scene }) {
  const store = useStore();
  const tell = useSay();
  const focus = focusOf(store, scene);
  if (!focus) return null;
  const word = bare(scene.rowAxis.names[focus.query]);
  if (focus.key === null) return <h2 data-focus>{tell("focusRests", { word })}</h2>;
  const key = bare(scene.columnAxis.names[focus.key]);
  return (
    <h2 data-focus>
      {tell("focusLooks", {
        word,
        key,
        weight: store.look.value.contributions ? figure(focus.weight, 2) : hundredths(focus.weight),
      })}
    </h2>
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

/** Below the first word of a part: its name, and a triangle that folds it. */
function Headers({ axis, text }: { axis: Axis; text: Setting }) {
  const positions = text.words.map(({ position }) => position);
  return (
    <>
      {headsOf(axis, positions).map(({ at, number }) => {
        const { x, y } = text.words[at];
        const top = `${y + text.size * 0.75}px`;
        return (
          <FoldButton
            key={number}
            {...{ side: axis.side, number }}
            style={{ position: "absolute", left: `${x}px`, top }}
          />
        );
      })}
    </>
  );
}

/** Everything in sight; true if a word is active. */
function draw(
  pen: Pen,
  store: Store,
  scene: Scene,
  texts: Texts,
  top: number,
  height: number,
  printed = false,
): boolean {
  const theme = store.theme.value;
  const colours = coloursOf(scene, theme);
  const grey = colours.map(() => palette(theme).quiet);
  const coloursAt = (key: number) => (scene.rests(key, key) ? grey : colours);
  const shaded: Shaded = (text, values, own) => {
    const shown = scene.signed ? [mean(values)] : values;
    const ink = inkOf(scene, theme);
    tints(pen, text, shown, scene.signed ? (p) => [ink(0, shown[0][p])] : own, top, height);
  };
  const fresh = scene.edition === store.edition;
  const { queries, keys } = fresh ? store.active.value : { queries: [], keys: [] };
  const looking = queries.filter((p) => texts.queries.at.has(p));
  // In a text that looks at itself, a word shows both directions.
  const pair = texts.own && isPair(store); // of one link the arc above says all
  const lookedAt = [...new Set([...keys, ...(texts.own ? looking : [])])].filter(
    (p) => !pair && texts.keys.at.has(p),
  );
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
  }
  const told = !active ? drawRest(pen, store, scene, texts, top, shaded, coloursAt) : null;
  const { queries: pinnedQueries, keys: pinnedKeys } = store.selection.value;
  const { query, key } = store.hover.value;
  const ends = [
    ...looking,
    ...(told === null ? [] : [told]),
    ...(query !== null && key !== null ? [key] : []),
  ];
  const write = (text: Setting, axis: Axis, lit: number[], pins: number[]) =>
    writing(
      pen,
      text,
      axis,
      top,
      height,
      { lit: new Set(lit), pinned: pinnedIn(axis, pins, text) },
      palette(theme),
    );
  if (!texts.own) write(texts.keys, scene.columnAxis, keys, pinnedKeys);
  const name = printed ? partNames(store) : null; // on a screen buttons have the names
  const divide = (text: Setting, axis: Axis) =>
    divideText(pen, text, partsOf(text, axis), top, name, palette(theme));
  if (!texts.own) divide(texts.keys, scene.columnAxis);
  divide(texts.queries, scene.rowAxis);
  write(
    texts.queries,
    scene.rowAxis,
    texts.own ? [...ends, ...keys] : looking,
    texts.own ? [...pinnedQueries, ...pinnedKeys] : pinnedQueries,
  );
  return active;
}

/** Whether what is shown is one link that is pinned, and nothing else is pointed at. */
const isPair = (store: Store): boolean => {
  const { queries, keys } = store.selection.value;
  const { query, key } = store.hover.value;
  return queries.length === 1 && keys.length === 1 && query === null && key === null;
};

type Shaded = (
  text: Setting,
  values: readonly Float32Array[],
  own: (position: number) => readonly string[],
) => void;

/** Where no word is chosen: the strong arcs of all, and before them those of the word it opens on, which it returns. */
function drawRest(
  pen: Pen,
  store: Store,
  scene: Scene,
  texts: Texts,
  top: number,
  shaded: Shaded,
  coloursAt: (key: number) => readonly string[],
): number | null {
  const focus = focusOf(store, scene);
  const told = focus && texts.queries.at.has(focus.query) ? focus.query : null;
  const own = told === null ? null : scene.seers.map((seer) => seer.row(told));
  shaded(texts.keys, own ?? scene.links.received, coloursAt);
  if (texts.keys.words.length <= FEW)
    allArcs(pen, scene, texts, store.theme.value, top, cutIn(store, scene), own ? BEHIND : 1);
  if (own) arcs(pen, scene, texts, told!, "query", own, top, store);
  return told;
}

/** The positions on the page of tokens that are pinned. */
const pinnedIn = (axis: Axis, pins: number[], text: Setting): Set<number> =>
  new Set(text.words.map((w) => w.position).filter((p) => pins.includes(axis.starts[p])));

/** The first words of what the model wrote, and of the turns of a conversation. */
const partsOf = (text: Setting, axis: Axis) =>
  boundsOf(
    axis,
    text.words.map(({ position }) => position),
  );

const PRINTED = 300; // free height of a saved picture

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = shownScene.of(store);
  if (!scene) return null;
  const texts = textsOf(scene, width, PRINTED, false);
  draw(pen, store, scene, texts, 0, texts.height, true);
  return texts.height + legendPicture(shifted(pen, 0, texts.height), store, scene, width);
}
