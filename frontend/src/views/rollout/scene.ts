// What the roll-out shows: one position of the last layer, and the share of every token of the input in it.

import { type Axis, positionOf } from "../../compute/axis";
import { isCausal, restsOf } from "../../compute/rest";
import { rolledOut } from "../../compute/rollout";
import { sayIn } from "../../frame/context";
import { stage } from "../../frame/drawn";
import { strengthOf } from "../../marks/columns";
import { type Pen, shifted } from "../../marks/pen";
import { brief, palette } from "../../marks/scales";
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
  order: number[]; // positions, the largest share first
  top: number; // the largest share that is not a resting place's
}

const shownShares = stage<{ shares: Shares; steps: Steps }>();
export const useStage = shownShares.use;

/** The position that is asked about: the one pinned, or else the last that says something. */
export function askedOf(store: Store, { site }: Steps): number {
  const axis = store.lenses.axis(site.query, "tokens");
  const [pinned] = store.selection.value.queries;
  if (pinned !== undefined && pinned < axis.count) return positionOf(axis, pinned);
  if (isCausal(site)) return axis.count - 1; // from here the next word is said
  const words = axis.labels.map((label, p) => !axis.special[p] && /[\p{L}\p{N}]/u.test(label));
  return Math.max(0, words.lastIndexOf(true));
}

/** The shares of all tokens in one position. */
export function sharesOf(store: Store, steps: Steps, position: number): Shares {
  const axis = store.lenses.axis(steps.site.query, "tokens");
  const values = rolledOut(steps.layers, position);
  const resting = restsOf(steps.site, axis, axis);
  const rests = (key: number) => resting(position, key);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a] || a - b);
  const top = order.reduce((most, p) => (rests(p) ? most : Math.max(most, values[p])), 0) || values[order[0]];
  return {
    axis,
    position,
    layers: steps.layers.length,
    values,
    even: steps.even && rolledOut(steps.even, position),
    rests,
    order,
    top,
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
  const size = axis.count <= 40 ? (wide ? 24 : 18) : axis.count <= 120 ? (wide ? 20 : 17) : 16;
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
  const colours = palette(store.theme.value);
  for (const word of text.words) {
    if (word.y < seen.top - text.line || word.y > seen.top + seen.height + text.line) continue;
    const colour = shares.rests(word.position) ? colours.quiet : colours.accent;
    const strength = strengthOf(shares.values[word.position], shares.top);
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
  const { ink, quiet, accent } = palette(store.theme.value);
  const tell = sayIn(store);
  const word = shares.axis.names[shares.position];
  pen.text(0, 10, tell("rolloutAsk", { word, count: shares.layers }), {
    colour: ink,
    size: 16,
    mono: false,
    bold: true,
  });
  const text = textOf(shares, width, false, 0);
  const below = 34 + text.height;
  drawText(shifted(pen, 0, 34), store, shares, text, { top: 0, height: text.height }, null);
  const most = shares.values[shares.order[0]];
  shares.order.slice(0, PRINTED).forEach((p, i) => {
    const y = below + 20 + i * ROW;
    const long = (BAR * shares.values[p]) / most;
    pen.text(150, y, shares.axis.names[p], { colour: ink, align: "end" });
    pen.rect(160, y - 5, long, 10, { colour: shares.rests(p) ? quiet : accent, alpha: 0.8 });
    pen.text(166 + long, y, brief(shares.values[p]), { colour: quiet, mono: false });
  });
  const rows = Math.min(PRINTED, shares.order.length);
  return below + 20 + rows * ROW;
}
