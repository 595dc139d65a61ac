// The saved studies of the server's folder: a list, and the report of one.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as api from "../api";
import { sentenceOf, useSession, useTell } from "../context";
import { type Trouble, troubleOf } from "../server";
import { Start } from "./start";

const BRACKETS = /\[[-−]?\d[\d.,]*, /; // an interval
const POLL = 700; // milliseconds between two looks at a study that runs

export function StudiesView() {
  const tell = useTell();
  const found = useSignal<api.Studies | null>(null);
  const trouble = useSignal<Trouble | null>(null);
  const open = useSignal<api.StudyRecord | null>(null);
  const read = async () => {
    try {
      const before = found.peek()?.running;
      found.value = await api.studies();
      trouble.value = null;
      const { running, studies } = found.value;
      // One that has just finished opens by itself.
      if (running?.state === "done" && before?.id === running.id && before.state === "running")
        open.value = studies.find(({ name }) => name === running.name) ?? null;
    } catch (error) {
      trouble.value = troubleOf(error);
    }
  };
  useEffect(() => {
    read();
  }, []);
  const running = found.value?.running?.state === "running";
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(read, POLL);
    return () => clearInterval(timer);
  }, [running]);
  if (open.value) return <Report study={open.value} back={() => (open.value = null)} />;
  const { folder, studies } = found.value ?? { folder: null, studies: [] };
  return (
    <section class="app-studies">
      {trouble.value && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble.value, tell)}
        </p>
      )}
      {found.value && (folder === null || !studies.length) && (
        <p class="app-hint" data-no-studies>
          {folder === null ? tell("noStudies") : tell("emptyStudies", { folder })}
        </p>
      )}
      {studies.length > 0 && (
        <div>
          <header>
            <h2>{tell("studiesOf")}</h2>
            <button type="button" class="plain" data-do="reload" onClick={read}>
              {tell("reload")}
            </button>
          </header>
          {studies.some(({ findings }) => findings.some((text) => BRACKETS.test(text))) && (
            <p class="app-note">{tell("intervals")}</p>
          )}
          <List studies={studies} open={(study) => (open.value = study)} />
        </div>
      )}
      {found.value && folder !== null && <Start found={found.value} changed={read} />}
    </section>
  );
}

/** What each study found, and below it how. */
function List({ studies, open }: { studies: api.StudyRecord[]; open: (study: api.StudyRecord) => void }) {
  return (
    <ul class="app-finished">
      {studies.map((one) => (
        <li key={one.name} data-study={one.name}>
          <h3>
            {one.report ? (
              <button type="button" class="app-link" data-report={one.name} onClick={() => open(one)}>
                {one.title || one.name}
              </button>
            ) : (
              one.title || one.name
            )}
          </h3>
          {one.findings.map((text) => (
            <p key={text} dir="auto">
              {text}
            </p>
          ))}
          <How study={one} />
        </li>
      ))}
    </ul>
  );
}

/** What a study was made from, and its files. */
function How({ study }: { study: api.StudyRecord }) {
  const tell = useTell();
  const { language } = useSession();
  const date = new Date(1000 * study.changed).toLocaleString(language.value, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  const inputs = study.inputs === null ? null : tell("inputsOf", { count: study.inputs });
  const facts = [study.name, study.model, study.corpus, inputs, date];
  return (
    <details class="app-note app-files">
      <summary>
        {[...facts.filter(Boolean), tell("fileCount", { count: study.files.length })].join(" · ")}
      </summary>
      {study.files.map((file) => (
        <a key={file} href={folderOf(study) + encodeURIComponent(file)} download={file}>
          {file}
        </a>
      ))}
    </details>
  );
}

/** Where the files of a study are. */
const folderOf = ({ name, report }: api.StudyRecord): string =>
  report?.replace(/[^/]*$/, "") ?? `/studies/${encodeURIComponent(name)}/`;

function Report({ study, back }: { study: api.StudyRecord; back: () => void }) {
  const tell = useTell();
  const { theme } = useSession();
  return (
    <section class="app-report">
      <header>
        <button type="button" class="plain" data-do="back" onClick={back}>
          ‹ {tell("back")}
        </button>
        <h2>{study.title || study.name}</h2>
        <a href={study.report!} target="_blank" rel="noreferrer">
          {tell("newTab")}
        </a>
      </header>
      <iframe
        src={`${study.report!}#theme=${theme.value}`}
        title={tell("report", { name: study.title || study.name })}
        sandbox="allow-scripts"
      />
    </section>
  );
}
