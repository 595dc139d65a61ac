// Where two heads differ most, in a sentence and as a table.

import { largest } from "../../data/report";
import { type Say, useStore } from "../../frame/context";
import { listedName, quoted } from "../../words/quoted";
import { useSession, useTell } from "../context";
import { besides, type Cell, type Difference, otherWords, shareText } from "./difference";
import { type Heads, headName } from "./sides";

type Props = Heads & { difference: Difference };

type Named = (own: string, other: string | null) => string;

/** A pair of tokens, each with that of B where it is another one; a token that looks at itself is named once. */
function pairIn({ a, b }: Heads, { query, key }: Cell, named: Named, tell: Say): string {
  const differ = otherWords(a, b);
  const itself = a.site.query === a.site.key && query === key;
  const to = () => named(a.columns.names[key], differ.columns[key] ? b.columns.names[key] : null);
  const from = named(a.rows.names[query], differ.rows[query] ? b.rows.names[query] : null);
  return tell("pointed", { query: from, key: itself ? tell("itself") : to() });
}

const LITTLE = 0.25; // of what the head that differs most does

/** How much the head that is shown differs and where, and which one differs most. */
export function Verdict({ difference, every, ...heads }: Props & { every: ReadonlyMap<string, number> }) {
  const tell = useTell();
  const name: Named = (a, b) =>
    b === null ? quoted(a) : tell("eitherToken", { a: quoted(a), b: quoted(b) });
  const session = useSession();
  const store = useStore();
  const { distance, cells } = difference;
  if (distance === null) return null;
  const head = [...new Set([headName(heads.a), headName(heads.b)])].join(" | ");
  const most = every.size ? largest(every) : null;
  const elsewhere = most && most.head !== head && most.value > 0 ? most : null;
  const [first] = cells;
  const [a, b] = first ? besides(first.a, first.b, Math.abs(first.a - first.b)) : ["", ""];
  const little = elsewhere && distance < LITTLE * elsewhere.value;
  const key = elsewhere ? (little ? "differsLittle" : "differsOne") : most ? "differsTop" : "differsOne";
  const none = elsewhere ? tell("differsNot", { head }) : tell("theSame");
  const open = (place: string) => {
    const [layer, number] = place.split(".").map(Number);
    session.changeOther({ layer: null, head: null });
    store.set({ layer, part: 0, heads: [number], queries: [], keys: [] });
  };
  return (
    <div class="app-verdict" data-distance={distance}>
      <b>{first ? tell(key, { head, own: shareText(distance) }) : none}</b>
      {elsewhere && (
        <button type="button" class="action" data-do="most" onClick={() => open(elsewhere.head)}>
          {tell("differsElsewhere", { head: elsewhere.head, share: shareText(elsewhere.value) })}
        </button>
      )}
      {first && (
        <p dir="auto">{tell("differMost", { head, cell: pairIn(heads, first, name, tell), a, b })}</p>
      )}
    </div>
  );
}

/** The cells that differ most. */
export function Most({ difference: { cells }, ...heads }: Props) {
  const tell = useTell();
  const name: Named = (a, b) =>
    b === null ? listedName(a) : tell("eitherInList", { a: listedName(a), b: listedName(b) });
  if (!cells.length) return null;
  const top = Math.abs(cells[0].a - cells[0].b);
  return (
    <section class="app-most">
      <table class="app-table" data-most>
        <thead>
          <tr>
            <th scope="col">{tell("cellColumn")}</th>
            {["A", "B", tell("difference")].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => {
            const [one, two, between] = besides(cell.a, cell.b, top);
            return (
              <tr key={`${cell.query} ${cell.key}`}>
                <th scope="row" class="name" dir="auto">
                  {pairIn(heads, cell, name, tell)}
                </th>
                <td class="number">{one}</td>
                <td class="number">{two}</td>
                <td
                  class={cell.a > cell.b ? "number positive" : "number negative"}
                  title={String(cell.a - cell.b)}
                >
                  {between}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
