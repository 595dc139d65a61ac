// What the model looked at when it chose a word: in one sentence, as one bar of all its attention, and word by word.

import { visible } from "../../compute/axis";
import { useSession, useTell } from "../context";
import type { Glance, Shares } from "../records";
import type { Word } from "./chat";
import { inPercent, type Part, piecesOf } from "./shares";

const LISTED = 8;

const bare = (text: string): string => visible(text.trim() || text);

/** The text that was looked at most, all its places together: the sum of its weights, and how many places. */
function mostOf(looks: readonly Glance[]): [string, number, number] {
  const sums = new Map<string, [number, number]>();
  for (const [, text, weight] of looks) {
    const [sum, places] = sums.get(bare(text)) ?? [0, 0];
    sums.set(bare(text), [sum + weight, places + 1]);
  }
  const [text, [sum, places]] = [...sums].sort((a, b) => b[1][0] - a[1][0])[0];
  return [text, sum, places];
}

export function Looked() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const word = chat.word.value;
  if (word?.shares == null) return null;
  const { looks, shares } = word;
  const token = bare(word.text);
  const [most, weight, places] = looks.length ? mostOf(looks) : ["", 0, 0];
  const there = { share: inPercent(weight), places };
  return (
    <aside class="looked" data-looked={looks.length}>
      <h2>{tell(looks.length ? "chatLooked" : "chatThinly", { token, most })}</h2>
      {looks.length > 0 && <p>{tell(places > 1 ? "chatPlaces" : "chatThere", there)}</p>}
      <Whole shares={shares} />
      {looks.length > 0 && <Bars word={word} shares={shares} />}
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
      <p class="quiet">
        {tell("chatPoint")} {tell("chatAbout")}
      </p>
    </aside>
  );
}

/** All of the attention as one bar, divided, with the names of its parts. */
function Whole({ shares }: { shares: Shares }) {
  const { chat } = useSession();
  const tell = useTell();
  const pieces = piecesOf(shares);
  const several = chat.turns.value.filter(({ role }) => role !== "assistant").length > 1;
  const name = (part: Part) => tell(part === "prompt" && several ? "chatPart_before" : `chatPart_${part}`);
  return (
    <>
      <h3>{tell("chatAll")}</h3>
      <div class="whole" aria-hidden="true">
        {pieces.map(({ part, share, told }) => (
          <i key={part} data-part={part} style={{ flexGrow: share }} title={`${name(part)} ${told}%`}>
            {told >= 7 && `${told}%`}
          </i>
        ))}
      </div>
      <ul>
        {pieces.map(({ part, told }) => (
          <li key={part} data-share={part}>
            <i data-part={part} />
            <span>{name(part)}</span>
            <b>{told}%</b>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The strongest looks, and where what was looked at stands. */
function Bars({ word, shares }: { word: Word; shares: Shares }) {
  const { chat } = useSession();
  const tell = useTell();
  const last = chat.turns.value.length - 1;
  const listed = word.looks.slice(0, LISTED);
  const left = shares.prompt + shares.answer - listed.reduce((sum, [, , weight]) => sum + weight, 0);
  return (
    <>
      <h3>{tell("chatWent")}</h3>
      <ol>
        {listed.map(([position, text, weight, spot]) => {
          const own = spot?.[0] === last;
          return (
            <li key={position} class="look" data-at={position}>
              <span class="name" dir="auto">
                {bare(text)}
              </span>
              <small>{spot && tell(own ? "chatInAnswer" : "chatInPrompt")}</small>
              <span class="strength">
                <i
                  data-part={own ? "answer" : "prompt"}
                  style={{ width: `${((100 * weight) / listed[0][2]).toFixed(2)}%` }}
                />
              </span>
              <b>{inPercent(weight)}</b>
            </li>
          );
        })}
        {left >= 0.0005 && (
          <li class="quiet">
            <span class="others">{tell("chatOthers")}</span>
            <b>{inPercent(left)}</b>
          </li>
        )}
      </ol>
    </>
  );
}
