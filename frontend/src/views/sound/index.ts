// A sound and what was heard in it, as the frame knows it.

import type { PageView } from "../../state/view";
import "./sound.css";
import { Controls } from "./controls";
import { picture } from "./picture";
import { keys, soundOf } from "./scene";
import { Sound } from "./sound";

export { words } from "./words";

export const view: PageView = {
  id: "sound",
  title: "sound",
  heads: "some",
  wide: true,
  here: (store) => soundOf(store) !== null,
  Component: Sound,
  Controls,
  help: "help_sound",
  keys,
  picture,
};
