// The view of a sound as a picture in a file.

import { type Pen, shifted } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { drawBack, drawFront, heightOf, layoutOf } from "./drawing";
import { stageOf, told } from "./scene";

/** The whole picture, for a file. */
export function picture(pen: Pen, store: Store, width: number): number | null {
  const now = stageOf(store);
  if (!now) return null;
  const { heard, pointed } = now;
  const layout = layoutOf(heard, width, false);
  const below = shifted(pen, 0, 24);
  pen.text(0, 10, told(store, heard, pointed)[0], {
    colour: palette(store.theme.value).ink,
    mono: false,
    bold: true,
  });
  drawBack(below, store, heard, layout);
  drawFront(below, store, heard, layout, pointed, null);
  return 24 + heightOf(heard, layout);
}
