// The walk: the computation of one layer, step by step, with the model's own numbers.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useStore } from "../app/context";
import { brief } from "../scales";
import type { Selection } from "../state";
import { mark } from "../views/heads";
import type { WalkData } from "./data";
import { EquationView } from "./grid";
import { differs, MODEL, type WhatIf } from "./layer";
import { softmax } from "./maths";
import { equations, partOf, stepsOf, type Words } from "./steps";
import { type Label, label, type StepId, wordsOf } from "./text";

const LIKELY = 8; // words listed at a position
const SMOOTHING = 0.1;
type Tell = (key: Label, values?: Record<string, string | number>) => string;

const SWITCHES = ["scaling", "masking", "symmetric", "single", "permuted", "positions"] as const;

export function Walk() {
  const store = useStore();
  const data = store.page.walk!;
  const steps = stepsOf(data);
  const language = store.language.value;
  const tell: Tell = (key, values) => label(language, key, values);
  const what = useSignal<WhatIf>(MODEL);
  const read = useSignal("");
  const at = Math.min(store.selection.value.step, steps.length - 1);
  const id = steps[at];
  const head = Math.min(store.lead, data.header.heads - 1);
  const words = useComputed(() => wordsIn(store.page.sides));
  useEffect(() => {
    read.value = "";
    mark("regard:drawn");
  }, [id]);
  const made = equations(data, id, head, what.value, words.value);
  const { title, formula, text } = wordsOf(language, id);
  const go = (step: number) => store.set({ step });
  return (
    <div class="walk">
      <nav class="steps" aria-label={tell("step", { at: at + 1, all: steps.length })}>
        <ol>
          {steps.map((step, i) => (
            <li key={step}>
              <button
                type="button"
                data-step={step}
                aria-current={i === at ? "step" : undefined}
                onClick={() => go(i)}
              >
                {wordsOf(language, step).title}
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
            ‹ {tell("back")}
          </button>
          <span class="quiet">{tell("step", { at: at + 1, all: steps.length })}</span>
          <button type="button" data-go="next" disabled={at === steps.length - 1} onClick={() => go(at + 1)}>
            {tell("next")} ›
          </button>
        </header>
        <p class="words">{text}</p>
        <WhatIfs what={what} id={id} tell={tell} />
        {id === "tokens" && <Tokens data={data} words={words.value} tell={tell} />}
        {id === "predict" && <Predict data={data} words={words.value} what={what.value} tell={tell} />}
        {id === "loss" && <Loss data={data} words={words.value} tell={tell} />}
        {made.map((equation, i) => (
          <EquationView key={`${id}${i}`} equation={equation} read={read} />
        ))}
        <p class="readout" data-readout>
          {read.value || tell("hint")}
        </p>
        {attending(id) && (
          <button
            type="button"
            class="plain"
            data-go="neurons"
            onClick={() => store.set(neuronsOf(data, id, head))}
          >
            {tell("neurons")} →
          </button>
        )}
      </section>
    </div>
  );
}

/** Whether a step is about attention. */
const attending = (id: StepId): boolean =>
  !["tokens", "embed", "feed", "stack", "target", "dfeed", "predict", "loss"].includes(id);

function wordsIn(sides: ReadonlyMap<string, { text: string[] }>): Words {
  const [first] = sides.values();
  return { source: sides.get("encoder")?.text ?? first.text, target: sides.get("decoder")?.text ?? [] };
}

const neuronsOf = (data: WalkData, id: StepId, head: number): Partial<Selection> => ({
  view: "neurons",
  kind: partOf(id),
  layer: data.header.layer,
  heads: [head],
});

/** Switches that change one thing; only those that matter at a step. */
function WhatIfs({ what, id, tell }: { what: Signal<WhatIf>; id: StepId; tell: Tell }) {
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
      <legend>{tell("whatIf")}</legend>
      {offered.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            data-what={name}
            checked={what.value[name]}
            onChange={(event) => set({ [name]: event.currentTarget.checked })}
          />{" "}
          {tell(name)}
        </label>
      ))}
      <label class="check">
        {tell("temperature")}{" "}
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
          {tell("changed")}{" "}
          <button type="button" class="plain" data-what="reset" onClick={() => set(MODEL)}>
            {tell("reset")}
          </button>
        </span>
      )}
      {what.value.symmetric && <p class="quiet">{tell("symmetricNote")}</p>}
      {what.value.permuted && !what.value.positions && <p class="quiet">{tell("placelessNote")}</p>}
    </fieldset>
  );
}

