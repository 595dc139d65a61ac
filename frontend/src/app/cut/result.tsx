// In the inspector: what the cut changes, as long as something is cut.

import "./cut.css";
import type { Say } from "../../frame/context";
import { useStore } from "../../frame/context";
import { Choice } from "../../frame/controls";
import { told } from "../../frame/report";
import { figure, hundredths } from "../../marks/scales";
import type { Edges } from "../../state/edges";
import type { Store } from "../../state/store";
import { isKey, together } from "../../words";
import { listedName, quoted } from "../../words/quoted";
import { edgesName, type How } from "../address";
import { sentenceOf, useSession, useTell } from "../context";
import type { Cut } from "../records";
import { placed, signed } from "../saying";
import type { Session } from "../session";
import { endsOf } from "./cutting";

const HOW = ["mask", "zero"] as const;

export function CutResult() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { cut, how, off } = session.ask.value;
  if (!cut.length || session.saved.value !== null) return null;
  const { found, trouble, comparing, fresh } = session.cuts;
  const ways = session.model.value?.about?.cuts ?? [];
  return (
    <details class="app-cut" open data-cut={found.value?.about} aria-busy={!fresh.value}>
      <summary>{tell("cutTitle")}</summary>
      <Chips />
      {trouble.value && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble.value, tell)}{" "}
          <button type="button" class="plain" onClick={() => session.cutAgain()}>
            {tell("again")}
          </button>
        </p>
      )}
      {!found.value && !trouble.value && (
        <p class="app-note" role="status">
          {tell("cutMeasuring")}
        </p>
      )}
      {found.value && <Numbers found={found.value} />}
      {found.value && fresh.value && comparing.value && !trouble.value && (
        <p class="app-note">{tell("cutControl")}</p>
      )}
      <div class="app-how">
        <span class="app-note">{tell("cutHow")}</span>
        <Choice
          label={tell("cutHow")}
          value={how}
          options={HOW.filter((one) => ways.includes(one)).map((one) => [one, tell(`cut_${one}`)] as const)}
          choose={(value) => session.change({ how: value })}
        />
        <span class="app-note">{meaning(store, cut, how, tell)}</span>
      </div>
      {!trouble.value && (
        <p class="app-note">
          {tell("cutShown")} {off.length > 0 && tell("cutOffNote")}
        </p>
      )}
    </details>
  );
}

/** What a way of cutting means, of one link by its tokens. */
function meaning(store: Store, cut: readonly Edges[], how: How, tell: Say): string {
  const [ends] = cut.length === 1 ? [endsOf(store, cut[0], quoted)] : [];
  const values = { query: ends?.from || tell("cutFrom"), key: ends?.to || tell("cutTo") };
  return tell(how === "mask" ? "cutMeans_mask" : "cutMeans_zero", values);
}

/** What is cut; each can be restored. */
function Chips() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { cut } = session.ask.value;
  return (
    <p class="chips">
      {cut.map((edges) => {
        const head = `${edges.layer}.${edges.head}`;
        const name = tell("cutName", { head, line: lineName(store, edges, tell, listedName) });
        return (
          <button
            key={edgesName(edges)}
            type="button"
            class="app-chip"
            data-cut-edge={edgesName(edges)}
            title={tell("cutRestoreOne", { name })}
            onClick={() => session.cutting(edges)}
          >
            {name} <span class="unseen">{tell("cutRestore")}</span>
            <span aria-hidden="true">✕</span>
          </button>
        );
      })}
      {cut.length > 1 && (
        <button type="button" class="plain" data-do="restore-all" onClick={() => session.change({ cut: [] })}>
          {tell("cutRestoreAll")}
        </button>
      )}
    </p>
  );
}

/** Looks by both their ends. */
function lineName(store: Store, edges: Edges, tell: Say, write: (name: string) => string): string {
  const { from, to } = endsOf(store, edges, write);
  return tell("cutLine", { from: from || tell("cutAll"), to: to || tell("cutAll") });
}

const linesOf = (session: Session, store: Store, tell: Say): string =>
  session.ask.value.cut.map((edges) => lineName(store, edges, tell, quoted)).join(tell("comma"));

/** What the cut does, and whether random ones do as much: the headline, once it is known. */
export function newsOfCut(session: Session, store: Store | null, tell: Say): string | null {
  const found = session.cuts.found.value;
  if (!store || !found || !session.ask.value.cut.length) return null;
  return newsOf(found, linesOf(session, store, tell), tell);
}

