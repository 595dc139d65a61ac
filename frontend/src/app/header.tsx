// The top of the app: which model, which sentences, and what is going on with them.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Say } from "../frame/context";
import { together } from "../words";
import { Spoken } from "./chat/spoken";
import { sentenceOf, useSession, useTell } from "./context";
import { Examples } from "./examples";
import { Media } from "./media";
import { Models } from "./models";
import { Off } from "./off";
import { Answer } from "./saying";
import type { Session } from "./session";
import "./phone.css";

export function Header() {
  const session = useSession();
  return (
    <header class="app-head">
      <div class="app-row">
        <strong class="app-name">regard</strong>
        <Models />
        <Media />
        <Working />
        <Inputs />
        <Examples />
      </div>
      <Answer />
      <Stale />
      <Troubles />
      <Look />
      {session.ask.value.off.length > 0 && <Off />}
    </header>
  );
}

/** A dot while the model is at work, and a word while it is being loaded: what is typed beside it must not move. */
function Working() {
  const session = useSession();
  const tell = useTell();
  const { seconds = 0, bytes, name } = session.server.loading.value ?? { name: "" };
  const values = { name, seconds: Math.round(seconds), megabytes: Math.round((bytes ?? 0) / 1e6) };
  const loading = session.server.loading.value !== null;
  const text = loading
    ? tell(bytes ? "loadingBytes" : "loading", values)
    : session.working.value
      ? tell("working")
      : "";
  return (
    <span
      class="app-working"
      role="status"
      data-working={text ? (loading ? "load" : "run") : undefined}
      title={text}
    >
      <i aria-hidden="true" />
      <span class={loading ? "" : "unseen"}>{text}</span>
    </span>
  );
}

/** Of which text the picture is, where it is not the one above. */
function Stale() {
  const session = useSession();
  const tell = useTell();
  const saved = session.saved.value;
  const text = saved ?? session.stale.value;
  if (text === null || session.store.value?.selection.value.view === "chat") return null;
  const key = saved === null ? "stalePicture" : session.trouble.value ? "savedWaiting" : "savedExample";
  return (
    <p class="app-stale" role="status" data-stale={saved === null ? "old" : "saved"}>
      {tell(key, { text })}
    </p>
  );
}

const COUNTS = [0, 10, 20, 40];

function Inputs() {
  const session = useSession();
  const tell = useTell();
  const { text, pair, target, generate } = session.ask.value;
  const about = session.model.value?.about;
  const spoken = session.shown.value?.page.facts.said;
  if (session.ask.value.chat) return <Spoken />;
  if (session.store.value?.selection.value.view === "chat") return <span class="fill" />; // its box is below
  const said = [text, pair, target].filter((one) => one.trim()).join(" · ");
  return (
    <Folding said={said}>
      {about?.text !== false && (
        <Field
          name="text"
          label={tell("textLabel")}
          hint={tell("textHint")}
          value={text}
          set={(value) => session.change({ text: value, truncate: false })}
        />
      )}
      {about?.target ? (
        <Field
          name="target"
          label={tell("targetLabel")}
          hint={
            spoken && !session.says.found.value?.answer
              ? tell("saidHint", { text: String(spoken) })
              : tell("targetHint")
          }
          value={target}
          set={(value) => session.change({ target: value })}
        />
      ) : (
        (about?.family === "decoder" ? pair : about?.pair !== false) && (
          <Field
            name="pair"
            label={tell("pairLabel")}
            hint={tell("pairHint")}
            value={pair}
            set={(value) => session.change({ pair: value })}
          />
        )
      )}
      {about?.generate && !about.target && (
        <label class="app-generate">
          {tell("generate")}{" "}
          <select
            value={generate}
            data-control="generate"
            onChange={(event) => session.change({ generate: Number(event.currentTarget.value) })}
          >
            {[...new Set([...COUNTS, generate])].map((count) => (
              <option key={count} value={count}>
                {count ? tell("generateTokens", { count }) : tell("generateNone")}
              </option>
            ))}
          </select>
        </label>
      )}
    </Folding>
  );
}

