// Where two heads differ most, in a sentence and as a table.

import { largest } from "../../data/report";
import { useStore } from "../../frame/context";
import { brief } from "../../marks/scales";
import { listedName, quoted } from "../../words/quoted";
import { useSession, useTell } from "../context";
import { besides, type Cell, type Difference, otherWords, shareText } from "./difference";
import { type Heads, headName } from "./sides";

type Props = Heads & { difference: Difference };

/** A pair of tokens; where those of A and B differ, both. */
function useName({ a, b }: Heads): (cell: Cell) => string {
  const tell = useTell();
  const differ = otherWords(a, b);
  const name = (own: string[], other: string[], at: number, marked: boolean[]) =>
    marked[at] ? tell("eitherToken", { a: quoted(own[at]), b: quoted(other[at]) }) : quoted(own[at]);
  return ({ query, key }) =>
    tell("pointed", {
      query: name(a.rows.names, b.rows.names, query, differ.rows),
      key: name(a.columns.names, b.columns.names, key, differ.columns),
    });
}

/** The same in two lines: the tokens of A, and where they are others those of B. */
function Where({ a, b, cell: { query, key } }: Heads & { cell: Cell }) {
  const tell = useTell();
  const differ = otherWords(a, b);
  const of = ({ rows, columns }: Heads["a"]) =>
    tell("pointed", { query: listedName(rows.names[query]), key: listedName(columns.names[key]) });
  return (
    <>
      <span>{of(a)}</span>
      {(differ.rows[query] || differ.columns[key]) && <span class="quiet">{of(b)}</span>}
    </>
  );
}

const LITTLE = 0.25; // of what the head that differs most does

/** How much the head that is shown differs and where, and which one differs most. */
export function Verdict({ difference, every, ...heads }: Props & { every: ReadonlyMap<string, number> }) {
  const tell = useTell();
  const name = useName(heads);
  const session = useSession();
  const store = useStore();
  const { distance, cells } = difference;
  if (distance === null) return null;
  const head = [...new Set([headName(heads.a), headName(heads.b)])].join(" | ");
  const most = every.size ? largest(every) : null;
  const elsewhere = most && most.head !== head && most.value > 0 ? most : null;
  const [first] = cells;
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
        <p dir="auto">
          {tell("differMost", { head, cell: name(first), a: brief(first.a), b: brief(first.b) })}
        </p>
      )}
    </div>
  );
}

/** The cells that differ most. */
export function Most({ difference: { cells }, ...heads }: Props) {
  const tell = useTell();
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
                  <Where {...heads} cell={cell} />
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
