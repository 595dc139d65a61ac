// What the model says, beside the picture: bars, ghosts of what it said before, its answer as chips.

import "./saying.css";
import { visible } from "../compute/axis";
import { useStore } from "../frame/context";
import { figure } from "../marks/scales";
import { isKey } from "../words";
import { useSession, useTell } from "./context";
import { LensPanel } from "./lens/panel";
import type { EffectRow } from "./records";

const SAME = 1e-4; // what changes by less has not changed

/** The model's answer, below the text it was given. */
export function Answer() {
  const session = useSession();
  const tell = useTell();
  const found = session.says.found.value;
  if (!found?.answer || session.saved.value !== null) return null;
  const { answer, answer_after: after } = found;
  const changed = after !== null && after !== answer;
  return (
    <p class="app-answer" role="status" data-answer>
      <span class="quiet">{tell("answer")}</span>{" "}
      {changed && (
        <>
          <s dir="auto">{answer}</s>{" "}
        </>
      )}
      <b dir="auto">{changed ? after : answer}</b>
      {after !== null && !changed && <span class="quiet"> {tell("answerSame")}</span>}
    </p>
  );
}

/** In the inspector: what comes next, or stands at the masked place, or the labels. */
export function Saying() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const found = session.says.found.value;
  if (!found || found.about === "hidden states" || session.saved.value !== null) return null;
  if (session.ask.value.cut.length && session.cuts.found.value?.rows.length) return null; // said there, before and after
  const key = `about_${found.about}`;
  const token = visible(found.tokens[found.position ?? -1] ?? "");
  const answer = answerOf(store.page.sides.values().next().value!);
  const { mode } = session.ask.value;
  const moved = found.rows.some((row) => row.after[mode] !== undefined);
  const same = moved && isSame(found.rows, mode);
  const score = found.about === "score";
  return (
    <section class="app-says" data-says={found.about} aria-busy={session.says.working.value}>
      <h3>{tell("says")}</h3>
      {found.rows.length > 0 ? (
        <p class="app-note">{isKey(key) ? tell(key, { token }) : found.about}</p>
      ) : (
        <p class="app-note">{tell("saysPoint")}</p>
      )}
      <SaidRows rows={found.rows} mode={mode} score={score} moved={moved} />
      {moved && <p class="app-note">{tell(same ? "saysSame" : "saysGhost")}</p>}
      {found.about === "next token" && <LensPanel />}
      {found.actual !== null && <p class="app-note">{tell("actually", { token: visible(found.actual) })}</p>}
      {answer.length > 0 && (
        <p class="chips" data-chips>
          <span class="app-note">{tell("continued")}</span>
          {answer.map((one, i) => (
            <code key={i}>{one}</code>
          ))}
        </p>
      )}
    </section>
  );
}

/** Whether nothing changed. */
export const isSame = (rows: readonly EffectRow[], mode: string): boolean =>
  rows.every((row) => Math.abs((row.after[mode] ?? 0) - (row.before ?? 0)) < SAME);

interface Rows {
  rows: readonly EffectRow[];
  mode: string; // what was done to the model
  score: boolean; // whether it is one number that is no share
  moved: boolean; // whether there is a before and an after
}

/** Bars of what a model says, largest first; ghosts are before, and a number says how far it moved. */
export function SaidRows({ rows, mode, score, moved }: Rows) {
  const nowOf = ({ before, after }: EffectRow) => after[mode] ?? before ?? 0;
  const sorted = [...rows].sort((a, b) => nowOf(b) - nowOf(a));
  return (
    <ol aria-live="polite" class={moved ? "app-bars moved" : "app-bars"}>
      {sorted.slice(0, 8).map((row, i) => {
        const { name, before } = row;
        const now = nowOf(row);
        return (
          <li key={i} data-bar={now} data-ghost={moved ? before : undefined}>
            <span class="name" dir="auto" title={name}>
              {visible(name)}
            </span>
            {!score && (
              <span class="bars" aria-hidden="true">
                {moved && <i class="ghost" style={{ width: `${100 * (before ?? 0)}%` }} />}
                <i class="solid" style={{ width: `${100 * now}%` }} />
              </span>
            )}
            <span class="number" title={moved ? `${before} → ${now}` : String(now)}>
              {now > 0 && now < 0.001 ? "< 0.001" : figure(now, 2)}
            </span>
            {moved && (
              <span class="number quiet" data-difference>
                {signed(now - (before ?? 0))}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** A difference with its sign; what has not changed is 0. */
export const signed = (value: number): string =>
  Math.abs(value) < 5e-4 ? "0" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** The tokens that a causal model wrote itself. */
function answerOf({
  segments,
  text,
}: {
  segments: { name: string; start: number; end: number }[];
  text: string[];
}) {
  const own = segments.find(({ name }) => name === "answer");
  return own ? text.slice(own.start, own.end).map(visible) : [];
}
