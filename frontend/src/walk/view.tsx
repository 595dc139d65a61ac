// The walk: the computation of one layer, step by step, with the model's own numbers.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Say, useSay, useStore } from "../frame/context";
import { mark, stage } from "../frame/drawn";
import { Notice } from "../frame/notice";
import type { Pen } from "../marks/pen";
import { brief } from "../marks/scales";
import type { Store } from "../state/store";
import type { WalkData } from "./data";
import { coloured } from "./drawing";
import { type Chosen, EquationView } from "./grid";
import { attention, differs, MODEL, type WhatIf } from "./layer";
import { attending, partOf, type StepId, stepsOf, wordsOf } from "./order";
import { drawScene, type Scene } from "./picture";
import { equations, named, type Words } from "./steps";
import { Loss, listed, Predict, Tokens } from "./tables";

const SWITCHES = ["scaling", "masking", "symmetric", "single", "permuted", "positions"] as const;

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
  const position = useSignal(0);
  const read = useSignal("");
  const at = Math.min(store.selection.value.step, steps.length - 1);
  const id = steps[at];
  const head = Math.min(store.lead, data.header.heads - 1);
  const words = useComputed(() => wordsIn(store.page.sides));
  useEffect(() => {
    read.value = "";
    mark("regard:drawn");
  }, [id]);
  const made = named(equations(data, id, head, what.value, words.value), tell);
  const { title, formula, text, mixUp } = wordsOf(tell, id);
  const maps = made.some(({ items }) => items.some((item) => typeof item !== "string" && item.map));
  const pair = maps ? pairOf(store, data, id, head, what.value) : null;
  const table = listed(data, id, words.value, position.value, what.value.temperature, tell);
  const changed = differs(what.value) ? tell("walk_changed") : "";
  const scene = useRef<Scene | null>(null);
  scene.current = {
    ...{ title, formula, text, changed, table, equations: made },
    ...{ chosen: pair?.at ?? null, theme: store.theme.value },
  };
  drawn.use(store, () => scene.current!);
  const go = (step: number) => store.set({ step });
  return (
    <div class="walk">
      <nav class="steps" aria-label={tell("walk_step", { at: at + 1, all: steps.length })}>
        <ol>
          {steps.map((step, i) => (
            <li key={step}>
              <button
                type="button"
                data-step={step}
                aria-current={i === at ? "step" : undefined}
                onClick={() => go(i)}
              >
                {tell(`step_${step}_title`)}
              </button>
            </li>
          ))}
        </ol>
      </nav>
      <section class="scene" aria-live="polite">
        <header>
          <h2>{title}</h2>
          <code class="formula">{formula}</code>
          <span class="fill" />
          <button type="button" data-go="back" disabled={at === 0} onClick={() => go(at - 1)}>
            ‹ {tell("walk_back")}
          </button>
          <span class="quiet">{tell("walk_step", { at: at + 1, all: steps.length })}</span>
          <button type="button" data-go="next" disabled={at === steps.length - 1} onClick={() => go(at + 1)}>
            {tell("walk_next")} ›
          </button>
        </header>
        <p class="words">{text}</p>
        {mixUp && (
          <p class="words note">
            <b>
              {tell("walk_otherwise")}
              {tell("colon")}
            </b>
            <span class="claim">✗ {mixUp.claim}</span> ✓ {mixUp.note}
          </p>
        )}
        <WhatIfs what={what} id={id} tell={tell} />
        {pair && <PairChoice pair={pair} tell={tell} />}
        {id === "tokens" && <Tokens data={data} words={words.value} tell={tell} />}
        {id === "predict" && (
          <Predict {...{ data, position, tell }} words={words.value} temperature={what.value.temperature} />
        )}
        {id === "loss" && <Loss data={data} words={words.value} tell={tell} />}
        {made.map((equation, i) => (
          <EquationView key={`${id}${i}`} equation={equation} read={read} chosen={pair} />
        ))}
        <p class="readout" data-readout>
          {read.value || [tell("walk_keys"), made.length ? tell("walk_hint") : ""].join(" ")}
        </p>
      </section>
    </div>
  );
}

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = drawn.of(store);
  return scene && drawScene(pen, scene, width, (shown) => coloured(document, shown, scene.theme));
}

function wordsIn(sides: ReadonlyMap<string, { text: string[] }>): Words {
  const [first] = sides.values();
  return { source: sides.get("encoder")?.text ?? first.text, target: sides.get("decoder")?.text ?? [] };
}

interface Pair extends Chosen {
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
  const part = partOf(id);
  const made = attention(data, part, head, what);
  const { rows, columns } = made.weights;
  const { kind, pairs } = store.selection.value;
  const words = wordsIn(store.page.sides);
  const sourceRows = part === "encoder" || (part === "cross" && what.symmetric);
  const queries = sourceRows ? words.source : words.target;
  const keys = part === "decoder" ? words.target : words.source;
  const [side] = store.page.sides.values(); // where an encoder is alone, its side has another name
  const { special } = store.page.sides.get(part === "encoder" ? "encoder" : "decoder") ?? side;
  const first = Math.max(0, Array.from(special).indexOf(0));
  const model = attention(data, part, head).weights.values; // the pair stays the same whatever is changed
  const row = model.subarray(first * columns, (first + 1) * columns);
  const last = kind === part ? pairs.at(-1) : undefined;
  const [query, key] =
    last && last[0] < rows && last[1] < columns ? last : [first, row.indexOf(Math.max(...row))];
  const order = what.permuted && part === "encoder" ? data.header.order : null;
  const shownAt = (i: number) => (order ? order.indexOf(i) : i);
  const at = { row: shownAt(query), column: shownAt(key) };
  const cell = at.row * columns + at.column;
  const place = { kind: part, layer: data.header.layer, heads: [head] };
  const choosePositions = (q: number, k: number) => store.set({ ...place, queries: [q], pairs: [[q, k]] });
  return {
    ...{ query, key, queries, keys, choosePositions },
    score: made.masked.values[cell],
    weight: made.weights.values[cell],
    at,
    choose: (r, c) => choosePositions(order?.[r] ?? r, order?.[c] ?? c),
    open: () => store.set({ ...place, view: "neurons", queries: [query], pairs: [[query, key]] }),
  };
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
        {tell("walk_scoreWeight", { score: brief(pair.score), weight: brief(pair.weight) })}
      </span>
      <button type="button" class="plain" data-go="neurons" onClick={pair.open}>
        {tell("walk_neurons")} →
      </button>
    </p>
  );
}

/** Switches that change one thing; only those that matter at a step. */
function WhatIfs({ what, id, tell }: { what: Signal<WhatIf>; id: StepId; tell: Say }) {
  const part = partOf(id);
  const attends = attending(id);
  if (!attends && id !== "predict") return null;
  const offered = SWITCHES.filter((name) => {
    if (!attends) return false;
    if (name === "masking") return part === "decoder";
    if (name === "permuted" || name === "positions") return part === "encoder";
    return true;
  });
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
      {differs(what.value) && (
        <span class="changed" data-changed>
          {tell("walk_changed")}{" "}
          <button type="button" class="plain" data-what="reset" onClick={() => set(MODEL)}>
            {tell("walk_reset")}
          </button>
        </span>
      )}
      {what.value.symmetric && <p class="quiet">{tell("walk_symmetricNote")}</p>}
      {what.value.permuted && !what.value.positions && <p class="quiet">{tell("walk_placelessNote")}</p>}
    </fieldset>
  );
}
