// The walk, as the frame knows it.

import { useStore } from "../frame/context";
import { HeadPatches, Layers } from "../frame/controls";
import { step } from "../frame/keys";
import type { Store } from "../state/store";
import type { View } from "../state/view";
import "./walk.css";
import "./cell.css";
import "./moving.css";
import "./reading.css";
import "./narrow.css";
import "./roomy.css";
import { goTo } from "./going";
import { stepsOf } from "./order";
import { picture, Walk } from "./view";

export { words } from "./words";

/** Another layer can be opened where a model is at hand. */
function Controls() {
  return (
    <>
      {useStore().powers.walks && <Layers />}
      <HeadPatches single />
    </>
  );
}

const keys = (store: Store) => ({
  ArrowUp: () => step(store, "head", -1),
  ArrowDown: () => step(store, "head", 1),
  ArrowLeft: () => go(store, -1),
  ArrowRight: () => go(store, 1),
});

/** The next step, or the one before; there is none beyond the first and the last. */
function go(store: Store, by: number): void {
  const { walk } = store.page;
  if (!walk) return;
  const last = stepsOf(walk).length - 1;
  const at = Math.min(store.selection.peek().step, last);
  goTo(store, walk, Math.max(0, Math.min(last, at + by)));
}

export const view: View = {
  id: "walk",
  title: "walk",
  heads: "one",
  Component: Walk,
  Controls,
  help: "help_walk",
  wide: true,
  here: ({ page, powers }) => page.walk !== null || (powers.walks?.() ?? false),
  keys,
  picture,
};
