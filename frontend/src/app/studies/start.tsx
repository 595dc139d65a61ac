// Starting a study: which question, which text, how many examples; and how far the one that runs is.

import { signal, useSignal } from "@preact/signals";
import type { Say } from "../../frame/context";
import { inLanguage, type Key } from "../../words";
import * as api from "../api";
import { sentenceOf, useSession, useTell } from "../context";
import { type Trouble, troubleOf } from "../server";
import type { OfferedStudy, Studies, StudyRun } from "./records";

const EXAMPLES = 100; // unless the reader wants more
const SOON = 3; // seconds before which no time is foretold

/** What was filled in: it stays while a study runs and other views are looked at. */
const draft = {
  study: signal(""),
  text: signal(""),
  file: signal(""),
  limit: signal(EXAMPLES),
  control: signal(false),
};

interface Props {
  found: Studies;
  changed: () => Promise<void>;
}

/** The form, or the study that runs; above the form, why the last one did not end well. */
export function Start({ found, changed }: Props) {
  const tell = useTell();
  const { running } = found;
  if (running?.state === "running") return <Running run={running} found={found} changed={changed} />;
  return (
    <>
      {running?.state === "failed" && (
        <p class="app-trouble" role="alert" data-study-failed>
          {sentenceOf(running, tell)}
        </p>
      )}
      {running?.state === "cancelled" && (
        <p class="app-hint" role="status" data-study-cancelled>
          {tell("cancelled")}
        </p>
      )}
      <Form found={found} changed={changed} />
    </>
  );
}

/** What a study asks, in the reader's language. */
function useQuestions(offered: readonly OfferedStudy[]): (study: string) => string {
  const language = useSession().language.value;
  return (study) => {
    const found = offered.find(({ name }) => name === study);
    return found ? inLanguage(language, found.asks) : study;
  };
}

/** Asks the server to start what is filled in; and why it would not. */
function useStart(chosen: OfferedStudy, changed: () => Promise<void>) {
  const session = useSession();
  const most = session.server.state.value?.limits.corpus ?? 0;
  const trouble = useSignal<Trouble | null>(null);
  const start = async (event: Event) => {
    event.preventDefault();
    const text = draft.text.value;
    if (text.length > most) {
      const values = { count: text.length.toLocaleString("en"), most: most.toLocaleString("en") };
      trouble.value = { code: "study_text", message: "", values };
      return;
    }
    try {
      await api.startStudy({
        study: chosen.name,
        model: session.server.nameOf(session.ask.value),
        text,
        file: draft.file.value,
        limit: draft.limit.value,
        control: chosen.control ? draft.control.value : null,
      });
      trouble.value = null;
      await changed();
    } catch (error) {
      trouble.value = troubleOf(error);
    }
  };
  return { start, trouble };
}

function Form({ found, changed }: Props) {
  const tell = useTell();
  const session = useSession();
  const questionOf = useQuestions(found.offered);
  const model = session.server.nameOf(session.ask.value);
  const chosen = found.offered.find(({ name }) => name === draft.study.value) ?? found.offered[0];
  const { start, trouble } = useStart(chosen, changed);
  return (
    <form class="app-start" onSubmit={start} aria-label={tell("newStudy", { model })}>
      <h2>{tell("newStudy", { model })}</h2>
      <label>
        {tell("whichStudy")}
        <select
          data-field="study"
          value={chosen.name}
          onChange={(event) => (draft.study.value = event.currentTarget.value)}
        >
          {found.offered.map(({ name }) => (
            <option key={name} value={name}>
              {questionOf(name)}
            </option>
          ))}
        </select>
      </label>
      <Corpus reads={chosen.reads} />
      <Settings control={chosen.control} />
      <footer>
        <button type="submit" class="action" data-do="start" disabled={!draft.text.value.trim()}>
          {tell("startStudy")}
        </button>
        {trouble.value && (
          <p class="app-trouble" role="alert" data-study-refused>
            {sentenceOf(trouble.value, tell)}
          </p>
        )}
      </footer>
    </form>
  );
}

