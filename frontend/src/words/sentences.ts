// Python's cautions and reasons, by their codes: regard/trace/sentences.json holds them in both languages.

import sentences from "../../../src/regard/trace/sentences.json";

type Kind = keyof typeof sentences;
type Of<K extends Kind> = `${K}_${string & keyof (typeof sentences)[K]}`;
type Pair = readonly [string, string];

const under = (kind: Kind) =>
  Object.entries(sentences[kind]).map(([code, [english, chinese]]) => [
    `${kind}_${code}`,
    [english, chinese],
  ]);

export const SENTENCES = Object.fromEntries([...under("caution"), ...under("reason")]) as Record<
  Of<"caution"> | Of<"reason">,
  Pair
>;
