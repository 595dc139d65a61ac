// The roll-out, as the frame knows it.

import type { View } from "../../state/view";
import "./rollout.css";
import { Controls } from "./controls";
import { Rollout } from "./rollout";
import { keys, picture } from "./scene";

export { words } from "./words";

export const view: View = {
  id: "rollout",
  title: "rollout",
  heads: "all",
  wide: true,
  Component: Rollout,
  Controls,
  help: "help_rollout",
  keys,
  picture,
};
