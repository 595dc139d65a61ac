// A box for rules beside the atlas: heads that follow one light up, and it can be saved as a pattern.

import "./rule.css";
import { useSignal } from "@preact/signals";
import { useStore } from "../frame/context";
import { SignButton } from "../frame/controls";
import { told } from "../frame/report";
import { figure } from "../marks/scales";
import type { Key } from "../words";
import { sentenceOf, useSession, useTell } from "./context";
import type { Followed, Follower } from "./records";
import type { Trouble } from "./server";

const LISTED = 5;
const EXAMPLES = ["offset = -2", "key is punctuation", "same word and not same position"];

export function Rule() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { rules } = session;
  const typed = useSignal(rules.asked.peek());
  if (store.view.id !== "atlas" || session.saved.value !== null) return null;
  const ask = (rule: string) => {
    typed.value = rule;
    rules.asked.value = rule.trim();
  };
  return (
    <section class="app-rule" aria-label={tell("ruleTitle")}>
      <h3>{tell("ruleTitle")}</h3>
      <RuleForm value={typed.value} set={(value) => (typed.value = value)} ask={ask} />
      {!rules.asked.value && (
        <p class="app-note">
          {tell("ruleHint")}{" "}
          {EXAMPLES.map((rule) => (
            <button key={rule} type="button" class="app-link" data-rule-example onClick={() => ask(rule)}>
              <code>{rule}</code>
            </button>
          ))}
        </p>
      )}
      {rules.trouble.value && <RuleTrouble trouble={rules.trouble.value} />}
      {rules.found.value && (
        <>
          <Followers found={rules.found.value} />
          <button type="button" class="plain" data-do="rule-clear" onClick={() => ask("")}>
            {tell("ruleClear")}
          </button>
          {session.server.state.value?.rules && (
            <>
              <Save />
              <p class="app-note">{tell("ruleSaveHint")}</p>
            </>
          )}
        </>
      )}
      <Saved ask={ask} />
    </section>
  );
}

interface FormProps {
  value: string;
  set: (rule: string) => void;
  ask: (rule: string) => void;
  busy?: boolean;
}

/** A line for a rule. */
export function RuleForm({ value, set, ask, busy = false }: FormProps) {
  const tell = useTell();
  return (
    <form
      class="app-rule-form"
      onSubmit={(event) => {
        event.preventDefault();
        ask(value);
      }}
    >
      <input
        type="text"
        data-field="rule"
        aria-label={tell("ruleLabel")}
        placeholder={tell("rulePlaceholder")}
        maxLength={1000}
        spellcheck={false}
        autocapitalize="off"
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <button type="submit" class="action" data-do="rule" disabled={busy || !value.trim()}>
        {tell("ruleFind")}
      </button>
    </form>
  );
}

/** What is wrong with a rule; the last lines of the sentence point at the character. */
export function RuleTrouble({ trouble }: { trouble: Trouble }) {
  const tell = useTell();
  const [sentence, ...marked] = sentenceOf(trouble, tell).split("\n");
  return (
    <div class="app-rule-trouble" role="alert" data-rule-trouble>
      <p>{sentence}</p>
      {marked.length > 0 && <pre>{marked.map((line) => line.slice(2)).join("\n")}</pre>}
    </div>
  );
}

/** The first row of a table of heads. */
export function Columns({ names }: { names: readonly Key[] }) {
  const tell = useTell();
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {tell(name)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The heads that follow a rule most, on the text that is shown. */
function Followers({ found }: { found: Followed }) {
  const store = useStore();
  const tell = useTell();
  const open = ({ kind, layer, part, head, best }: Follower) =>
    store.set({ kind, layer, part, heads: [head], queries: best ? [best[0]] : [], keys: [] });
  const several = store.kinds.length > 1;
  return (
    <div data-followed={found.heads.length}>
      {found.heads.length > 0 && (
        <table>
          <Columns names={["ruleHead", "ruleLift", "ruleShare", "ruleChance", "ruleRows"]} />
          <tbody>
            {found.heads.slice(0, LISTED).map((one) => (
              <tr key={`${one.kind} ${one.layer} ${one.part} ${one.head}`}>
                <th scope="row">
                  <button
                    type="button"
                    class="app-link"
                    data-follower={`${one.layer}.${one.head}`}
                    onClick={() => open(one)}
                  >
                    {several ? `${one.kind} ` : ""}
                    {one.layer}.{one.head}
                  </button>
                </th>
                <td>{one.lift.toFixed(2)}</td>
                <td>{one.share.toFixed(2)}</td>
                <td>{figure(one.chance, 2)}</td>
                <td>{one.rows}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.heads.length > 0 && <p class="app-note">{tell("ruleRead", { count: found.heads.length })}</p>}
      {Object.entries(found.missing).map(([kind, why]) => (
        <p key={kind} class="app-note" data-rule-missing={kind}>
          {several ? `${kind}: ` : ""}
          {told(tell, "reason", why)}
        </p>
      ))}
    </div>
  );
}

/** A name for the rule that is looked for. */
function Save() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const name = useSignal("");
  const save = async (event: Event) => {
    event.preventDefault();
    if (await session.rules.save(name.peek(), store, session.shown.peek())) {
      name.value = "";
      session.rules.asked.value = ""; // the names of the heads show it from now on
    }
  };
  return (
    <form class="app-rule-form" onSubmit={save}>
      <input
        type="text"
        data-field="rule-name"
        aria-label={tell("ruleName")}
        placeholder={tell("ruleName")}
        maxLength={40}
        value={name.value}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      <button type="submit" class="action" data-do="rule-save" disabled={!name.value.trim()}>
        {tell("ruleSave")}
      </button>
    </form>
  );
}

/** The rules that are patterns already. */
function Saved({ ask }: { ask: (rule: string) => void }) {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { rules } = session;
  if (!rules.saved.value.length) return null;
  return (
    <details class="app-note" data-saved-rules>
      <summary>{tell("ruleSaved", { count: rules.saved.value.length })}</summary>
      <ul>
        {rules.saved.value.map(({ name, rule, colour }) => (
          <li key={name} data-saved-rule={name}>
            <i style={{ background: /^#[0-9a-f]{6}$/i.test(colour) ? colour : "" }} aria-hidden="true" />{" "}
            <button type="button" class="app-link" title={rule} onClick={() => ask(rule)}>
              {name}
            </button>{" "}
            {session.server.state.value?.rules && (
              <SignButton
                sign="✕"
                words={tell("ruleForget", { name })}
                data-do="rule-forget"
                onClick={() => rules.forget(name, store, session.shown.peek())}
              />
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
