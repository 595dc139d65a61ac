// Sentences to click, each with what to look for.

import { useSession, useTell } from "./context";
import { Popover } from "./popover";

export function Examples() {
  const session = useSession();
  const tell = useTell();
  const all = session.server.state.value?.examples ?? [];
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
                <span class="app-model">{one.model}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}
