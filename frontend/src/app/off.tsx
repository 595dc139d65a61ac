// The heads that are switched off, and how.

import { isKey, together } from "../words";
import { placeName } from "./address";
import { useSession, useTell } from "./context";

export function Off() {
  const session = useSession();
  const tell = useTell();
  const { off, mode } = session.ask.value;
  const { modes = [mode] } = session.model.value?.about ?? {};
  const { sentences: count = 0 } = session.server.state.value ?? {};
  const several = new Set(off.map(({ kind }) => kind)).size > 1 || off.some(({ kind }) => kind === "cross");
  const nameOf = (one: string) => {
    const key = `mode_${one}`;
    return isKey(key) ? tell(key) : one;
  };
  const key = `modeHint_${mode}`;
  const hint = isKey(key) ? tell(key, { count }) : "";
  return (
    <div class="app-off" data-off>
      <span class="app-off-title">{tell("off")}</span>
      {off.map((place) => (
        <button
          key={placeName(place)}
          type="button"
          class="app-chip"
          data-off-head={placeName(place)}
          title={tell("turnOn", { layer: place.layer, head: place.head })}
          onClick={() => session.switching(place)}
        >
          {several ? placeName(place) : `${place.layer}.${place.head}`}{" "}
          <span class="unseen">{tell("turnOn", { layer: place.layer, head: place.head })}</span>
          <span aria-hidden="true">✕</span>
        </button>
      ))}
      <label title={hint || tell("modeHint")}>
        {tell("mode")}{" "}
        <select
          value={mode}
          data-control="mode"
          onChange={(event) => session.change({ mode: event.currentTarget.value })}
        >
          {modes.map((one) => (
            <option key={one} value={one}>
              {nameOf(one)}
            </option>
          ))}
        </select>
      </label>
      <span class="app-note">{together(hint, tell("offShown"))}</span>
      <button type="button" class="plain" data-do="on" onClick={() => session.change({ off: [] })}>
        {tell("allOn")}
      </button>
      {session.store.value?.selection.value.view === "walk" && (
        <span class="app-note">{tell("offWalk")}</span>
      )}
    </div>
  );
}
