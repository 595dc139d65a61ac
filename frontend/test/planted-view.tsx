// A view of one module, with words and two sentences beside them, for the test that looks for those.

import type { View } from "../src/state/view";

export const words = {
  planted: ["Planted view", "种下的视图"],
  plantedHint: ["Point at a row.", "指向一行。"],
} as const;

const Planted = () => <p title="Beside the words">{words.planted[0]}</p>;

const more = { words: ["Other", "不是表中的词"] };

export const view: View = {
  id: "planted",
  title: "atlas",
  heads: "one",
  Component: Planted,
  hint: () => (more.words.length ? "atlasHint" : "atlas"),
};
