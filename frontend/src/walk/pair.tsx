// The pair of tokens that the walk follows: which it is, and how it is chosen.

import type { Say } from "../frame/context";
import { brief, figure, hundredths } from "../marks/scales";
import type { Store } from "../state/store";
import type { WalkData } from "./data";
import type { Chosen } from "./grid";
import { attention, type WhatIf } from "./layer";
import { partOf, type StepId } from "./order";
import { type CellOf, rowOf } from "./pieces";
import type { Words } from "./steps";

export interface Pair extends Chosen {
  at: { row: number; column: number };
  looks: number[]; // the weights of the row, by positions in the text
  query: number; // positions in the text, whatever the order on the page
  key: number;
  queries: readonly string[];
  keys: readonly string[];
  score: number;
  weight: number;
  choosePositions: (query: number, key: number) => void;
  open: () => void; // the neuron view of this pair
}

/** The pair of tokens that the maps of a step frame: the one chosen last, or what the first word looks at most. */
export function pairOf(store: Store, data: WalkData, id: StepId, head: number, what: WhatIf): Pair {
  const part = partOf(data, id);
  const made = attention(data, part, head, what);
  const { rows, columns } = made.weights;
  const { kind, pairs } = store.selection.value;
  const words = wordsIn(store.page.sides, data);
  const sourceRows = part === "encoder" || (part === "cross" && what.symmetric);
  const queries = sourceRows ? words.source : words.target;
  const keys = part === "decoder" ? words.target : words.source;
  const [side] = store.page.sides.values(); // where an encoder is alone, its side has another name
  const { special } = store.page.sides.get(part === "encoder" ? "encoder" : "decoder") ?? side;
  // The first word of a decoder that is alone sees only itself: its last one sees all.
  const first = data.reader === "decoder" ? rows - 1 : Math.max(0, Array.from(special).indexOf(0));
  const model = attention(data, part, head).weights.values; // the pair stays the same whatever is changed
  const row = model.subarray(first * columns, (first + 1) * columns);
  const last = kind === part ? pairs.at(-1) : undefined;
  const [query, key] =
    last && last[0] < rows && last[1] < columns ? last : [first, row.indexOf(Math.max(...row))];
  const shuffled = what.permuted && part === "encoder" && id !== "tokens" && id !== "stack";
  const order = shuffled ? data.header.order : null;
  const shownAt = (i: number) => (order ? order.indexOf(i) : i);
  const at = { row: shownAt(query), column: shownAt(key) };
  const cell = at.row * columns + at.column;
  const place = { kind: part, layer: data.header.layer, heads: [head] };
  const choosePositions = (q: number, k: number) => store.set({ ...place, queries: [q], pairs: [[q, k]] });
  const looks = rowOf(made.weights, at.row);
  return {
    ...{ query, key, queries, keys, choosePositions },
    looks: order ? looks.map((_, i) => looks[shownAt(i)]) : looks,
    score: made.masked.values[cell],
    weight: made.weights.values[cell],
    at,
    choose: (r, c) => choosePositions(order?.[r] ?? r, order?.[c] ?? c),
    open: () => store.set({ ...place, view: "neurons", queries: [query], pairs: [[query, key]] }),
  };
}

/** The words of both sides. */
export function wordsIn(sides: ReadonlyMap<string, { text: string[] }>, data: WalkData): Words {
  const [first] = sides.values();
  if (data.reader === "decoder") return { source: first.text, target: first.text };
  return { source: sides.get("encoder")?.text ?? first.text, target: sides.get("decoder")?.text ?? [] };
}

interface SayingProps {
  pair: Pair;
  head: string; // layer and head
  asked: boolean; // whether a reader is asked just this
  tell: Say;
}

/** What a row of cross attention shows: where the head looks before the next word is written. */
export function Saying({ pair: { query, queries, keys, looks }, head, asked, tell }: SayingProps) {
  const [said, next] = [queries[query], queries[query + 1]].map((text) => text?.trim() ?? "");
  const question = query === 0 ? "walk_begins" : next ? "walk_saying" : "walk_ends";
  const best = looks.indexOf(Math.max(...looks));
  const found = { head, next, key: keys[best].trim(), share: hundredths(looks[best]) };
  return (
    <p class="saying" data-saying>
      {asked
        ? tell(question, { said, next: next || "…" })
        : tell(next ? "walk_answer" : "walk_answerEnd", found)}
    </p>
  );
}

/** What the division by √d does to the weight of the pair that is followed. */
export function Softens({ cell, pair, tell }: { cell: CellOf | null; pair: Pair; tell: Say }) {
  if (cell?.kind !== "bars" || cell.ends.length < 2) return null;
  const [without, divided] = cell.ends.map(({ values }) => hundredths(values[pair.at.column]));
  return (
    <p class="saying" data-saying>
      {tell("walk_softens", { key: pair.keys[pair.key].trim(), without, divided })}
    </p>
  );
}

/** Both tokens to choose from, and their numbers. */
export function PairChoice({ pair, tell }: { pair: Pair; tell: Say }) {
  const { query, key, queries, keys } = pair;
  const options = (texts: readonly string[]) =>
    texts.map((text, i) => (
      <option key={i} value={i}>
        {`${i} ${text.trim()}`}
      </option>
    ));
  return (
    <p class="pair-choice" title={tell("walk_pairHint")}>
      <span class="quiet">{tell("walk_pair")}</span>
      <select
        aria-label={tell("walk_query")}
        data-pair="query"
        value={query}
        onChange={(event) => pair.choosePositions(Number(event.currentTarget.value), key)}
      >
        {options(queries)}
      </select>
      →
      <select
        aria-label={tell("walk_key")}
        data-pair="key"
        value={key}
        onChange={(event) => pair.choosePositions(query, Number(event.currentTarget.value))}
      >
        {options(keys)}
      </select>
      <span data-pair="numbers">
        {tell("walk_scoreWeight", { score: figure(pair.score), weight: brief(pair.weight) })}
      </span>
      <button type="button" class="plain" data-go="neurons" onClick={pair.open}>
        {tell("walk_neurons")} →
      </button>
    </p>
  );
}
