// The chat: turns, the answer as it comes, and what its words looked at.

import { useComputed } from "@preact/signals";
import type { VNode } from "preact";
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
  const trouble = chat.trouble.value;
  const name = session.server.nameOf(session.ask.value);
  useEffect(() => end.current?.scrollIntoView?.({ block: "nearest" }), [turns]);
  if (session.model.value?.chat === false) return <Mute name={name} />;
  return (
    <section class="app-chat" aria-busy={chat.speaking.value}>
      <div class="turns" role="log">
        {turns.length === 0 && <Begin name={name} />}
        {turns.map((turn, at) => (
          <Said key={at} turn={turn} at={at} last={at === turns.length - 1} />
        ))}
        <Looked />
        <div ref={end} />
      </div>
      {session.shown.value?.page.facts.chat === "plain" && <p class="quiet">{tell("chatPlain")}</p>}
      {trouble && (
        <p class="app-trouble" role="alert" data-trouble={trouble.code}>
          {sentenceOf(trouble, tell)}
        </p>
      )}
      <Say name={name} />
    </section>
  );
}

/** A model that does not answer, and those that do. */
function Mute({ name }: { name: string }) {
  const session = useSession();
  const tell = useTell();
  const others = session.server.state.value?.models.filter(({ chat }) => chat) ?? [];
  return (
    <section class="app-chat" data-mute={name}>
      <h2>{tell("chatMute", { model: name })}</h2>
      <p class="quiet">{tell(others.length ? "chatEmpty" : "chatNobody")}</p>
      <p class="starts">
        {others.map((one) => (
          <button
            key={one.name}
            type="button"
            class="action"
            data-talk={one.name}
            onClick={() => session.choose(one.name)}
          >
            {tell("chatTalkTo", { model: one.name })}
          </button>
        ))}
      </p>
    </section>
  );
}

const STARTS = ["chatStart0", "chatStart1", "chatStart2"] as const;

/** Something to say first. */
function Begin({ name }: { name: string }) {
  const { chat } = useSession();
  const tell = useTell();
  const start = (text: string) => {
    chat.draft.value = text;
    chat.send();
  };
  return (
    <>
      <h2>{tell("chatTalkTo", { model: name })}</h2>
      <p class="quiet">{tell("chatEmpty")}</p>
      <p class="starts">
        {STARTS.map((key) => (
          <button key={key} type="button" class="action" data-start onClick={() => start(tell(key))}>
            {tell(key)}
          </button>
        ))}
      </p>
    </>
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

interface Drawn {
  of: Word | undefined; // the first word: another one is another answer
  tokens: VNode[];
  told: number; // characters
}

/** The tokens of an answer, to point at; text that came without one stands at the end. */
function Words({ words, whole }: { words: Word[]; whole: string }) {
  // What is drawn stays as it is, and a token that comes is appended: answers are long.
  const drawn = useRef<Drawn>({ of: undefined, tokens: [], told: 0 });
  if (drawn.current.of !== words[0]) drawn.current = { of: words[0], tokens: [], told: 0 };
  const { tokens } = drawn.current;
  for (const word of words.slice(tokens.length)) {
    tokens.push(<Token key={tokens.length} at={tokens.length} word={word} />);
    drawn.current.told += word.text.length;
  }
  return (
    <>
      {tokens}
      {whole.slice(drawn.current.told)}
    </>
  );
}

function Token({ word, at }: { word: Word; at: number }) {
  const { chat } = useSession();
  const lit = useComputed(() => (chat.word.value === word ? "" : undefined));
  const point = (one: Word | null) => () => {
    chat.pointed.value = one;
  };
  if (!word.text) return null;
  return (
    <span data-word={at} data-lit={lit} onPointerEnter={point(word)} onPointerLeave={point(null)}>
      {word.text}
    </span>
  );
}

/** What the model looked at when it chose a word. */
function Looked() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const word = chat.word.value;
  if (word?.words == null) return null;
  const share = word.words;
  const token = visible(word.text.trim() || word.text);
  const percent = (share: number) => Math.round(100 * share);
  const rest = 100 - percent(share);
  return (
    <p class="looked" title={tell("chatAbout")} data-looked={word.looks.length}>
      <span>{tell(word.looks.length ? "chatLooked" : "chatThinly", { token, words: percent(share) })}</span>
      {word.looks.map(([position, text, weight]) => (
        <span key={position} class="look" style={{ "--share": `${(100 * weight) / share}%` }}>
          {visible(text.trim() || text)}
          {word.looks.some(([other, same]) => same === text && other !== position) && <sub>{position}</sub>}{" "}
          <b>{percent(weight / share)} %</b>
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
      <small>
        {rest > 0 && tell("chatRests", { rest })} {tell("chatPoint")}
      </small>
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
