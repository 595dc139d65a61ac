// The saved studies of the server's folder: a list, and the report of one.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as api from "../api";
import { sentenceOf, useSession, useTell } from "../context";
import { type Trouble, troubleOf } from "../server";
import { Bars } from "./chart";
import { folderOf, type Reading } from "./portraits";
import type { Studies, StudyRecord } from "./records";
import { StudyRule } from "./rule";
import { Start } from "./start";

const BRACKETS = /\([-−+]?\d[\d.,]*(–| to )[-−+]?\d/; // an interval
const PAGE = /^(?:report|heads\/[\w.-]+)\.html$/; // that a study may have
const ALONE = 1; // findings of a card whose picture says the others
const POLL = 700; // milliseconds between two looks at a study that runs

export function StudiesView() {
  const tell = useTell();
  const found = useSignal<Studies | null>(null);
  const trouble = useSignal<Trouble | null>(null);
  const { portraits } = useSession();
  const open = portraits.reading;
  const read = async () => {
    try {
      const before = found.peek()?.running;
      found.value = await api.studies();
      portraits.know(found.value);
      trouble.value = null;
      const { running, studies } = found.value;
      // One that has just finished opens by itself.
      const done = running?.state === "done" && before?.id === running.id && before.state === "running";
      const study = done && studies.find(({ name }) => name === running.name);
      if (study) open.value = { study };
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
  if (open.value) return <Report {...open.value} back={() => (open.value = null)} />;
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
        <Saved studies={studies} read={read} open={(study) => (open.value = { study })} />
      )}
      {found.value && folder !== null && <Start found={found.value} changed={read} />}
    </section>
  );
}

/** The findings that a card says; its picture says the others. */
const saidOf = ({ findings, chart }: StudyRecord): string[] => findings.slice(0, chart ? ALONE : undefined);

interface SavedProps {
  studies: StudyRecord[];
  read: () => void;
  open: (study: StudyRecord) => void;
}

/** The studies that are there. */
function Saved({ studies, read, open }: SavedProps) {
  const tell = useTell();
  return (
    <div>
      <header>
        <h2>{tell("studiesOf")}</h2>
        <button type="button" class="plain" data-do="reload" onClick={read}>
          {tell("reload")}
        </button>
      </header>
      {studies.some((one) => saidOf(one).some((text) => BRACKETS.test(text))) && (
        <p class="app-note">{tell("intervals")}</p>
      )}
      <List studies={studies} open={open} />
    </div>
  );
}

/** Each study as a card: what it asked, what it found, large, with its picture; below it how. */
function List({ studies, open }: { studies: StudyRecord[]; open: (study: StudyRecord) => void }) {
  return (
    <ul class="app-finished">
      {studies.map((one) => (
        <li key={one.name} data-study={one.name}>
          <div>
            <h3>
              {one.report ? (
                <button type="button" class="app-link" data-report={one.name} onClick={() => open(one)}>
                  {one.title || one.name}
                </button>
              ) : (
                one.title || one.name
              )}
            </h3>
            {saidOf(one).map((text, place) => (
              <p key={text} dir="auto" class={place ? "" : "headline"}>
                {text}
              </p>
            ))}
            {one.study === "heads" && <StudyRule study={one} />}
            <How study={one} />
          </div>
          {one.chart && <Bars chart={one.chart} />}
        </li>
      ))}
    </ul>
  );
}

/** What a study was made from, and its files. */
function How({ study }: { study: StudyRecord }) {
  const tell = useTell();
  const { language } = useSession();
  const date = new Date(1000 * study.changed).toLocaleString(language.value, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  const inputs = study.inputs === null ? null : tell("inputsOf", { count: study.inputs });
  const facts = [study.corpus, inputs, tell("fileCount", { count: study.files.length })];
  return (
    <details class="app-note app-files">
      <summary>{facts.filter(Boolean).join(" · ")}</summary>
      <p>{[study.name, study.model, date].filter(Boolean).join(" · ")}</p>
      {study.files.map((file) => (
        <a key={file} href={folderOf(study) + encodeURIComponent(file)} download={file}>
          {file}
        </a>
      ))}
    </details>
  );
}

function Report({ study, page, address: elsewhere, back }: Reading & { back: () => void }) {
  const tell = useTell();
  const session = useSession();
  const { theme, language } = session;
  const frame = useRef<HTMLIFrameElement>(null);
  const address = elsewhere ?? (page ? folderOf(study) + page : study.report!);
  useEffect(() => {
    // A page of a head asks for that head in the app's own views, or for another page of the study.
    const heard = (event: MessageEvent) => {
      if (event.source !== frame.current?.contentWindow || typeof event.data !== "string") return;
      const [what, ...rest] = event.data.split(" ");
      if (what === "open") session.openHead(study.model, rest.join(" "));
      if (what === "page" && PAGE.test(rest[0])) session.portraits.reading.value = { study, page: rest[0] };
    };
    window.addEventListener("message", heard);
    return () => window.removeEventListener("message", heard);
  }, [study]);
  return (
    <section class="app-report">
      <header>
        <button type="button" class="plain" data-do="back" onClick={back}>
          ‹ {tell("back")}
        </button>
        <span class="fill" />
        <a href={address} target="_blank" rel="noreferrer">
          {tell("newTab")}
        </a>
      </header>
      <iframe
        ref={frame}
        src={`${address}#theme=${theme.value}&language=${language.value}`}
        title={tell("report", { name: study.title || study.name })}
        sandbox="allow-scripts"
      />
    </section>
  );
}
