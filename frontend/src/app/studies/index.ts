// The saved studies, as the frame knows them.

import type { View } from "../../state/view";
import "./studies.css";
import { StudiesView } from "./studies";

export { words } from "./words";

export const view: View = {
  id: "studies",
  title: "studies",
  heads: "one",
  Component: StudiesView,
  wide: true,
};
