// The view of a sound as a picture in a file.

import { sayIn } from "../../frame/context";
import { type Pen, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { drawBack, drawFront, heightOf, layoutOf } from "./drawing";
import { stageOf, told } from "./scene";

const TITLE = 24; // heights
const AXIS = 20;

/** The whole picture, for a file: what is shown, the seconds by their name, and what the blue means. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const now = stageOf(store);
  if (!now) return null;
  const { heard, pointed } = now;
  const tell = sayIn(store);
  const colours = palette(store.theme.value);
  const layout = layoutOf(heard, width, false);
  const below = shifted(pen, 0, TITLE);
  pen.text(0, 10, told(store, heard, pointed)[0], { colour: colours.ink, mono: false, bold: true });
  drawBack(below, store, heard, layout);
  drawFront(below, store, heard, layout, pointed, null);
  const bottom = heightOf(heard, layout);
  below.text(layout.left + layout.width / 2, bottom + 6, tell("soundTime"), {
    colour: colours.quiet,
    size: 12,
    mono: false,
    align: "middle",
  });
  return TITLE + bottom + AXIS;
}
