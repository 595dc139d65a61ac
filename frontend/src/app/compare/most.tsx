// Where two heads differ most, in a sentence and as a table.

import { brief, figure, withSign } from "../../marks/scales";
import { useTell } from "../context";
import { type Cell, type Difference, otherWords } from "./difference";
import { type Heads, headName } from "./sides";

type Props = Heads & { difference: Difference };

/** A pair of tokens; where those of A and B differ, both. */
function useName({ a, b }: Heads): (cell: Cell) => string {
  const tell = useTell();
  const differ = otherWords(a, b);
  const name = (own: string[], other: string[], at: number, marked: boolean[]) =>
    marked[at] ? `${own[at]}/${other[at]}` : own[at];
  return ({ query, key }) =>
    tell("pointed", {
      query: name(a.rows.names, b.rows.names, query, differ.rows),
      key: name(a.columns.names, b.columns.names, key, differ.columns),
    });
}

/** Where they differ most, and how much on average. */
export function Verdict({ difference, ...heads }: Props) {
  const tell = useTell();
  const name = useName(heads);
  const { distance, cells } = difference;
  if (distance === null) return null;
  if (!cells.length)
    return (
      <p class="app-verdict" data-distance={0}>
        {tell("theSame")}
      </p>
    );
  const [most] = cells;
  const head = [...new Set([headName(heads.a), headName(heads.b)])].join(" | ");
  return (
    <p class="app-verdict" data-distance={distance}>
      <b dir="auto">{tell("differMost", { head, cell: name(most), a: brief(most.a), b: brief(most.b) })}</b>{" "}
      <span class="quiet">{tell("differsBy", { share: figure(distance, 2) })}</span>
    </p>
  );
}

/** The cells that differ most. */
export function Most({ difference: { cells }, ...heads }: Props) {
  const tell = useTell();
  const name = useName(heads);
  if (!cells.length) return null;
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
          {cells.map((cell) => (
            <tr key={`${cell.query} ${cell.key}`}>
              <th scope="row" class="name" dir="auto">
                {name(cell)}
              </th>
              <td class="number">{brief(cell.a)}</td>
              <td class="number">{brief(cell.b)}</td>
              <td class={cell.a > cell.b ? "number positive" : "number negative"}>
                {withSign(cell.a - cell.b)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