/** The text that is studied: pasted, or from a file. */
function Corpus({ reads }: { reads: OfferedStudy["reads"] }) {
  const tell = useTell();
  const { corpus = 0 } = useSession().server.state.value?.limits ?? {};
  const { text, file } = draft;
  const read = async (input: HTMLInputElement) => {
    const [given] = input.files ?? [];
    if (!given) return;
    // One that is far too large is not read at all; the server says how much it takes.
    text.value = await given.slice(0, 4 * corpus + 4).text();
    file.value = given.name;
  };
  return (
    <>
      <p class="app-note">
        {tell(`reads_${reads}` as Key)} {tell("atMost", { count: corpus.toLocaleString("en") })}
      </p>
      <textarea
        class="app-field"
        data-field="corpus"
        aria-label={tell("corpus")}
        placeholder={tell("corpusHint")}
        dir="auto"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          file.value = "";
        }}
      />
      <div class="app-file">
        <label class="action">
          {tell("chooseFile")}
          <input
            type="file"
            class="unseen"
            data-field="file"
            onChange={(event) => read(event.currentTarget)}
          />
        </label>
        {file.value ? (
          <span class="app-note" data-chosen>
            {tell("chosenFile", { file: file.value, count: text.value.length.toLocaleString("en") })}
          </span>
        ) : (
          <span class="app-note">{tell("noFile")}</span>
        )}
      </div>
    </>
  );
}

/** How many examples, and whether there is a control. */
function Settings({ control }: { control: boolean }) {
  const tell = useTell();
  const { examples = EXAMPLES } = useSession().server.state.value?.limits ?? {};
  return (
    <>
      <label>
        {tell("examplesOf", { most: examples.toLocaleString("en") })}
        <input
          type="number"
          data-field="limit"
          min={1}
          step={1}
          value={draft.limit.value}
          onInput={(event) => (draft.limit.value = Math.trunc(event.currentTarget.valueAsNumber) || 0)}
        />
      </label>
      {control && (
        <label>
          <input
            type="checkbox"
            data-field="control"
            checked={draft.control.value}
            onChange={(event) => (draft.control.value = event.currentTarget.checked)}
          />
          {tell("controlled")}
        </label>
      )}
    </>
  );
}

/** How far a study is, what is left, and the way out. */
function Running({ run, found, changed }: Props & { run: StudyRun }) {
  const tell = useTell();
  const questionOf = useQuestions(found.offered);
  const { study, model, corpus, done, total } = run;
  const cancel = async () => {
    await api.cancelStudy().catch(() => {});
    await changed();
  };
  return (
    <section class="app-start" data-running={run.id}>
      <h2>{tell("studyRuns", { question: questionOf(study), model, corpus })}</h2>
      <progress
        max={total ?? undefined}
        value={total === null ? undefined : done}
        aria-label={tell("study")}
      />
      <footer>
        <span role="status">{progressOf(run, tell)}</span>
        <button type="button" data-do="cancel" onClick={cancel}>
          {tell("cancelStudy")}
        </button>
      </footer>
    </section>
  );
}

function progressOf({ done, total, step, seconds }: StudyRun, tell: Say): string {
  const elapsed = Math.round(seconds);
  if (total === null || !done)
    return [step, tell("studyLoads", { seconds: elapsed })].filter(Boolean).join(" · ");
  const counted = tell("studyDone", { done, total, seconds: elapsed });
  if (done >= total) return [step, counted, step ? "" : tell("studyWrites")].filter(Boolean).join(" · ");
  const left = Math.ceil((seconds / done) * (total - done));
  return [step, counted, seconds > SOON ? tell("studyLeft", { left }) : ""].filter(Boolean).join(" · ");
}
