// Search for a token, and go to where it is looked at most.

import { useComputed, useSignal } from "@preact/signals";
import { matching, strongestLook } from "../../compute/looks";
import { useSay, useStore } from "../../frame/context";
import { SignButton } from "../../frame/controls";
import { figure } from "../../marks/scales";
import type { PlotState } from "./plot";

export function FindToken({ plot }: { plot: PlotState | null }) {
  const store = useStore();
  const tell = useSay();
  const text = useSignal("");
  const place = useSignal(-1); // among those found; -1 before the first
  const lens = useComputed(() => store.lens(store.lead));
  const places = useComputed(() => matching(lens.value, text.value));
  const key = useComputed<number | undefined>(() => places.value[place.value]);
  const look = useComputed(() => (key.value === undefined ? null : strongestLook(lens.value, key.value)));
  const next = () => {
    const count = places.value.length;
    if (!count || !plot) return;
    place.value = (place.value + 1) % count;
    const at = key.value!;
    plot.show(look.value?.query ?? at, at);
    const queries = look.value ? [lens.value.rows.starts[look.value.query]] : [];
    store.set({ queries, keys: [lens.value.columns.starts[at]], pairs: [] });
  };
  const said = () => {
    const all = places.value.length;
    if (!all) return tell("findNone");
    if (place.value < 0) return tell("findCount", { all });
    const at = { n: place.value + 1, all };
    if (!look.value) return tell("findUnseen", at);
    const { query, value } = look.value;
    return tell("findLooked", { ...at, query: lens.value.rows.names[query], value: figure(value, 2) });
  };
  return (
    <form
      class="find-token"
      onSubmit={(event) => {
        event.preventDefault();
        next();
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
      <SignButton type="submit" sign="↓" words={tell("findNext")} data-find="next" />
      <span role="status">{text.value.trim() && said()}</span>
    </form>
  );
}
