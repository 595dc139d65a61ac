// Search for a token, and go to where it is looked at most.

import { useSignal } from "@preact/signals";
import { matching, strongestLook } from "../../compute/looks";
import { useSay, useStore } from "../../frame/context";
import { figure } from "../../marks/scales";
import type { PlotState } from "./plot";

export function FindToken({ plot }: { plot: PlotState | null }) {
  const store = useStore();
  const tell = useSay();
  const text = useSignal("");
  const place = useSignal(-1); // among those found; -1 before the first
  const lens = store.lens(store.lead);
  const places = matching(lens, text.value);
  const look = places[place.value] === undefined ? null : strongestLook(lens, places[place.value]);
  const next = (step: number) => {
    if (!places.length || !plot) return;
    place.value = (Math.max(place.value, step > 0 ? -1 : 0) + step + places.length) % places.length;
    const found = strongestLook(lens, places[place.value]);
    const key = places[place.value];
    plot.show(found?.query ?? key, key);
    const queries = found ? [lens.rows.starts[found.query]] : [];
    store.set({ queries, keys: [lens.columns.starts[key]], pairs: [] });
  };
  const said = () => {
    if (!places.length) return tell("findNone");
    if (place.value < 0) return tell("findCount", { all: places.length });
    const at = { n: place.value + 1, all: places.length };
    if (!look) return tell("findUnseen", at);
    return tell("findLooked", { ...at, query: lens.rows.names[look.query], value: figure(look.value, 2) });
  };
  return (
    <form
      class="find-token"
      onSubmit={(event) => {
        event.preventDefault();
        next(1);
      }}
    >
      <input
        type="search"
        data-find="text"
        value={text.value}
        aria-label={tell("findToken")}
        placeholder={tell("findToken")}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          place.value = -1;
        }}
      />
      <button
        type="submit"
        class="plain"
        data-find="next"
        aria-label={tell("findNext")}
        title={tell("findNext")}
      >
        ↓
      </button>
      <span role="status">{text.value.trim() && said()}</span>
    </form>
  );
}