function Tokens({ data, words, tell }: { data: WalkData; words: Words; tell: Tell }) {
  return (
    <table class="numbers" data-table="tokens">
      <tbody>
        <tr>
          <th scope="row">{tell("token")}</th>
          {words.source.map((text, i) => (
            <td key={i}>
              <bdi>{text}</bdi>
            </td>
          ))}
        </tr>
        <tr>
          <th scope="row">{tell("id")}</th>
          {data.header.ids.map((id, i) => (
            <td key={i}>{id}</td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}

/** The decoder word by word: what has been said, and how likely each next word is. */
function Predict(props: { data: WalkData; words: Words; what: WhatIf; tell: Tell }) {
  const { data, words, what, tell } = props;
  const position = useSignal(0);
  const logits = data.get("logits");
  const at = position.value;
  const row = { rows: 1, columns: logits.columns, values: rowOf(logits.values, at, logits.columns) };
  const chances = softmax(row, what.temperature).values;
  const best = Array.from(chances.keys())
    .sort((a, b) => chances[b] - chances[a])
    .slice(0, LIKELY);
  return (
    <div class="predict">
      <fieldset class="choice">
        <legend class="unseen">{tell("soFar")}</legend>
        {words.target.map((text, i) => (
          <button
            key={i}
            type="button"
            data-position={i}
            aria-pressed={i === at}
            onClick={() => (position.value = i)}
          >
            <bdi>{text}</bdi>
          </button>
        ))}
      </fieldset>
      <p>
        {tell("soFar")}: <code>{words.target.slice(0, at + 1).join(" ")}</code> → {tell("following")}:
      </p>
      <table class="bars" data-table="predict">
        <tbody>
          {best.map((id) => (
            <tr key={id} class={id === data.header.targets[at] ? "right" : ""}>
              <th scope="row">
                <bdi>{data.header.vocabulary[id] ?? id}</bdi>
              </th>
              <td>
                <i class="share" style={{ width: `${Math.max(1, 220 * chances[id])}px` }} />
              </td>
              <td class="number" title={String(chances[id])}>
                {chances[id].toFixed(4)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rowOf = (values: Float32Array, row: number, columns: number): Float32Array =>
  values.subarray(row * columns, (row + 1) * columns);

/** Loss at each position, plain and with label smoothing. */
function Loss({ data, words, tell }: { data: WalkData; words: Words; tell: Tell }) {
  const logits = data.get("logits");
  const chances = softmax(logits);
  const rows = data.header.targets.map((id, i) => {
    const p = rowOf(chances.values, i, logits.columns);
    const plain = -Math.log(p[id]);
    const even = p.reduce((all, value) => all - Math.log(Math.max(value, 1e-45)), 0) / p.length;
    return { id, chance: p[id], plain, smoothed: (1 - SMOOTHING) * plain + SMOOTHING * even };
  });
  const mean = (pick: (row: (typeof rows)[number]) => number) =>
    rows.reduce((all, row) => all + pick(row), 0) / rows.length;
  return (
    <table class="numbers" data-table="loss">
      <thead>
        <tr>
          <th>{tell("soFar")}</th>
          <th>{tell("following")}</th>
          <th>{tell("probability")}</th>
          <th>{tell("loss")}</th>
          <th>{tell("loss")}, ε = 0.1</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            <td>… {words.target[i]}</td>
            <td>
              <bdi>{data.header.vocabulary[row.id] ?? row.id}</bdi>
            </td>
            <td class="number">{row.chance.toFixed(4)}</td>
            <td class="number">{row.plain.toFixed(4)}</td>
            <td class="number">{row.smoothed.toFixed(4)}</td>
          </tr>
        ))}
        <tr class="total">
          <th scope="row" colSpan={3}>
            {tell("mean")}
          </th>
          <td class="number" data-loss="plain">
            {mean((row) => row.plain).toFixed(4)}
          </td>
          <td class="number" data-loss="smoothed">
            {mean((row) => row.smoothed).toFixed(4)}
          </td>
        </tr>
      </tbody>
    </table>
  );
}
