// What switching heads off changes: predictions, or hidden states, before and after.

import type { Say } from "../frame/context";
import "./effect.css";
import { bare, listed as tokensListed } from "../compute/axis";
import { told } from "../frame/report";
import { decimals, figure } from "../marks/scales";
import { isKey, together } from "../words";
import { sentenceOf, useSession, useTell } from "./context";
import type { Effect as Record } from "./records";
import type { Session } from "./session";

const LISTED = 9;

export function Effect() {
  const session = useSession();
  const tell = useTell();
  if (!session.ask.value.off.length || session.medium.value) return null; // of a file, the bars above say it
  const trouble = session.trouble.value ? null : session.worth.trouble.value; // one sentence is enough
  const found = session.worth.found.value;
  return (
    <section class="app-effect" data-effect={found?.about} aria-busy={session.worth.working.value}>
      <h3>{tell("effect")}</h3>
      {trouble && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble, tell)}
        </p>
      )}
      {!found && !trouble && <p class="app-note">{tell("measuring")}</p>}
      {found && <Found found={found} />}
    </section>
  );
}

/** What switching off does, and whether that is much: the headline, as soon as it is known. */
export function newsOfOff(session: Session, tell: Say): string | null {
  const { off, mode } = session.ask.value;
  const found = session.worth.found.value;
  const verdict = off.length && found ? verdictOf(found, mode, tell) : "";
  if (!verdict || !found) return null;
  const heads = off.map(({ layer, head }) => `${layer}.${head}`).join(tell("comma"));
  return together(tell("newsOff", { heads, verdict }), found.yardstick && rankOf(found.yardstick, tell));
}

/** Where it stands among the heads, and predictions; likeness token by token is for those who ask. */
function Found({ found }: { found: Record }) {
  const tell = useTell();
  return (
    <>
      <Alike found={found} />
      {found.yardstick && <Rank found={found.yardstick} tell={tell} />}
      {found.about === "hidden states" ? (
        <details>
          <summary>{tell("tokenByToken")}</summary>
          <Table found={found} />
        </details>
      ) : (
        <Table found={found} />
      )}
    </>
  );
}

/** How far the output is from what it was: a bar as long as the change. */
function Alike({ found }: { found: Record }) {
  const session = useSession();
  const tell = useTell();
  const alike = alikeOf(found, session.ask.value.mode);
  if (alike === undefined) return null;
  return (
    <div class="measured" data-alike={alike}>
      <span>{tell("unlike")}</span>
      <span class="bar">
        <i style={{ width: `${100 * Math.min(1, Math.max(0, 1 - alike))}%` }} />
      </span>
      <span class="value">{number(1 - alike)}</span>
    </div>
  );
}

/** Of hidden states: their mean likeness with and without what is switched off. */
const alikeOf = ({ about, rows }: Record, mode: string): number | undefined =>
  about === "hidden states" ? rows.find(({ code }) => code === "mean")?.after[mode] : undefined;

