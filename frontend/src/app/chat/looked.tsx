// What the model looked at when it chose a word: in one sentence, as bars, and how much of it rested.

import { visible } from "../../compute/axis";
import { partNames, useStore } from "../../frame/context";
import { percent } from "../../marks/scales";
import { useSession, useTell } from "../context";
import type { Glance } from "../records";
import type { Word } from "./chat";

const LISTED = 8;

const bare = (text: string): string => visible(text.trim() || text);

/** The text that was looked at most, all its places together, and the sum of its weights. */
function mostOf(looks: readonly Glance[]): [string, number] {
  const sums = new Map<string, number>();
  for (const [, text, weight] of looks) sums.set(bare(text), (sums.get(bare(text)) ?? 0) + weight);
  return [...sums].sort((a, b) => b[1] - a[1])[0];
}

export function Looked() {
  const session = useSession();
  const tell = useTell();
  const { chat } = session;
  const word = chat.word.value;
  if (word?.words == null) return null;
  const { looks, words: share } = word;
  const rest = 100 - percent(share);
  const token = bare(word.text);
  const [most, weight] = looks.length ? mostOf(looks) : ["", 0];
  return (
    <aside class="looked" data-looked={looks.length}>
      <h2>
        {looks.length
          ? tell("chatLooked", { token, most, words: percent(share), share: percent(weight / share) })
          : tell("chatThinly", { token })}
      </h2>
      <p>{tell(rest > 0 ? "chatWords" : "chatAllWords", { rest })}</p>
      {looks.length > 0 && <Bars word={word} />}
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

/** The strongest looks, and who said what was looked at. */
function Bars({ word }: { word: Word }) {
  const { chat } = useSession();
  const tell = useTell();
  const name = partNames(useStore());
  const turns = chat.turns.value;
  const shares = word.looks.slice(0, LISTED).map((look) => look[2] / word.words!);
  const left = 1 - shares.reduce((sum, one) => sum + one, 0);
  return (
    <>
      <h3>{tell("chatWent")}</h3>
      <ol>
        {shares.map((one, i) => {
          const [position, text, , spot] = word.looks[i];
          return (
            <li key={position} class="look" data-at={position}>
              <span class="name" dir="auto">
                {bare(text)}
              </span>
              <small>{spot && name(turns[spot[0]]?.role ?? "assistant")}</small>
              <span class="strength">
                <i style={{ width: `${((100 * one) / shares[0]).toFixed(2)}%` }} />
              </span>
              <b>{percent(one)}%</b>
            </li>
          );
        })}
        {percent(left) > 0 && (
          <li class="quiet">
            <span class="others">{tell("chatOthers")}</span>
            <b>{percent(left)}%</b>
          </li>
        )}
      </ol>
    </>
  );
}
