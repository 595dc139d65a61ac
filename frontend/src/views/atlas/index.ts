// The atlas, as the frame knows it.

import type { PageView } from "../../state/view";
import "./atlas.css";
import "./narrow.css";
import "./seen.css";
import { Atlas, picture } from "./atlas";
import { Controls } from "./controls";
import { InPanel } from "./large";

export { words } from "./words";

export const view: PageView = {
  id: "atlas",
  title: "atlas",
  heads: "all",
  signed: true,
  Component: Atlas,
  Controls,
  Shown: InPanel,
  hint: "atlasHint",
  titled: "titleAll",
  picture,
};
