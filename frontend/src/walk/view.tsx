// The walk: the computation of one layer, step by step, with the model's own numbers.
// Long on purpose: the parts of one page, each small, in the order in which they stand there.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Say, useSay, useStore } from "../frame/context";
import { mark, stage } from "../frame/drawn";
import { Notice } from "../frame/notice";
import type { Pen } from "../marks/pen";
import { brief, figure } from "../marks/scales";
import type { Store } from "../state/store";
import { CellView } from "./cell";
import type { WalkData } from "./data";
import { Diagram } from "./diagram";
import { coloured } from "./drawing";
import { Formula } from "./formula";
import { type Chosen, EquationView } from "./grid";
import { attention, differs, MODEL, type Part, type WhatIf } from "./layer";
import { attending, partOf, type StepId, stepsOf, wordsOf } from "./order";
import { drawScene, type Scene } from "./picture";
import { rowOf } from "./pieces";
import { type Question, questionOf } from "./questions";
import { equations, named, type Words } from "./steps";
import { Loss, listed, Predict, Tokens } from "./tables";
import { cellOf } from "./terms";

const SWITCHES = ["scaling", "masking", "rotation", "symmetric", "single", "permuted", "positions"] as const;

const drawn = stage<Scene>();

/** A page without its walk yet is waiting for it. */
export function Walk() {
  const { walk } = useStore().page;
  const tell = useSay();
  return walk ? <Steps data={walk} /> : <Notice text={tell("working")} />;
}

function Steps({ data }: { data: WalkData }) {
  const store = useStore();
  const steps = stepsOf(data);
  const tell = useSay();
  const what = useSignal<WhatIf>(MODEL);
  const unfolded = useSignal(false); // the tables: as the reader left them
  const read = useSignal("");
  const at = Math.min(store.selection.value.step, steps.length - 1);
  const id = steps[at];
  const head = Math.min(store.lead, data.header.heads - 1);
  const words = useComputed(() => wordsIn(store.page.sides, data));
  useEffect(() => {
    read.value = "";
    mark("regard:drawn");
  }, [id]);
  const pair = pairOf(store, data, id, head, what.value);
  const made = named(equations(data, id, head, what.value, words.value, pair.query), tell);
  const { title, formula, text, mixUp } = wordsOf(tell, data, id);
  const maps =
    id === "rotate" || made.some(({ items }) => items.some((item) => typeof item !== "string" && item.map));
  const { temperature } = what.value;
  const table = listed(data, id, words.value, pair.query, temperature, tell);
  const changed = changedAt(id, what.value, tell);
  const scene = useRef<Scene | null>(null);
  scene.current = {
    ...{ title, formula, text, changed, table, equations: made },
    ...{ chosen: maps ? pair.at : null, theme: store.theme.value },
  };
  drawn.use(store, () => scene.current!);
  const go = (step: number) => store.set({ step });
  const cell = cellOf(data, id, head, what.value, words.value, pair.at);
  const question = questionOf(data, id, head, what.value, words.value, pair.at, tell);
  const predicts = id === "predict";
  return (
    <div class="walk">
      <Diagram data={data} steps={steps} at={at} go={go} />
      <section class="scene" aria-live="polite">
        <Text data={data} id={id} words={words.value} pair={pair} tell={tell} />
        <header>
          <h2>{title}</h2>
          <Formula text={formula} />
          <span class="fill" />
          <span class="go">
            <button type="button" data-go="back" disabled={at === 0} onClick={() => go(at - 1)}>
              ‹ {tell("walk_back")}
            </button>
            <span class="quiet">{tell("walk_step", { at: at + 1, all: steps.length })}</span>
            <button
              type="button"
              data-go="next"
              disabled={at === steps.length - 1}
              onClick={() => go(at + 1)}
            >
              {tell("walk_next")} ›
            </button>
          </span>
        </header>
        <p class="words">{text}</p>
        <div class="middle">
          <div class="main">
            {id === "cross" && !what.value.symmetric && <Saying pair={pair} tell={tell} />}
            {maps && <PairChoice pair={pair} tell={tell} />}
            {cell && <CellView cell={cell} name={`${id} ${head} ${pair.query} ${pair.key}`} />}
            {id === "tokens" && <Tokens data={data} words={words.value} at={pair.query} tell={tell} />}
            {predicts && <Predict {...{ data, tell, temperature }} words={words.value} at={pair.query} />}
          </div>
          <div class="beside">
            {question && <Asked key={question.text} question={question} tell={tell} />}
            <WhatIfs data={data} what={what} id={id} tell={tell} />
            {mixUp && (
              <p class="words note">
                <b>
                  {tell("walk_otherwise")}
                  {tell("colon")}
                </b>
                <span class="claim">✗ {mixUp.claim}</span> <span class="correct">✓ {mixUp.note}</span>
              </p>
            )}
          </div>
        </div>
        {(made.length > 0 || id === "loss") && (
          <details
            class="tables"
            open={unfolded.value}
            onToggle={(event) => {
              unfolded.value = event.currentTarget.open;
            }}
          >
            <summary>{tell("walk_tables")}</summary>
            {id === "loss" && <Loss {...{ data, temperature, tell }} words={words.value} />}
            {made.map((equation, i) => (
              <EquationView key={`${id}${i}`} equation={equation} read={read} chosen={maps ? pair : null} />
            ))}
          </details>
        )}
        <p class="readout" data-readout>
          {read.value || (
            <>
              <span class="keys">{tell("walk_keys")} </span>
              {made.length > 0 && tell("walk_hint")}
            </>
          )}
        </p>
      </section>
    </div>
  );
}

