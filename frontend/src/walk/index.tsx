// The walk, as the frame knows it.

import { useStore } from "../frame/context";
import { HeadPatches, Layers } from "../frame/controls";
import { step } from "../frame/keys";
import type { Store } from "../state/store";
import type { View } from "../state/view";
import "./walk.css";
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
  ArrowLeft: () => store.set({ step: Math.max(0, store.selection.peek().step - 1) }),
  ArrowRight: () => store.set({ step: store.selection.peek().step + 1 }),
});

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
