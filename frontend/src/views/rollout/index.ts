// The roll-out, as the frame knows it.

import { Kinds } from "../../frame/controls";
import type { PageView } from "../../state/view";
import "./rollout.css";
import { Rollout } from "./rollout";
import { keys, picture } from "./scene";

export { words } from "./words";

export const view: PageView = {
  id: "rollout",
  title: "rollout",
  heads: "all",
  wide: true,
  weighs: true,
  Component: Rollout,
  Controls: Kinds,
  help: "help_rollout",
  keys,
  picture,
};
