// The walk: the computation of one layer, step by step, with the model's own numbers.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Say, useSay, useStore } from "../frame/context";
import { mark, stage } from "../frame/drawn";
import { Notice } from "../frame/notice";
import type { Pen } from "../marks/pen";
import type { Store } from "../state/store";
import { Alignment } from "./alignment";
import { Asked } from "./asked";
import { CellView } from "./cell";
import type { WalkData } from "./data";
import { Diagram } from "./diagram";
import { coloured } from "./drawing";
import { Formula } from "./formula";
import { goTo } from "./going";
import { EquationView } from "./grid";
import { MODEL, type Part, type WhatIf } from "./layer";
import { lowered } from "./lowered";
import { partOf, type StepId, stepsOf, wordsOf } from "./order";
import { type Pair, PairChoice, pairOf, Saying, Softens, wordsIn } from "./pair";
import { drawScene, type Scene } from "./picture";
import { questionOf } from "./questions";
import { Sharp } from "./sharp";
import { equations, named, type Words } from "./steps";
import { Loss, listed, Predict, Tokens } from "./tables";
import { cellOf } from "./terms";
import { changedAt, WhatIfs } from "./what-if";

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
  const answered = useSignal(""); // the question
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
  const go = (step: number) => goTo(store, data, step);
  const question = questionOf(data, id, head, what.value, words.value, pair.at, tell);
  const veiled = question?.row !== undefined && answered.value !== question.text ? question.row : null;
  return (
    <div class="walk">
      <Diagram data={data} steps={steps} at={at} go={go} head={head} what={what.value} />
      <section class="scene" aria-live="polite">
        <Text data={data} id={id} words={words.value} pair={pair} tell={tell} />
        <header>
          <div class="named">
            <h2>{title}</h2>
            <Formula text={formula} />
          </div>
          <Go at={at} all={steps.length} go={go} tell={tell} />
        </header>
        <p class="words">{lowered(text)}</p>
        <div class="middle">
          <Main
            {...{ data, id, head, pair, maps, tell, veiled }}
            what={what.value}
            words={words.value}
            choose={(own) => store.set({ heads: [own] })}
          />
          <div class="beside">
            {question && (
              <Asked
                key={question.text}
                question={question}
                done={() => (answered.value = question.text)}
                tell={tell}
              />
            )}
            <WhatIfs data={data} what={what} id={id} tell={tell} />
            {mixUp && <MixUp {...mixUp} tell={tell} />}
          </div>
        </div>
        {(made.length > 0 || id === "loss") && (
          <Folded open={unfolded} title={tell("walk_tables")}>
            {id === "loss" && <Loss {...{ data, temperature, tell }} words={words.value} />}
            {made.map((equation, i) => (
              <EquationView key={`${id}${i}`} equation={equation} read={read} chosen={maps ? pair : null} />
            ))}
          </Folded>
        )}
        <p class={read.value ? "readout now" : "readout"} data-readout>
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

interface MainProps {
  data: WalkData;
  id: StepId;
  head: number;
  pair: Pair;
  maps: boolean; // whether the step has maps of pairs
  what: WhatIf;
  words: Words;
  veiled: number | null; // the row that is asked about
  choose: (head: number) => void;
  tell: Say;
}

/** What a step is about: the whole alignment, the pair that is followed, one cell taken apart, or a table. */
function Main({ data, id, head, pair, maps, what, words, veiled, choose, tell }: MainProps) {
  const cell = cellOf(data, id, head, what, words, pair.at);
  const { temperature } = what;
  return (
    <div class="main">
      {id === "cross" && !what.symmetric && (
        <>
          <Saying head={`${data.header.layer}.${head}`} asked={veiled === pair.at.row} {...{ pair, tell }} />
          <Alignment {...{ data, head, pair, tell, what, veiled }} />
        </>
      )}
      {id === "scale" && <Softens {...{ cell, pair, tell }} />}
      {maps && <PairChoice pair={pair} tell={tell} />}
      {id === "scale" && <Sharp {...{ data, head, what, choose, tell }} row={pair.at.row} />}
      {cell && <CellView cell={cell} name={`${id} ${head} ${pair.query} ${pair.key}`} />}
      {id === "tokens" && <Tokens data={data} words={words} at={pair.query} tell={tell} />}
      {id === "predict" && <Predict {...{ data, tell, temperature, words }} at={pair.query} />}
    </div>
  );
}

interface FoldedProps {
  open: Signal<boolean>;
  title: string;
  children: ComponentChildren;
}

/** Tables that stay as the reader left them. */
function Folded({ open, title, children }: FoldedProps) {
  return (
    <details
      class="tables"
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** A step back, a step on, and which one this is. */
function Go({ at, all, go, tell }: { at: number; all: number; go: (step: number) => void; tell: Say }) {
  return (
    <span class="go">
      <button type="button" data-go="back" disabled={at === 0} onClick={() => go(at - 1)}>
        ‹ {tell("walk_back")}
      </button>
      <span class="quiet">{tell("walk_step", { at: at + 1, all })}</span>
      <button type="button" data-go="next" disabled={at === all - 1} onClick={() => go(at + 1)}>
        {tell("walk_next")} ›
      </button>
    </span>
  );
}

/** What is often said of a step and is wrong, and what is right. */
function MixUp({ claim, note, tell }: { claim: string; note: string; tell: Say }) {
  return (
    <p class="words note">
      <b>
        {tell("walk_otherwise")}
        {tell("colon")}
      </b>
      <span class="claim">✗ {lowered(claim)}</span> <span class="correct">✓ {lowered(note)}</span>
    </p>
  );
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
          title={later ? tell("walk_later") : undefined}
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

export function picture(pen: Pen, store: Store, width: number): number | null {
  const scene = drawn.of(store);
  return scene && drawScene(pen, scene, width, (shown) => coloured(document, shown, scene.theme));
}
