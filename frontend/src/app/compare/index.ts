// The comparison, as the frame knows it.

import type { View } from "../../state/view";
import "./compare.css";
import { Compare } from "./compare";
import { picture } from "./panels";

export { words } from "./words";

export const view: View = {
  id: "compare",
  title: "compare",
  heads: "one",
  Component: Compare,
  wide: true,
  picture,
};