export function newsOf(found: Cut, lines: string, tell: Say): string {
  const done = nextWord(found, lines, tell) ?? ended(halves(rounded(found), lines, tell)[0], tell);
  return together(done, chanceOf(found, tell));
}

/** Of the next word: after which token, and from where to where. */
function nextWord({ said, about, change, tokens, position }: Cut, lines: string, tell: Say): string | null {
  const [cut, result] = said;
  const way = /^(lowers|raises)_probability$/.exec(result?.code ?? "")?.[1];
  const key = `note_${cut?.code}`;
  if (!way || about !== "next token" || !isKey(key)) return null;
  const [before, after] = sharesOf(change);
  const name = String(result.values.name ?? "");
  const values = { name, token: placed(tokens, position), before, after };
  return tell("note_cut_whole", {
    what: tell(key, { ...cut.values, lines }),
    result: tell(way === "lowers" ? "cutDid_lowers" : "cutDid_raises", values),
  });
}

/** Half of a sentence, as a whole one. */
const ended = (half: string, tell: Say): string => half.replace(/[;；]\s*$/, tell("stop"));

/** Two shares in hundredths, with as many digits as tell them apart. */
function sharesOf({ before, after }: { before: number; after: number }): [string, string] {
  if (hundredths(before) !== hundredths(after)) return [hundredths(before), hundredths(after)];
  return [`${figure(100 * before, 4)}%`, `${figure(100 * after, 4)}%`];
}

/** Two numbers with as many digits as tell them apart. */
function numbersOf({ before, after }: { before: number; after: number }): [string, string] {
  const digits = figure(before, 2) === figure(after, 2) ? 4 : 2;
  return [figure(before, digits), figure(after, digits)];
}

/** The same with numbers as the picture has them. */
function rounded(found: Cut): Cut {
  const { before, after } = found.change;
  const [first, last] = numbersOf(found.change);
  const short = { before: first, after: last, difference: signed(after - before) };
  return {
    ...found,
    said: found.said.map((one, i) => (i === 1 ? { ...one, values: { ...one.values, ...short } } : one)),
  };
}

/** Whether random lines, or sets of as many, do as much; nothing to say where the cut does nothing. */
export function chanceOf({ said }: Pick<Cut, "said">, tell: Say): string {
  const { larger = 0, count, size } = said[2]?.values ?? {};
  if (!count || said[1]?.code.startsWith("keeps_")) return "";
  const key = larger ? "cutUnclear" : "cutBeyond";
  const p = figure(1 / (Number(count) + 1), 1); // the least that so many random ones can show
  return tell(size ? `${key}Many` : key, { larger, count, size: size ?? 1, p });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Numbers({ found }: { found: Cut }) {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const [, comparison] = halves(found, linesOf(session, store, tell), tell);
  return (
    <>
      {comparison && (
        <details data-cut-control={found.control?.changes.length}>
          <summary>{tell("numbers")}</summary>
          <p class="app-note">{capital(comparison)}</p>
        </details>
      )}
      {found.notes.map((text, i) => (
        <p key={text} class="app-note">
          {told(tell, "note", { text, ...found.coded[i] })}
        </p>
      ))}
    </>
  );
}

/** The same sentence as what the cut does, and how that compares with cutting random lines. */
export function halves(found: Pick<Cut, "said" | "sentence">, lines: string, tell: Say): [string, string] {
  const whole = sentence(found, lines, tell);
  const { code, values } = found.said[2] ?? {};
  const key = `note_${code}`;
  const at = isKey(key) ? whole.indexOf(tell(key, { ...values, lines })) : -1;
  return at > 0 ? [whole.slice(0, at), whole.slice(at)] : [whole, ""];
}

/** What was cut, what that does, and what random lines do, in the reader's language; `lines` are called as here. */
export function sentence(
  { said, sentence: english }: Pick<Cut, "said" | "sentence">,
  lines: string,
  tell: Say,
): string {
  const parts = said.map(({ code, values }) => {
    const key = `note_${code}`;
    return isKey(key) ? tell(key, { ...values, lines }) : null;
  });
  const [what, result, control] = parts;
  const whole = control ? "note_cut_whole_control" : "note_cut_whole";
  if (!what || !result || parts.includes(null)) return english;
  return tell(whole, { what, result, control: control ?? "" });
}
