// A box for rules below a study of heads: the study's model reads its corpus again, and heads are ranked.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { figure } from "../../marks/scales";
import * as api from "../api";
import { useSession, useTell } from "../context";
import { Latest } from "../latest";
import { Columns, RuleForm, RuleTrouble } from "../rule";
import { type Trouble, troubleOf } from "../server";
import type { FoundHeads, StudyRecord } from "./records";

const LISTED = 10;
const two = (value: number | null): string => (value === null ? "–" : value.toFixed(2));

export function StudyRule({ study }: { study: StudyRecord }) {
  const tell = useTell();
  const session = useSession();
  const typed = useSignal("");
  const found = useSignal<FoundHeads | null>(null);
  const trouble = useSignal<Trouble | null>(null);
  const latest = useRef(new Latest());
  useEffect(() => () => latest.current.stop(), []);
  const ask = async (rule: string) => {
    [found.value, trouble.value] = [null, null];
    try {
      found.value = (await latest.current.ask((signal) => api.findIn(study.name, rule, signal))) ?? null;
    } catch (error) {
      trouble.value = troubleOf(error);
    }
  };
  const most = session.server.state.value?.limits.found ?? 0;
  const busy = latest.current.working.value;
  return (
    <details class="app-rule" data-study-rule={study.name}>
      <summary>{tell("ruleStudy")}</summary>
      <RuleForm value={typed.value} set={(value) => (typed.value = value)} ask={ask} busy={busy} />
      <p class="app-note" role="status">
        {busy ? tell("working") : tell("ruleStudyHint", { most })}
      </p>
      {trouble.value && <RuleTrouble trouble={trouble.value} />}
      {found.value && <Ranked found={found.value} />}
    </details>
  );
}

const COLUMNS = ["ruleHead", "ruleLift", "ruleInterval", "ruleHeld", "ruleChance", "ruleRows"] as const;

function Ranked({ found }: { found: FoundHeads }) {
  const tell = useTell();
  const session = useSession();
  const several = new Set(found.heads.map(({ kind }) => kind)).size > 1;
  return (
    <div data-ranked={found.heads.length}>
      <table>
        <Columns names={COLUMNS} />
        <tbody>
          {found.heads.slice(0, LISTED).map((one) => (
            <tr key={`${one.kind} ${one.layer} ${one.head}`}>
              <th scope="row">
                <button
                  type="button"
                  class="app-link"
                  onClick={() =>
                    session.openHead(
                      found.model,
                      `view=heads&kind=${one.kind}&layer=${one.layer}&heads=${one.head}`,
                    )
                  }
                >
                  {several ? `${one.kind} ` : ""}
                  {one.layer}.{one.head}
                </button>
              </th>
              <td>{two(one.lift)}</td>
              <td>{one.low === null ? "–" : `${two(one.low)}–${two(one.high)}`}</td>
              <td>{two(one.held_out)}</td>
              <td>{one.chance === null ? "–" : figure(one.chance, 2)}</td>
              <td>{one.rows}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.examples.map((one) => (
        <Example key={one.text} {...one} />
      ))}
      <p class="app-note">{[tell("ruleStudyDone", { count: found.inputs }), ...found.notes].join(" ")}</p>
    </div>
  );
}

/** A text in which the first head follows the rule: its query and its key are marked. */
function Example({ attention, text, query_at, key_at }: FoundHeads["examples"][number]) {
  const marks = [query_at, key_at].sort(([a], [b]) => a - b);
  const [first, second] = marks[0][0] === marks[1][0] ? [marks[0], null] : marks;
  return (
    <p class="app-note" dir="auto">
      <b>{attention.toFixed(2)}</b> {text.slice(0, first[0])}
      <mark>{text.slice(...first)}</mark>
      {second ? (
        <>
          {text.slice(first[1], second[0])}
          <mark>{text.slice(...second)}</mark>
          {text.slice(second[1])}
        </>
      ) : (
        text.slice(first[1])
      )}
    </p>
  );
}
