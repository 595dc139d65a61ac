// Which model looks: those of the list, and any other by its name or folder where the server allows it.

import { useSignal } from "@preact/signals";
import type { Say } from "../frame/context";
import { sentenceOf, useSession, useTell } from "./context";
import { Popover } from "./popover";
import type { ModelRecord } from "./records";
import { type Trouble, troubleOf } from "./server";

export function Models() {
  const session = useSession();
  const tell = useTell();
  const server = session.server.state.value;
  const current = session.model.value?.name ?? session.ask.value.model ?? server?.default ?? "…";
  return (
    <Popover
      name="models"
      title={tell("chooseModel")}
      label={
        <>
          <span class="unseen">
            {tell("chooseModel")}
            {tell("colon")}
          </span>
          {current} <span aria-hidden="true">▾</span>
        </>
      }
    >
      {(close) => (
        <>
          <ul class="app-models" aria-label={tell("models")}>
            {(server?.models ?? []).map((one) => (
              <li key={one.name}>
                <button
                  type="button"
                  data-model={one.name}
                  aria-current={one.name === current ? "true" : undefined}
                  onClick={() => {
                    session.choose(one.name);
                    close();
                  }}
                >
                  <b>{one.name}</b>
                  <span class="app-model">{stateOf(one, tell)}</span>
                  <span class="app-note">{one.state === "failed" ? whyNot(one, tell) : one.note}</span>
                </button>
              </li>
            ))}
          </ul>
          <Another close={close} />
        </>
      )}
    </Popover>
  );
}

const stateOf = ({ state, about }: ModelRecord, tell: Say): string =>
  about ? `${(about.parameters / 1e6).toPrecision(2)} M` : tell(`state_${state}`);

const whyNot = ({ code = "", message = "", values }: ModelRecord, tell: Say): string =>
  sentenceOf({ code, message, values }, tell);

function Another({ close }: { close: () => void }) {
  const session = useSession();
  const tell = useTell();
  const name = useSignal("");
  const trouble = useSignal<Trouble | null>(null);
  const load = async (event: Event) => {
    event.preventDefault();
    if (!name.value.trim()) return;
    trouble.value = null;
    try {
      await session.load(name.value.trim());
      close();
    } catch (error) {
      trouble.value = troubleOf(error);
    }
  };
  return (
    <form class="app-another" onSubmit={load}>
      <label>
        {tell("loadAnother")}{" "}
        <input
          type="text"
          data-field="model"
          placeholder={tell("nameOrFolder")}
          value={name.value}
          spellcheck={false}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      </label>{" "}
      <button type="submit" data-do="load" disabled={session.server.loading.value !== null}>
        {tell("load")}
      </button>
      {trouble.value ? (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble.value, tell)}
        </p>
      ) : (
        !session.server.state.value?.download && <p class="app-note">{tell("onlyListed")}</p>
      )}
    </form>
  );
}
