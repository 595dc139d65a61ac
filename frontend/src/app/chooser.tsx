// What lines are judged by, chosen: the likeliest next tokens, the labels, the hidden word's predictions.

import { bare } from "../compute/axis";
import { judgedName, useStore } from "../frame/context";
import { NOT_JUDGED } from "./address";
import { sentenceOf, useSession, useTell } from "./context";

/** A choice, as the value of an option. */
const optionOf = (position: number | null, token: string | null): string => JSON.stringify([position, token]);

export function Chooser() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const trouble = session.judge.trouble.value;
  if (!store.selection.value.worth)
    return (
      trouble && <span data-judging="refused">{tell("noWorth", { why: sentenceOf(trouble, tell) })}</span>
    );
  const { judged } = store;
  if (!judged)
    return (
      <span class="quiet" data-judging="waiting">
        {tell(session.judges.value === null ? "judgePin" : "judging")}
      </span>
    );
  const said = session.says.found.value;
  const rows = said && said.about === judged.about ? said.rows : [];
  const shown = optionOf(judged.position, judged.name);
  const known = rows.some(({ name }) => optionOf(said!.position, name) === shown);
  if (!rows.length) return null; // a score, or a similarity: there is nothing to choose from
  const choose = (value: string) => {
    const [position, token] = JSON.parse(value) as [number | null, string];
    session.change({ judged: { ...NOT_JUDGED, position, token } });
  };
  return (
    <label>
      {tell("judgeFor")}{" "}
      <select data-control="judged" value={shown} onChange={(event) => choose(event.currentTarget.value)}>
        {!known && <option value={shown}>{judgedName(judged, tell)}</option>}
        {rows.map(({ name, before }) => (
          <option key={name} value={optionOf(said!.position, name)}>
            {bare(name)} {before === null ? "" : `(${before.toFixed(2)})`}
          </option>
        ))}
      </select>
    </label>
  );
}
