// The chat: turns, the answer as it comes, and what its words looked at.

import { useComputed } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { partNames, useStore } from "../../frame/context";
import { sentenceOf, useSession, useTell } from "../context";
import type { Spot } from "../records";
import type { Turn, Word } from "./chat";
import { Looked } from "./looked";
import { Say } from "./say";
import { inPercent } from "./shares";
import { inPieces, shareAt } from "./tints";

export function ChatView() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const end = useRef<HTMLDivElement>(null);
  const turns = chat.turns.value;
  const letters = turns.reduce((sum, { content }) => sum + content.length, 0);
  const trouble = chat.trouble.value;
  const name = session.server.nameOf(session.ask.value);
  useEffect(() => end.current?.scrollIntoView?.({ block: "nearest" }), [turns]);
  if (session.model.value?.chat === false) return <Mute name={name} />;
  return (
    <section class="app-chat" aria-busy={chat.speaking.value}>
      <div class="spoken">
        <div class="turns" role="log" data-large={letters <= LARGE ? "" : undefined}>
          {turns.length === 0 && <Begin name={name} />}
          {turns.map((turn, at) => (
            <Said key={at} turn={turn} at={at} last={at === turns.length - 1} />
          ))}
          <div ref={end} />
        </div>
        {session.shown.value?.page.facts.chat === "plain" && <p class="quiet">{tell("chatPlain")}</p>}
        {trouble && (
          <p class="app-trouble" role="alert" data-trouble={trouble.code}>
            {sentenceOf(trouble, tell)}
          </p>
        )}
        <Say name={name} />
      </div>
      <Looked />
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

const LARGE = 160; // characters of a conversation that is set large

function Said({ turn, at, last }: { turn: Turn; at: number; last: boolean }) {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const { role, content, words, cut } = turn;
  return (
    <article data-role={role}>
      <h3>
        <span>
          <Speaker role={role} />
        </span>
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
      <p dir="auto">
        {words ? <Words words={words} whole={content} turn={at} /> : <Tinted text={content} turn={at} />}
      </p>
      {cut && <p class="quiet">{tell("chatCut")}</p>}
    </article>
  );
}

const SEEN = 0.1; // of the strongest share: less is not tinted

/** How a part that was looked at is shown, beside the part that was looked at most: its share is written over it. */
const tinted = (share: number, most: number) =>
  share > 0 &&
  share >= SEEN * most && {
    "data-tint": inPercent(share),
    style: { "--tint": `${(8 + (40 * share) / most).toFixed(0)}%` },
  };

/** A message, and in it what the word that is asked about looked at. */
function Tinted({ text, turn }: { text: string; turn: number }) {
  const { chat } = useSession();
  return (
    <>
      {inPieces(text, chat.tints.value.get(turn)).map(({ text, share }, i) => (
        <span key={i} {...tinted(share, chat.most.value)}>
          {text}
        </span>
      ))}
    </>
  );
}

/** Whose words these are. */
function Speaker({ role }: { role: string }) {
  const session = useSession();
  const tell = useTell();
  const name = partNames(useStore());
  if (role === "user") return <>{tell("chatYou")}</>;
  if (role !== "assistant") return <>{name(role)}</>;
  return <>{tell("chatIt", { model: session.server.nameOf(session.ask.value) })}</>;
}

interface Drawn {
  of: Word | undefined; // the first word: another one is another answer
  tokens: VNode[];
  told: number; // of the text
  letters: number; // the same in characters
}

/** The tokens of an answer, to point at; text that came without one stands at the end. */
function Words({ words, whole, turn }: { words: Word[]; whole: string; turn: number }) {
  // What is drawn stays as it is, and a token that comes is appended: answers are long.
  const drawn = useRef<Drawn>({ of: undefined, tokens: [], told: 0, letters: 0 });
  if (drawn.current.of !== words[0]) drawn.current = { of: words[0], tokens: [], told: 0, letters: 0 };
  const { tokens } = drawn.current;
  for (const word of words.slice(tokens.length)) {
    const start = drawn.current.letters;
    const end = start + [...word.text].length;
    tokens.push(<Token key={tokens.length} at={tokens.length} word={word} spot={[turn, start, end]} />);
    drawn.current.told += word.text.length;
    drawn.current.letters = end;
  }
  return (
    <>
      {tokens}
      {whole.slice(drawn.current.told)}
    </>
  );
}

function Token({ word, at, spot }: { word: Word; at: number; spot: Spot }) {
  const { chat } = useSession();
  const share = useComputed(() => shareAt(chat.tints.value.get(spot[0]), spot[1], spot[2]));
  const lit = useComputed(() => (chat.word.value === word ? "" : undefined));
  const point = (one: Word | null) => () => {
    chat.pointed.value = one;
  };
  if (!word.text) return null;
  const core = word.text.trimStart(); // a space before a word is not marked
  return (
    <span data-word={at} onPointerEnter={point(word)} onPointerLeave={point(null)}>
      {word.text.slice(0, word.text.length - core.length)}
      <span data-lit={lit} {...tinted(share.value, chat.most.value)}>
        {core}
      </span>
    </span>
  );
}
