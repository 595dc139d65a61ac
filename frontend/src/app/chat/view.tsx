// The chat: turns, the answer as it comes, and what its words looked at.

import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../compute/axis";
import { partName, useStore } from "../../frame/context";
import { sentenceOf, useSession, useTell } from "../context";
import type { Turn, Word } from "./chat";

export function ChatView() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const end = useRef<HTMLDivElement>(null);
  const turns = chat.turns.value;
  const model = session.model.value;
  const trouble = chat.trouble.value;
  useEffect(() => end.current?.scrollIntoView?.({ block: "nearest" }), [turns]);
  return (
    <section class="app-chat" aria-busy={chat.speaking.value}>
      <div class="turns" role="log">
        {turns.length === 0 && <p class="quiet">{tell("chatEmpty")}</p>}
        {turns.map((turn, at) => (
          <Said key={at} turn={turn} at={at} last={at === turns.length - 1} />
        ))}
        <div ref={end} />
      </div>
      <Looked />
      {session.shown.value?.page.facts.chat === "plain" && <p class="quiet">{tell("chatPlain")}</p>}
      {trouble && (
        <p class="app-trouble" role="alert" data-trouble={trouble.code}>
          {sentenceOf(trouble, tell)}
        </p>
      )}
      {model?.about && !model.about.generate ? (
        <p class="app-hint">{tell("chatMute", { model: model.name })}</p>
      ) : (
        <Say name={model?.name ?? ""} />
      )}
    </section>
  );
}

function Said({ turn, at, last }: { turn: Turn; at: number; last: boolean }) {
  const { chat } = useSession();
  const tell = useTell();
  const name = partName(useStore());
  const { role, content, words, cut } = turn;
  return (
    <article data-role={role}>
      <h3>
        {name(role)}
        {role === "user" && (
          <button
            type="button"
            class="plain"
            data-do="edit"
            title={tell("chatEditHint")}
            onClick={() => chat.edit(at)}
          >
            {tell("chatEdit")}
          </button>
        )}
        {role === "assistant" && last && !chat.speaking.value && (
          <button
            type="button"
            class="plain"
            data-do="again"
            title={tell("chatAgainHint")}
            onClick={() => chat.again()}
          >
            {tell("chatAgain")}
          </button>
        )}
      </h3>
      <p dir="auto">{words ? <Words words={words} whole={content} /> : content}</p>
      {cut && <p class="quiet">{tell("chatCut")}</p>}
    </article>
  );
}

/** The tokens of an answer, to point at; text that came without one stands at the end. */
function Words({ words, whole }: { words: Word[]; whole: string }) {
  const { chat } = useSession();
  const told = words.map(({ text }) => text).join("");
  const point = (word: Word | null) => () => {
    chat.pointed.value = word;
  };
  return (
    <>
      {words.map((word, i) =>
        word.text ? (
          <span
            key={i}
            data-word={i}
            data-lit={chat.word.value === word ? "" : undefined}
            onPointerEnter={point(word)}
            onPointerLeave={point(null)}
          >
            {word.text}
          </span>
        ) : null,
      )}
      {whole.slice(told.length)}
    </>
  );
}

/** What the model looked at when it chose a word. */
function Looked() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const word = chat.word.value;
  if (!word) return null;
  const token = visible(word.text);
  return (
    <p class="looked" title={tell("chatAbout")} data-looked={word.looks.length}>
      {tell(word.looks.length ? "chatLooked" : "chatNowhere", { token })}{" "}
      {word.looks.map(([position, text, weight]) => (
        <span key={position} class="look">
          {visible(text)} <b>{Math.round(100 * weight)} %</b>
        </span>
      ))}
      {session.ask.value.chat && !chat.speaking.value && (
        <button
          type="button"
          class="action"
          data-do="show"
          onClick={() => session.store.peek()?.set({ view: "heads" })}
        >
          {tell("chatShow")}
        </button>
      )}
    </p>
  );
}

function Say({ name }: { name: string }) {
  const { chat } = useSession();
  const tell = useTell();
  const speaking = chat.speaking.value;
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    chat.send();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        chat.send();
      }}
    >
      <textarea
        class="app-field"
        rows={2}
        data-field="message"
        aria-label={tell("chatLabel")}
        placeholder={tell("chatHint", { model: name })}
        value={chat.draft.value}
        dir="auto"
        onInput={(event) => (chat.draft.value = event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="settings">
        {speaking ? (
          <button type="button" class="action" data-do="stop" onClick={() => chat.stop()}>
            {tell("chatStop")}
          </button>
        ) : (
          <button type="submit" class="action" data-do="send" disabled={!chat.draft.value.trim()}>
            {tell("chatSend")}
          </button>
        )}
        <Setting
          label={tell("chatTemperature")}
          title={tell("chatTemperatureHint")}
          name="temperature"
          step={0.1}
        />
        <Setting label={tell("chatSeed")} name="seed" step={1} />
        <span class="fill" />
        {chat.turns.value.length > 0 && (
          <button type="button" class="action" data-do="new" onClick={() => chat.clear()}>
            {tell("chatNew")}
          </button>
        )}
      </div>
    </form>
  );
}

interface SettingProps {
  label: string;
  title?: string;
  name: "temperature" | "seed";
  step: number;
}

function Setting({ label, title, name, step }: SettingProps) {
  const { chat } = useSession();
  const most = name === "temperature" ? 2 : 1e9;
  const set = (text: string) => {
    const value = Number(text);
    if (text !== "" && value >= 0 && value <= most)
      chat[name].value = name === "seed" ? Math.trunc(value) : value;
  };
  return (
    <label title={title}>
      {label}{" "}
      <input
        type="number"
        min={0}
        max={most}
        step={step}
        value={chat[name].value}
        data-control={name}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