function Table({ found }: { found: Record }) {
  const session = useSession();
  const tell = useTell();
  const { mode } = session.ask.value;
  const key = `about_${found.about}`;
  const token = bare(found.tokens[found.position ?? -1] ?? " ");
  const rows = listed(found, mode);
  const names = tokensListed(rows.map(({ name }) => name));
  const compared = found.rows.some(({ before }) => before !== null);
  return (
    <>
      <p class="app-note">{isKey(key) ? tell(key, { token }) : found.about}</p>
      <table class="app-table">
        <thead>
          <tr>
            <th scope="col">{tell(compared ? "prediction" : "token")}</th>
            {compared && (
              <th scope="col" class="number">
                {tell("before")}
              </th>
            )}
            {found.modes.map((name) => (
              <th key={name} scope="col" class={name === mode ? "number chosen" : "number"}>
                {modeName(name, tell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after, code }, i) => (
            <tr key={i} class={code === "mean" ? "total" : ""}>
              <th scope="row" class="name" dir="auto" title={name}>
                {code === "mean" ? tell("everything") : names[i]}
              </th>
              {compared && (
                <td class="number" title={String(before)} data-before={before}>
                  {before === null ? "–" : number(before)}
                </td>
              )}
              {found.modes.map((one) => (
                <td
                  key={one}
                  class={one === mode ? "number chosen" : "number"}
                  title={String(after[one])}
                  data-after={after[one]}
                >
                  {after[one] === undefined ? "–" : number(after[one])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Notes found={found} />
    </>
  );
}

/** What is to be said of the numbers. */
function Notes({ found }: { found: Record }) {
  const session = useSession();
  const tell = useTell();
  const values = Object.entries(found.kl).map(([name, kl]) => `${modeName(name, tell)} ${figure(kl, 2)}`);
  return (
    <>
      {found.about === "hidden states" && found.rows.length > LISTED + 1 && (
        <p class="app-note">{tell("movedMost", { count: LISTED })}</p>
      )}
      {values.length > 0 && <p class="app-note">{tell("kl", { values: values.join(" · ") })}</p>}
      {found.actual !== null && <p class="app-note">{tell("actually", { token: bare(found.actual) })}</p>}
      {found.modes.includes("mean") && (
        <p class="app-note">{tell("meanOver", { count: session.server.state.value?.sentences ?? 0 })}</p>
      )}
      {found.notes.map((text, i) => (
        <p key={text} class="app-note">
          {told(tell, "note", { text, ...found.coded[i] })}
        </p>
      ))}
    </>
  );
}

/** Whether that is much: how many other heads, switched off instead, change more. */
export function rankOf({ heads, tried, more }: NonNullable<Record["yardstick"]>, tell: Say): string {
  const ofAll = more > 1 ? "rankAll" : more ? "rankSecond" : "rankFirst";
  return tell(tried === heads ? ofAll : more ? "rankSome" : "rankMost", { more, tried, heads });
}

/** Where it stands among the heads, on a line from the one that matters most to the one that matters least. */
function Rank({ found, tell }: { found: NonNullable<Record["yardstick"]>; tell: Say }) {
  const { tried, more } = found;
  const far = `${(100 * more) / Math.max(1, tried - 1)}%`;
  return (
    <p class="app-rank" data-rank={more + 1} data-tried={tried}>
      <span class="place" style={{ "--far": far }}>
        {tell("rankPlace", { place: more + 1, tried })}
      </span>
      <span class="line" aria-hidden="true">
        <i style={{ left: far }} />
      </span>
      <span class="ends quiet">
        <span>{tell("rankLeft")}</span>
        <span>{tell("rankRight")}</span>
      </span>
    </p>
  );
}

/** In one sentence, how much the result changes: its likeness, or the first answer before and after. */
export function verdictOf(found: Record, mode: string, tell: Say): string {
  const { about, rows } = found;
  if (about !== "hidden states") {
    const [first] = rows;
    const after = first?.after[mode];
    if (!first || first.before === null || after === undefined) return "";
    const token = bare(first.name);
    return tell("verdictAnswer", { token, before: number(first.before), after: number(after) });
  }
  const alike = alikeOf(found, mode);
  if (alike === undefined) return "";
  const key = alike >= 0.99 ? "verdictLittle" : alike >= 0.9 ? "verdictSome" : "verdictMuch";
  return tell(key, { value: number(alike) });
}

/** Predictions as they come; of hidden states the mean first, and then the tokens that moved most. */
export function listed({ about, rows }: Record, mode: string): Record["rows"] {
  if (about !== "hidden states") return rows.slice(0, 2 * LISTED);
  const mean = rows.filter(({ code }) => code === "mean");
  const tokens = rows.filter(({ code }) => code !== "mean");
  const moved = tokens.sort((a, b) => (a.after[mode] ?? 1) - (b.after[mode] ?? 1));
  return [...mean, ...moved.slice(0, LISTED)];
}

/** Three decimals, so that a column of probabilities can be read down. */
const number = (value: number): string => decimals(value, 3);

function modeName(mode: string, tell: Say): string {
  const key = `mode_${mode}`;
  return isKey(key) ? tell(key) : mode;
}
