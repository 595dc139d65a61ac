// What the roll-out shows: one position of the last layer, and the share of every token of the input in it.

import { type Axis, positionOf } from "../../compute/axis";
import { isCausal, restsOf } from "../../compute/rest";
import { rolledOut } from "../../compute/rollout";
import { sayIn } from "../../frame/context";
import { stage } from "../../frame/drawn";
import { strengthOf } from "../../marks/columns";
import { type Pen, shifted } from "../../marks/pen";
import { brief, figure, palette, percent, signColour, type Theme } from "../../marks/scales";
import { type Setting, setting, tint, writing } from "../../marks/sentence";
import type { Store } from "../../state/store";
import type { Steps } from "./steps";

export interface Shares {
  axis: Axis;
  position: number; // of the last layer
  layers: number;
  values: Float64Array; // of every token; together 1
  even: Float64Array | null; // the same with layers that look evenly
  rests: (key: number) => boolean;
  order: number[]; // positions that are no resting places, the largest share first
  left: number; // what these have together
}

/** What is left for tokens that are no resting places. */
const leftIn = (values: Float64Array, order: readonly number[]): number =>
  order.reduce((sum, p) => sum + values[p], 0);

/** Shares of what is left: those of one token, and with layers that look evenly. */
export function ofLeft({ values, even, order, left }: Shares, p: number): [own: number, even: number | null] {
  return [values[p] / (left || 1), even && even[p] / (leftIn(even, order) || 1)];
}

const DOUBLE = 1; // powers of two beside the even share at which the colour is full

/** How a token's share stands beside the even one: its colour, and how strong it is; without one, the share itself. */
export function inkOf(shares: Shares, p: number, theme: Theme): { colour: string; strength: number } {
  const { quiet, accent } = palette(theme);
  const top = shares.values[shares.order[0]] ?? 1;
  if (shares.rests(p)) return { colour: quiet, strength: strengthOf(shares.values[p], top) };
  const [own, even] = ofLeft(shares, p);
  if (even === null) return { colour: accent, strength: strengthOf(shares.values[p], top) };
  const power = Math.log2(own / even);
  return { colour: signColour(power, theme), strength: Math.min(1, Math.abs(power) / DOUBLE) };
}

const TOLD = 3; // tokens that the finding names

/** Tokens by how many times an even share they have, most first; none where that is not known. */
export function againstEven(shares: Shares): { p: number; times: number }[] {
  const times = shares.order.map((p) => {
    const [own, even] = ofLeft(shares, p);
    return { p, times: even ? own / even : Number.NaN };
  });
  if (times.some((one) => Number.isNaN(one.times))) return [];
  return times.sort((a, b) => b.times - a.times || a.p - b.p);
}

/** What the roll-out finds, in one sentence: which tokens are there more than evenly. */
export function findingOf(store: Store, shares: Shares): string | null {
  const times = againstEven(shares);
  const tell = sayIn(store);
  const name = (one: { p: number; times: number }) =>
    tell("rolloutTimes", {
      token: one.p === shares.position ? tell("rolloutItself") : plain(shares.axis.names[one.p]),
      times: figure(one.times, 2),
    });
  const most = times.filter((one) => one.times > 1).slice(0, TOLD);
  if (!most.length) return null;
  const said = { word: plain(shares.axis.names[shares.position]), most: most.map(name).join(tell("listed")) };
  return tell("rolloutFinding", { ...said, count: shares.layers });
}

/** Which token is there least, in one sentence; null where that is not known. */
export function leastOf(store: Store, shares: Shares): string | null {
  const least = againstEven(shares).at(-1);
  if (!least) return null;
  const tell = sayIn(store);
  return tell("rolloutLeast", { token: plain(shares.axis.names[least.p]), times: figure(least.times, 2) });
}

/** Where the heads rest, in a sentence; null where they cannot. */
export function restingText(store: Store, { axis, values, even, rests, order, left }: Shares): string | null {
  const places = [...values.keys()].filter(rests);
  if (!places.length) return null;
  const tell = sayIn(store);
  const names = [...new Set(places.map((p) => plain(axis.labels[p])))].join(tell("comma"));
  const said = { places: names, share: percent(1 - left), words: 100 - percent(1 - left) };
  return even
    ? tell("rolloutRestsEven", { ...said, even: percent(1 - leftIn(even, order)) })
    : tell("rolloutRests", said);
}

/** A token without the sign of the space before it. */
export const plain = (text: string): string => text.replace(/^␣+(?=.)/, "");