/** Steps whose numbers need the layers after the one that is opened. */
const BEYOND: readonly StepId[] = ["stack", "target", "predict", "loss"];

/** What is said of numbers while something is changed: that they are not the model's, or that it does not reach them. */
function changedAt(id: StepId, what: WhatIf, tell: Say): string {
  if (!differs(what)) return "";
  const heated = (id === "predict" || id === "loss") && what.temperature !== 1;
  if (id === "tokens") return "";
  return tell(BEYOND.includes(id) && !heated ? "walk_beyond" : "walk_changed");
}

/** The text on top, and what has been said of the target; a word chooses whose row is looked at. */
function Text(props: { data: WalkData; id: StepId; words: Words; pair: Pair; tell: Say }) {
  const { data, id, words, pair, tell } = props;
  const part = partOf(data, id);
  const looks = ["softmax", "mix", "attend", "cross"].includes(id) && pair.looks;
  const chips = (texts: readonly string[], name: string, side: Part, role: "query" | "key" | null) =>
    texts.map((text, i) => {
      const later = side === "decoder" && i > pair.query;
      const chosen = role === "key" ? i === pair.key : role === "query" && i === pair.query;
      const looked = looks && (side === "decoder") === (part === "decoder") ? looks[i] : 0;
      return (
        <button
          key={i}
          type="button"
          class={later ? "word later" : "word"}
          data-word={`${name}${i}`}
          aria-pressed={chosen}
          disabled={!role}
          style={
            looked
              ? { background: `color-mix(in srgb, var(--ink-a) ${Math.round(45 * looked)}%, transparent)` }
              : {}
          }
          onClick={() =>
            role === "key"
              ? pair.choosePositions(pair.query, i)
              : pair.choosePositions(i, side === "decoder" ? Math.min(pair.key, i) : pair.key)
          }
        >
          <bdi>{text.trim() || "␣"}</bdi>
        </button>
      );
    });
  const sourceRole = part === data.reader ? "query" : part === "cross" ? "key" : null;
  return (
    <div class="texts">
      <p data-text="source">
        <span class="quiet">{tell("walk_source")}</span>
        {chips(words.source, "s", data.reader, sourceRole)}
      </p>
      {data.translates && (
        <p data-text="target">
          <span class="quiet">{tell("walk_said")}</span>
          {part === "encoder" ? (
            <span class="quiet">{tell("walk_nothing")}</span>
          ) : (
            chips(words.target, "t", "decoder", "query")
          )}
        </p>
      )}
    </div>
  );
}

