// The view of a sound as a picture in a file.

import { sayIn } from "../../frame/context";
import { BAR_ROOM, colourBar } from "../../marks/legend";
import { type Pen, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { drawBack, drawFront, heightOf, layoutOf } from "./drawing";
import { stageOf, told, whose } from "./scene";

const TITLE = 24; // heights
const AXIS = 20;
const BAR = 240;

/** The whole picture, for a file: what is shown, the seconds by their name, and what the blue means. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const now = stageOf(store);
  if (!now) return null;
  const { heard, pointed } = now;
  const tell = sayIn(store);
  const colours = palette(store.theme.value);
  const words = heard.words.length > 0;
  const layout = layoutOf(heard, width - (words ? BAR_ROOM : 0), false);
  const below = shifted(pen, 0, TITLE);
  const said =
    pointed.word === null && pointed.frame === null && words
      ? tell("soundTitle")
      : told(store, heard, pointed)[0];
  pen.text(0, 10, `${whose(store)}${tell("colon")}${said}`, { colour: colours.ink, mono: false, bold: true });
  drawBack(below, store, heard, layout);
  drawFront(below, store, heard, layout, pointed, null);
  const bottom = heightOf(heard, layout);
  below.text(layout.left + layout.width / 2, bottom + 6, tell("soundTime"), {
    colour: colours.quiet,
    size: 12,
    mono: false,
    align: "middle",
  });
  if (words) {
    const bar = { top: 1, log: false, name: tell("soundBar") };
    colourBar(below, [layout.left + layout.width + 20, 0], Math.min(bottom - 8, BAR), bar, colours);
  }
  return TITLE + bottom + AXIS;
}
