// What lines are worth, in words: of which number, and how far the estimate can be believed.

import { quoted } from "../words/quoted";
import "./worth.css";
import type { FunctionComponent } from "preact";
import { bare, numbered } from "../compute/axis";
import { hasWorth, sizeOf } from "../compute/worth";
import type { Cell } from "../data/report";
import { isHere } from "../data/wire";
import { type Judged, RELIABLE } from "../data/worth";
import { decimals, signed } from "../marks/scales";
import type { Store } from "../state/store";
import { isKey } from "../words";
import { judgedName, sayIn, useSay, useStore } from "./context";

/** What lines are judged by, as a part of a sentence: log p of “tired” after was₇. */
export function judgedWhat(store: Store, judged: Judged): string {
  const tell = sayIn(store);
  const key = `judgedBy_${judged.about}`;
  const name = judgedName(judged, tell);
  return isKey(key) ? tell(key, { name, token: tokenAt(store, judged.position) }) : name;
}

/** A token of the side where the model predicts, by its position. */
function tokenAt({ page }: Store, position: number | null): string {
  const side = page.sides.get("decoder") ?? [...page.sides.values()][0];
  const text = side.text[position ?? -1];
  return text === undefined ? "" : quoted(numbered(bare(text), position!));
}

/** How far the estimate agrees with exact cuts. */
export function agreement(store: Store, { check }: Judged): string {
  const tell = sayIn(store);
  if (!check) return tell(store.checking.value ? "worthChecking" : "worthUnchecked");
  if (check.spearman === null) return tell("worthUnchecked");
  const values = { rho: decimals(check.spearman, 2), count: check.edges };
  return tell(check.spearman < RELIABLE ? "worthUnreliable" : "worthAgrees", values);
}

/** Beside every picture of worth: what it is of, and whether to believe it; and why there is none. */
export function WorthLine({ chooser: Chooser }: { chooser?: FunctionComponent }) {
  const store = useStore();
  const tell = useSay();
  const { judged } = store;
  const { worth } = store.selection.value;
  if (!store.judges || !(worth || Chooser)) return null;
  const rho = judged?.check?.spearman;
  const doubtful = rho != null && rho < RELIABLE;
  return (
    <div class="worth-line" data-worth={worth && judged ? judged.about : "waiting"}>
      {Chooser && <Chooser />}
      {judged && store.look.value.worth && (
        <>
          <span>{tell("worthLine", { what: judgedWhat(store, judged) })}</span>
          <span class={doubtful ? "doubtful" : "quiet"} data-agreement={rho ?? ""}>
            {agreement(store, judged)}
          </span>
        </>
      )}
    </div>
  );
}

/** What the pointer and the inspector say of one line; null where its worth is not known. */
export function worthOf(store: Store, head: number, query: number, key: number): number | null {
  const { judged, site, look } = store;
  if (!judged || !hasWorth(site.value)) return null;
  const { level, relative } = look.value;
  const index = site.value.heads.indexOf(head);
  const lens = store.lenses.of(site.value, index, {
    level,
    relative,
    contributions: false,
    worth: judged.how,
  });
  return lens.row(query)[key];
}

const SEARCHED = 600; // rows that are looked through for the line that is worth most

/** The line of a head that is worth most, in a sentence. */
export function MostWorth({ cell: { site, head } }: { cell: Cell }) {
  const store = useStore();
  const tell = useSay();
  const { judged } = store;
  if (!judged || !isHere(site) || !hasWorth(site)) return null;
  const look = { ...store.look.value, contributions: false, worth: judged.how };
  const lens = store.lenses.of(site, site.heads.indexOf(head), look);
  if (lens.rows.count > SEARCHED) return null;
  let best = { query: -1, key: -1, value: 0 };
  for (let query = 0; query < lens.rows.count; query++)
    lens.row(query).forEach((value, key) => {
      if (sizeOf(value) > sizeOf(best.value)) best = { query, key, value };
    });
  if (best.query < 0) return null;
  const values = {
    value: signed(best.value),
    name: judgedName(judged, tell),
    from: quoted(lens.rows.names[best.query]),
    to: quoted(lens.columns.names[best.key]),
  };
  return <p data-most-worth={best.value}>{tell("mostWorth", values)}</p>;
}

/** The worth of the pair that is pointed at or pinned. */
export function PairWorth() {
  const store = useStore();
  const tell = useSay();
  const { judged, lead } = store;
  const { queries, keys } = store.active.value;
  const { heads } = store.selection.value;
  const head = store.hover.value.head ?? (heads.length > 1 && store.view.heads === "some" ? null : lead);
  if (!judged || head === null || queries.length !== 1 || keys.length !== 1) return null;
  const value = worthOf(store, head, queries[0], keys[0]);
  if (value === null) return null;
  const pair = {
    from: quoted(store.rows.value.names[queries[0]]),
    to: quoted(store.columns.value.names[keys[0]]),
  };
  const said = { ...pair, value: signed(value), name: judgedName(judged, tell) };
  return (
    <p dir="auto" data-pair-worth={value}>
      {tell(Number.isNaN(value) ? "pairUnknown" : "pairWorth", said)}
    </p>
  );
}