/** The fields; on a phone they are one line of text until somebody touches it. */
function Folding({ said, children }: { said: string; children: ComponentChildren }) {
  const tell = useTell();
  const editing = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const edit = () => {
    editing.value = true;
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(".app-field")?.focus());
  };
  // The line itself loses the focus when the fields take its place.
  const leave = ({ target, relatedTarget }: FocusEvent) => {
    const gone = !box.current?.contains(relatedTarget as Node | null);
    if (gone && (target as Element).closest("[data-do=edit]") === null) editing.value = false;
  };
  const folded = said && !editing.value;
  return (
    <div class={folded ? "app-inputs folded" : "app-inputs"} ref={box} onFocusOut={leave}>
      <button type="button" class="app-said" data-do="edit" title={tell("editText")} onClick={edit}>
        <span dir="auto">{said}</span>
        <span aria-hidden="true">✎</span>
      </button>
      {children}
    </div>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint: string;
  value: string;
  set: (value: string) => void;
}

/** One line that grows with its text, up to a few. */
export function Field({ name, label, hint, value, set }: FieldProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  return (
    <textarea
      ref={box}
      rows={1}
      class="app-field"
      data-field={name}
      aria-label={label}
      title={label}
      placeholder={hint}
      value={value}
      spellcheck={false}
      dir="auto"
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}

const CUT = ["long", "long_here", "long_memory"]; // troubles that a shorter text ends

/** What went wrong, where it happened, with the way out. */
function Troubles() {
  const session = useSession();
  const tell = useTell();
  const trouble = session.trouble.value;
  const about = session.model.value?.about;
  const fileless = !session.medium.value && about?.text === false;
  if (!trouble && session.server.state.value && (fileless || session.isEmpty))
    return (
      <p class="app-hint" role="status">
        {tell(!about?.media.length ? "nothing" : about.media[0] === "audio" ? "nothingHeard" : "nothingSeen")}
      </p>
    );
  const hints = trouble ? [] : walkHints(session, tell);
  if (hints.length)
    return (
      <p class="app-hint" role="status">
        {together(...hints)}
      </p>
    );
  if (!trouble) return null;
  const cut = CUT.includes(trouble.code) && about?.limit != null && !session.ask.value.truncate;
  return (
    <p class="app-trouble" role="alert" data-trouble={trouble.code}>
      <span>{sentenceOf(trouble, tell)}</span>
      {cut && (
        <button type="button" data-do="truncate" onClick={() => session.change({ truncate: true })}>
          {tell("truncate")}
        </button>
      )}
      <button type="button" data-do="again" onClick={() => session.again()}>
        {tell("again")}
      </button>
      <button
        type="button"
        class="plain"
        aria-label={tell("dismiss")}
        onClick={() => (session.trouble.value = null)}
      >
        ✕
      </button>
    </p>
  );
}

/** What to know about the walk that is shown. */
function walkHints(session: Session, tell: Say): string[] {
  const page = session.store.value?.page;
  if (!page?.walk || session.store.value!.selection.value.view !== "walk") return [];
  const unknown = (page.facts.unknown as string[] | undefined) ?? [];
  return [
    ...(session.ask.value.pair.trim() && session.model.value?.about?.pair ? [tell("walkFirst")] : []),
    ...(unknown.length ? [tell("unknown", { words: unknown.join(tell("comma")) })] : []),
  ];
}

/** What to look for in the example that is shown. */
function Look() {
  const session = useSession();
  const tell = useTell();
  const example = session.server.state.value?.examples.find((one) => one.id === session.example.value);
  const { text, pair } = session.ask.value;
  if (!example || example.text !== text || (example.pair ?? "") !== pair) return null;
  return (
    <p class="app-look" data-look={example.id}>
      <b>
        {tell("look")}
        {tell("colon")}
      </b>
      {example.look[session.language.value]}
      <button
        type="button"
        class="plain"
        aria-label={tell("dismiss")}
        onClick={() => (session.example.value = null)}
      >
        ✕
      </button>
    </p>
  );
}