const shownShares = stage<{ shares: Shares; steps: Steps }>();
export const useStage = shownShares.use;

/** The position that is asked about: the one pinned, or else the last that says something. */
export function askedOf(store: Store, { site, axis }: Steps): number {
  const [pinned] = store.selection.value.queries;
  if (pinned !== undefined && pinned < axis.count) return positionOf(axis, pinned);
  if (isCausal(site)) return axis.count - 1; // from here the next word is said
  const words = axis.labels.map((label, p) => !axis.special[p] && /[\p{L}\p{N}]/u.test(label));
  return Math.max(0, words.lastIndexOf(true));
}

/** The shares of all tokens in one position. */
export function sharesOf(steps: Steps, position: number): Shares {
  const { axis } = steps;
  const values = rolledOut(steps.layers, position);
  const resting = restsOf(steps.site, axis, axis);
  const rests = (key: number) => resting(position, key);
  const order = [...values.keys()].filter((p) => !rests(p)).sort((a, b) => values[b] - values[a] || a - b);
  return {
    axis,
    position,
    layers: steps.layers.length,
    values,
    even: steps.even && rolledOut(steps.even, position),
    rests,
    order,
    left: leftIn(values, order),
  };
}

/** Ask about the token before or after this one. */
export function keys(store: Store): Record<string, () => void> {
  const found = shownShares.of(store);
  if (!found) return {};
  const { shares, steps } = found;
  const go = (by: number) => () => {
    const next = askedOf(store, steps) + by;
    if (next >= 0 && next < shares.axis.count) store.set({ queries: [shares.axis.starts[next]] });
  };
  return { ArrowLeft: go(-1), ArrowRight: go(1) };
}

/** Short texts are set larger, where there is room. */
export function textOf({ axis }: Shares, width: number, narrow: boolean, least: number): Setting {
  const wide = !narrow && width > 600;
  const size =
    axis.count <= 40 ? (width > 1000 ? 34 : wide ? 28 : 20) : axis.count <= 120 ? (wide ? 20 : 17) : 16;
  const list = Array.from({ length: axis.count }, (_, p) => p);
  return setting(axis, list, width, 0, { size, least, above: 0 });
}

/** The text with its shares; one token is framed, and so is one that is pointed at. */
export function drawText(
  pen: Pen,
  store: Store,
  shares: Shares,
  text: Setting,
  seen: { top: number; height: number },
  lit: number | null,
): void {
  const theme = store.theme.value;
  const colours = palette(theme);
  for (const word of text.words) {
    if (word.y < seen.top - text.line || word.y > seen.top + seen.height + text.line) continue;
    const { colour, strength } = inkOf(shares, word.position, theme);
    tint(pen, word, text.size, seen.top, [strength], [colour]);
  }
  const state = { lit: new Set(lit === null ? [] : [lit]), pinned: new Set([shares.position]) };
  writing(pen, text, shares.axis, seen.top, seen.height, state, colours);
}

const PRINTED = 12; // tokens listed in a saved picture
const ROW = 22;
const BAR = 240;

/** The text, and the largest shares below it. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const found = shownShares.of(store);
  if (!found) return null;
  const { shares } = found;
  const { ink, quiet } = palette(store.theme.value);
  const tell = sayIn(store);
  const word = plain(shares.axis.names[shares.position]);
  const heading = { colour: ink, size: 16, mono: false, bold: true };
  const asked = tell("rolloutAsk", { word, count: shares.layers });
  pen.text(0, 10, findingOf(store, shares) ?? asked, heading);
  const text = textOf(shares, width, false, 0);
  drawText(shifted(pen, 0, 34), store, shares, text, { top: 0, height: text.height }, null);
  const below = 34 + text.height;
  pen.text(0, below, restingText(store, shares) ?? "", { colour: quiet, mono: false });
  const listed = shares.order.slice(0, PRINTED);
  const most = ofLeft(shares, shares.order[0])[0] || 1;
  listed.forEach((p, i) => {
    const y = below + 26 + i * ROW;
    const [own] = ofLeft(shares, p);
    pen.text(150, y, shares.axis.names[p], { colour: ink, align: "end" });
    pen.rect(160, y - 5, (BAR * own) / most, 10, {
      colour: inkOf(shares, p, store.theme.value).colour,
      alpha: 0.8,
    });
    pen.text(166 + (BAR * own) / most, y, brief(own), { colour: quiet, mono: false });
  });
  return below + 20 + listed.length * ROW;
}
