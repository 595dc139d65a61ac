// The neuron view, as the frame knows it.

import { OneHead } from "../../frame/controls";
import type { PageView } from "../../state/view";
import "./neurons.css";
import { Neurons } from "./neurons";
import { PairAbout } from "./pair";
import { picture } from "./sheet";

export { words } from "./words";

export const view: PageView = {
  id: "neurons",
  title: "neurons",
  heads: "one",
  led: true,
  Component: Neurons,
  Controls: OneHead,
  Report: PairAbout,
  titled: "titleScores",
  picture,
};
