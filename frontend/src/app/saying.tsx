// What the model says, beside the picture: bars, ghosts of what it said before, its answer as chips.

import { quoted } from "../words/quoted";
import "./saying.css";
import { bare, listed, numbered, tokenIn } from "../compute/axis";
import type { Side } from "../data/wire";
import { useStore } from "../frame/context";
import { decimals, figure, hundredths } from "../marks/scales";
import { isKey } from "../words";
import { useSession, useTell } from "./context";
import { EvidencePanel } from "./evidence/panel";
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
  if (session.saved.value !== null) return null;
  if (!found) return session.says.awaited.value && session.model.value?.about?.generate ? <Awaited /> : null;
  if (found.about === "hidden states") return null;
  if (session.ask.value.cut.length && session.cuts.found.value?.rows.length) return null; // said there, before and after
  const kind = session.medium.value && session.model.value?.about?.media[0];
  const key = [`about_${found.about}_${kind}`, `about_${found.about}`].find(isKey);
  const likely = `likely_${found.about}`;
  const token = placed(found.tokens, found.position);
  const answer = answerOf([...store.page.sides.values()]);
  const answered = found.position !== null && found.position + 1 >= found.tokens.length - answer.length;
  const told = found.position !== null && found.position + 1 === found.tokens.length - answer.length; // by its first token
  const { mode } = session.ask.value;
  const moved = found.rows.some((row) => row.after[mode] !== undefined);
  const same = moved && isSame(found.rows, mode);
  const score = found.about === "score";
  const asks = found.about === "next token" && !session.medium.value; // these questions do not reach a file
  return (
    <section class="app-says" data-says={found.about} aria-busy={session.says.working.value}>
      <h3>
        {tell("says")}
        {found.rows.length > 0 && <span>{key ? tell(key, { token }) : found.about}</span>}
      </h3>
      {found.rows.length > 0 && isKey(likely) && <p class="app-note">{tell(likely)}</p>}
      {!found.rows.length && <p class="app-note">{tell("saysPoint")}</p>}
      <SaidRows rows={found.rows} mode={mode} score={score} moved={moved} most={moved ? undefined : SAID} />
      {moved && <p class="app-note">{tell(same ? "saysSame" : "saysGhost")}</p>}
      {asks && <LensPanel />}
      {found.actual !== null && !(answered && told) && (
        <p class="app-note">{tell(answered ? "goesOn" : "actually", { token: bare(found.actual) })}</p>
      )}
      {answer.length > 0 && (
        <p class="chips" data-chips>
          <span class="app-note">{tell("continued")}</span>
          {answer.map((one, i) => (
            <code key={i}>{one}</code>
          ))}
        </p>
      )}
      {asks && <EvidencePanel />}
    </section>
  );
}

/** The place of what the model says, while it is on its way: what comes must not move what is read. */
function Awaited() {
  const tell = useTell();
  return (
    <section class="app-says" data-says="waiting" aria-busy="true">
      <h3>{tell("says")}</h3>
      <ol class="app-bars">
        {Array.from({ length: SAID }, (_, i) => (
          <li key={i} />
        ))}
      </ol>
    </section>
  );
}

const SAID = 5; // words that are listed first of all

/** A token in a sentence: “cat”₈ where it occurs twice. */
export const placed = (tokens: readonly string[], position: number | null): string => {
  const at = position ?? tokens.length - 1;
  if (tokens[at] === undefined) return "";
  const text = bare(tokens[at]);
  const twice = tokens.filter((one) => bare(one) === text).length > 1;
  return quoted(twice ? numbered(text, at) : text);
};

/** Whether nothing changed. */
export const isSame = (rows: readonly EffectRow[], mode: string): boolean =>
  rows.every((row) => Math.abs((row.after[mode] ?? 0) - (row.before ?? 0)) < SAME);

interface Rows {
  rows: readonly EffectRow[];
  mode: string; // what was done to the model
  score: boolean; // whether it is one number that is no share
  moved: boolean; // whether there is a before and an after
  most?: number; // rows that are listed
  wide?: boolean; // there is room for columns with names, and bars reach as far as the largest
}

/** How far a word's number moves. */
const farOf = ({ before, after }: EffectRow, mode: string): number =>
  Math.abs((after[mode] ?? 0) - (before ?? 0));

/** Bars of what a model says, largest first, or what moved most where there is room for numbers; ghosts are before, and a number says how far it moved. */
export function SaidRows({ rows, mode, score, moved, most = 8, wide = false }: Rows) {
  const tell = useTell();
  const nowOf = ({ before, after }: EffectRow) => after[mode] ?? before ?? 0;
  const sorted = [...rows].sort((a, b) => (wide ? farOf(b, mode) - farOf(a, mode) : nowOf(b) - nowOf(a)));
  const names = listed(sorted.map(({ name }) => name));
  const top = wide ? Math.max(1e-9, ...rows.flatMap((row) => [nowOf(row), row.before ?? 0])) : 1;
  const number = (value: number) => {
    if (!score) return hundredths(value);
    return value > 0 && value < 0.001 ? "< 0.001" : figure(value, 2);
  };
  return (
    <ol aria-live="polite" class={["app-bars", moved && "moved", wide && "wide"].filter(Boolean).join(" ")}>
      {wide && (
        <li class="heads quiet" aria-hidden="true">
          <span class="bars" />
          {(["cutBefore", "cutAfter", score ? "cutChange" : "cutPoints"] as const).map((key) => (
            <span key={key} class="number">
              {tell(key)}
            </span>
          ))}
        </li>
      )}
      {sorted.slice(0, most).map((row, i) => {
        const { name, before } = row;
        const now = nowOf(row);
        return (
          <li
            key={i}
            class={wide && i === 0 ? "most" : ""}
            data-bar={now}
            data-ghost={moved ? before : undefined}
          >
            <span class="name" dir="auto" title={name}>
              {names[i]}
            </span>
            {!score && (
              <span class="bars" aria-hidden="true">
                {moved && <i class="ghost" style={{ width: `${(100 * (before ?? 0)) / top}%` }} />}
                <i class="solid" style={{ width: `${(100 * now) / top}%` }} />
              </span>
            )}
            {wide && <span class="number quiet">{number(before ?? 0)}</span>}
            <span class="number" title={moved ? `${before} → ${now}` : String(now)}>
              {number(now)}
            </span>
            {moved && (
              <span class="number quiet" data-difference>
                {score ? signed(now - (before ?? 0)) : points(now - (before ?? 0))}
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

/** The same of a share, in percentage points. */
export const points = (value: number): string =>
  Math.abs(value) < 5e-4 ? "0" : `${value > 0 ? "+" : ""}${decimals(100 * value, 1)}`;

/** The tokens that a causal model wrote itself. */
function answerOf(sides: readonly Side[]): string[] {
  for (const side of sides) {
    const own = side.segments.find(({ name }) => name === "answer");
    const tokens = side.text.map((_, i) => i).slice(own?.start, own?.end);
    if (own) return tokens.map((i) => tokenIn(side, i));
  }
  return [];
}
