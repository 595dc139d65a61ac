// The arcs of a sentence and the tints of its words.

import { sizeOf } from "../../compute/worth";
import { opacityOn, RESTING, strengthOf } from "../../marks/columns";
import { scissors } from "../../marks/cut";
import type { Pen } from "../../marks/pen";
import { figure, palette, signed, type Theme } from "../../marks/scales";
import { type Along, arc, bridge, type Placed, type Setting, tint } from "../../marks/sentence";
import type { Store } from "../../state/store";
import { cutIn, inkOf, type Scene } from "./scene";
import type { Texts } from "./texts";

const ARCS = 60; // of one word, in one direction
const TOLD = 3; // arcs with their number

/** Per head, the sum over words. */
export const summed = (words: Float32Array[][]): Float32Array[] =>
  words.length === 1
    ? words[0]
    : words[0].map((first, h) => first.map((_, i) => words.reduce((sum, word) => sum + word[h][i], 0)));

/** Words as dark as they are looked at. */
export function tints(
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
export function arcs(
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
    const opacity = opacityOn(store.theme.value, strength);
    const rests = side === "query" ? scene.rests(position, to.position) : scene.rests(to.position, position);
    const stroke = rests
      ? { colour: quiet, alpha: Math.max(0.12, RESTING * opacity), width: 1 }
      : { colour: inks(h, weight), alpha: Math.max(0.12, opacity), ...drawnAs(weight, 2 * strength) };
    const [q, k] = side === "query" ? [position, to.position] : [to.position, position];
    if (cut?.(q, k, scene.heads[h])) {
      if (!texts.own) bridge(pen, from, to, here.size, top, { ...stroke, dashed: true });
      else {
        const at = arc(pen, from, to, here, side === "query", top, { ...stroke, dashed: true });
        scissors(pen, ...at(0.5), [1, 0], ground, ink);
      }
      return null;
    }
    if (!texts.own) {
      bridge(pen, from, to, here.size, top, stroke);
      return null;
    }
    const at = arc(pen, from, to, here, side === "query", top, stroke);
    return { at, weight, to, rests, told: i < TOLD && Math.abs(weight) > 0.1 * most };
  });
  const curves = drawn.flatMap((one) => (one && one.to !== from ? [one.at] : []));
  const taken: Spot[] = [];
  for (const one of drawn) {
    if (!one?.told || one.to === from || !isFree(from, one.to, side === "query")) continue;
    const text = scene.signed ? signed(one.weight) : figure(one.weight, 2);
    const half = scene.signed ? 22 : 15;
    const [x, y] = freest(one.at, curves, taken);
    taken.push([x, y]);
    pen.rect(x - half, y - 8, 2 * half, 16, { colour: ground, alpha: 0.85 });
    pen.text(x, y, text, { colour: one.rests ? quiet : ink, size: 12, mono: false, align: "middle" });
  }
}

/** Whether no word stands in the way of an arc and of its number: on one line, or between two that follow each other. */
const isFree = (from: Placed, to: Placed, over: boolean): boolean =>
  to.line === from.line || to.line - from.line === (over ? -1 : 1);

type Spot = [x: number, y: number];

const PLACES = [0.5, 0.6, 0.4, 0.7, 0.78, 0.3]; // along an arc, for its number: the middle first, then towards its end
const CLEAR = 20; // pixels to other arcs and numbers with which it is surely read as this one's
const POINTS = 24; // of another arc

/** The place on an arc that is farthest from other arcs and from numbers that stand already; whole at the upper edge. */
export function freest(own: Along, all: readonly Along[], taken: readonly Spot[]): Spot {
  let best: Spot = own(0.5);
  let most = -1;
  for (const t of PLACES) {
    const [x, y] = own(t);
    const far = ([a, b]: Spot) => Math.hypot((a - x) / 2, b - y); // a number is wider than high
    const others = all.filter((one) => one !== own);
    const points = others.flatMap((one) => Array.from({ length: POINTS + 1 }, (_, i) => one(i / POINTS)));
    const room = Math.min(CLEAR, ...points.map(far), ...taken.map((spot) => far(spot) - 8));
    if (room > most) [most, best] = [room, [x, y]];
  }
  return [best[0], Math.max(best[1], 9)];
}

/** How wide an arc is; what is not known is dashed. */
const drawnAs = (weight: number, more: number): { width: number; dashed: boolean } =>
  Number.isNaN(weight) ? { width: 1, dashed: true } : { width: 1 + more, dashed: false };

const STRONG = 0.08; // of the strongest: weaker arcs are drawn for one word at a time only

/** The strong arcs of all words; those that rest are grey, thin and below. */
export function allArcs(
  pen: Pen,
  scene: Scene,
  texts: Texts,
  theme: Theme,
  top: number,
  cut: ReturnType<typeof cutIn>,
  share = 1, // of the usual opacity: behind the arcs of one word they step back
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
      const opacity = opacityOn(theme, strength);
      const isCut = cut?.(links.query[i], links.key[i], scene.heads[links.head[i]]) ?? false;
      const ink = resting
        ? { colour: quiet, alpha: share * 0.5 * RESTING * opacity, width: 1 }
        : {
            colour: inks(links.head[i], weight),
            alpha: share * 0.85 * opacity,
            ...drawnAs(weight, 1.5 * strength),
          };
      const drawn = isCut ? { ...ink, dashed: true } : ink;
      if (texts.own) arc(pen, from, to, texts.queries, to.line <= from.line, top, drawn);
      else bridge(pen, from, to, texts.queries.size, top, drawn);
    }
}