/** A question, its answers to click, and what is right, with the number. */
function Asked({ question, tell }: { question: Question; tell: Say }) {
  const chosen = useSignal<number | null>(null);
  const answered = chosen.value !== null;
  const right = chosen.value === question.right;
  return (
    <div class="asked" data-question>
      <h3>{tell("walk_question")}</h3>
      <p>{question.text}</p>
      <p class="options">
        {question.options.map((option, i) => (
          <button
            key={i}
            type="button"
            data-option={i}
            data-right={answered && i === question.right ? "" : undefined}
            data-wrong={i === chosen.value && !right ? "" : undefined}
            onClick={() => {
              chosen.value = i;
            }}
          >
            <bdi>{option}</bdi>
          </button>
        ))}
      </p>
      <p role="status" class="said" data-said={answered ? (right ? "right" : "wrong") : undefined}>
        {answered && (
          <>
            <b>
              {right ? tell("walk_right") : tell("walk_wrong", { right: question.options[question.right] })}
            </b>{" "}
            {question.because}
          </>
        )}
      </p>
    </div>
  );
}

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = drawn.of(store);
  return scene && drawScene(pen, scene, width, (shown) => coloured(document, shown, scene.theme));
}

function wordsIn(sides: ReadonlyMap<string, { text: string[] }>, data: WalkData): Words {
  const [first] = sides.values();
  if (data.reader === "decoder") return { source: first.text, target: first.text };
  return { source: sides.get("encoder")?.text ?? first.text, target: sides.get("decoder")?.text ?? [] };
}

interface Pair extends Chosen {
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
function pairOf(store: Store, data: WalkData, id: StepId, head: number, what: WhatIf): Pair {
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

/** What a row of cross attention is about: the word that was just said, and the one that comes next. */
function Saying({ pair: { query, queries }, tell }: { pair: Pair; tell: Say }) {
  const [said, next] = [queries[query], queries[query + 1]].map((text) => text?.trim() ?? "");
  const key = query === 0 ? "walk_begins" : next ? "walk_saying" : "walk_ends";
  return (
    <p class="saying" data-saying>
      {tell(key, { said, next: next || "…" })}
    </p>
  );
}

function PairChoice({ pair, tell }: { pair: Pair; tell: Say }) {
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

/** Switches that change one thing; only those that matter at a step. */
function WhatIfs(props: { data: WalkData; what: Signal<WhatIf>; id: StepId; tell: Say }) {
  const { data, what, id, tell } = props;
  const part = partOf(data, id);
  const changed = changedAt(id, what.value, tell);
  const inside = attending(id) || id === "feed" || id === "dfeed";
  const offered = SWITCHES.filter((name) => {
    if (name === "permuted" || name === "positions") return part === "encoder" && (inside || id === "embed");
    if (name === "masking") return inside && part !== "encoder";
    if (name === "rotation") return inside && data.rotary;
    if (name === "single") return inside && !data.rotary; // turns and shared keys belong to heads of their width
    return inside;
  });
  const heated = inside || id === "predict" || id === "loss";
  if (!offered.length && !heated && !changed) return null;
  const set = (change: Partial<WhatIf>) => {
    what.value = { ...what.value, ...change };
  };
  return (
    <fieldset class="what-if">
      <legend>{tell("walk_whatIf")}</legend>
      {offered.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            data-what={name}
            checked={what.value[name]}
            onChange={(event) => set({ [name]: event.currentTarget.checked })}
          />{" "}
          {tell(`walk_${name}`)}
        </label>
      ))}
      {heated && (
        <label class="check">
          {tell("walk_temperature")}{" "}
          <input
            type="range"
            data-what="temperature"
            min="-2"
            max="2"
            step="0.25"
            value={Math.log2(what.value.temperature)}
            onInput={(event) => set({ temperature: 2 ** Number(event.currentTarget.value) })}
          />{" "}
          {brief(what.value.temperature)}
        </label>
      )}
      {changed && (
        <span class="changed" data-changed>
          {changed}{" "}
          <button type="button" class="plain" data-what="reset" onClick={() => set(MODEL)}>
            {tell("walk_reset")}
          </button>
        </span>
      )}
      {inside && what.value.symmetric && <p class="quiet">{tell("walk_symmetricNote")}</p>}
      {offered.includes("permuted") && what.value.permuted && !what.value.positions && (
        <p class="quiet">{tell("walk_placelessNote")}</p>
      )}
    </fieldset>
  );
}
