// The head view, as the frame knows it.

import { isVision } from "../../frame/pictured";
import type { PageView } from "../../state/view";
import "./heads.css";
import { Controls } from "./controls";
import { Heads, picture } from "./heads";

export { words } from "./words";

export const view: PageView = {
  id: "heads",
  title: "heads",
  heads: "some",
  signed: true,
  folds: true,
  Component: Heads,
  Controls,
  pictures: true,
  hint: (store) => (isVision(store) ? "hoverHintPicture" : "hoverHint"),
  picture,
};
