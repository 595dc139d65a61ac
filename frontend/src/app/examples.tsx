// Sentences to click, each with what to look for.

import { useSession, useTell } from "./context";
import { Popover } from "./popover";
import type { Example, ModelRecord } from "./records";

export function Examples() {
  const session = useSession();
  const tell = useTell();
  const all = suited(session.server.state.value?.examples ?? [], session.model.value);
  if (!all.length) return null;
  return (
    <Popover name="examples" label={<>{tell("examples")} ▾</>} title={tell("examplesHint")}>
      {(close) => (
        <ul class="app-examples">
          {all.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                data-example={one.id}
                onClick={() => {
                  session.show(one.id);
                  close();
                }}
              >
                <span class="app-sentence" dir="auto">
                  {[one.text, one.pair].filter(Boolean).join("  ·  ")}
                </span>
                <span class="app-note">{one.look[session.language.value]}</span>
                <span class="app-model">{one.model ?? session.model.value?.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}

/** The examples of this model first; one for its family where it has none. */
export function suited(examples: Example[], model: ModelRecord | null): Example[] {
  const own = examples.filter((one) => one.model === model?.name);
  const family = examples.filter((one) => one.model === null && one.family === model?.about?.family);
  const others = examples.filter((one) => one.model !== null && !own.includes(one));
  return [...(own.length ? own : family), ...others];
}
