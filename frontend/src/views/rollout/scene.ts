// How the roll-out is drawn: the text with the share of every token in one position of the last layer.

import { sayIn } from "../../frame/context";
import { stage } from "../../frame/drawn";
import { strengthOf } from "../../marks/columns";
import { type Pen, shifted } from "../../marks/pen";
import { palette, type Theme } from "../../marks/scales";
import { type Setting, setting, TINTED, tint, writing } from "../../marks/sentence";
import { wrapped } from "../../marks/wrapped";
import type { Store } from "../../state/store";
import { listedName, quoted } from "../../words/quoted";
import { findingOf, plain, restingText } from "./said";
import { askedOf, LITTLE, ofLeft, type Shares, shareText } from "./shares";
import type { Steps } from "./steps";

const DOUBLE = 1; // powers of two beside the even share: at one more the colour is full, at one less there is none

/** How strong the colour of so many times an even share is. */
const strengthAt = (power: number): number => Math.max(0, Math.min(1, (power + DOUBLE) / (2 * DOUBLE)));

/** How a token's share stands beside the even one: its colour, and how strong it is; without one, the share itself. */
export function inkOf(shares: Shares, p: number, theme: Theme): { colour: string; strength: number } {
  const { quiet, accent } = palette(theme);
  const top = shares.values[shares.order[0]] ?? 1;
  if (shares.rests(p)) return { colour: quiet, strength: strengthOf(shares.values[p], top) };
  if (shares.left < LITTLE) return { colour: quiet, strength: 0 };
  const [own, even] = ofLeft(shares, p);
  if (even === null) return { colour: accent, strength: strengthOf(shares.values[p], top) };
  return { colour: accent, strength: strengthAt(Math.log2(own / even)) };
}

/** A colour as the text has it behind a word. */
export const tinted = ({ colour, strength }: { colour: string; strength: number }): string =>
  `color-mix(in srgb, ${colour} ${Math.round(100 * TINTED * strength)}%, transparent)`;

const STOPS = 16;

/** The tints of a text from half an even share to twice as much, as `inkOf` has them. */
export const scaleStops = (theme: Theme): string[] =>
  Array.from({ length: STOPS + 1 }, (_, i) =>
    tinted({ colour: palette(theme).accent, strength: strengthAt((2 * i) / STOPS - 1) }),
  );

const shownShares = stage<{ shares: Shares; steps: Steps }>();
export const useStage = shownShares.use;

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

const LINES = 1.75; // no arcs are between the lines

/** Short texts are set larger, where there is room. */
export function textOf({ axis }: Shares, width: number, narrow: boolean, least: number): Setting {
  const wide = !narrow && width > 600;
  const size =
    axis.count <= 40 ? (width > 1000 ? 34 : wide ? 28 : 20) : axis.count <= 120 ? (wide ? 20 : 17) : 16;
  const list = Array.from({ length: axis.count }, (_, p) => p);
  return setting(axis, list, width, 0, { size, least, above: 0, apart: LINES });
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
  const state = { lit: new Set(lit === null ? [] : [lit]), pinned: new Set([shares.position]), tinted: true };
  writing(pen, text, shares.axis, seen.top, seen.height, state, colours);
}

const PRINTED = 12; // tokens listed in a saved picture
const ROW = 22;
const BAR = 240;
const TITLE = { size: 16, line: 22 };

/** The finding, the text, and the largest shares below it. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const found = shownShares.of(store);
  if (!found) return null;
  const { shares, steps } = found;
  const theme = store.theme.value;
  const { ink, quiet } = palette(theme);
  const word = quoted(plain(shares.axis.names[shares.position]));
  const asked = sayIn(store)("rolloutAsk", { word, count: shares.layers });
  const title = wrapped(findingOf(store, shares, steps) ?? asked, width, TITLE.size);
  title.forEach((line, i) => {
    pen.text(0, 10 + i * TITLE.line, line, { colour: ink, size: TITLE.size, mono: false, bold: true });
  });
  const above = 12 + title.length * TITLE.line;
  const text = textOf(shares, width, false, 0);
  drawText(shifted(pen, 0, above), store, shares, text, { top: 0, height: text.height }, null);
  const below = above + text.height;
  pen.text(0, below, restingText(store, shares) ?? "", { colour: quiet, mono: false });
  const listed = shares.order.slice(0, PRINTED);
  const most = ofLeft(shares, shares.order[0])[0] || 1;
  listed.forEach((p, i) => {
    const y = below + 26 + i * ROW;
    const long = (BAR * ofLeft(shares, p)[0]) / most;
    pen.text(150, y, listedName(plain(shares.axis.names[p])), { colour: ink, align: "end" });
    const { colour, strength } = inkOf(shares, p, theme);
    pen.rect(160, y - 5, long, 10, { colour, alpha: 0.15 + TINTED * strength });
    pen.text(166 + long, y, shareText(shares.values[p]), { colour: quiet, mono: false });
  });
  return below + 20 + listed.length * ROW;
}
