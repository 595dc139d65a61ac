// From a head to its page over a corpus, where the server has one.

import { useStore } from "../../frame/context";
import { useSession, useTell } from "../context";

export function Portrait() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { heads, view } = store.selection.value;
  const found =
    heads.length === 1 && view !== "studies" ? session.portraits.of(store.page, store.place) : null;
  if (!found) return null;
  return (
    <p>
      <button
        type="button"
        class="app-link"
        data-portrait={found.page}
        onClick={() => {
          session.portraits.reading.value = found;
          store.set({ view: "studies" });
        }}
      >
        {tell("portrait", { corpus: found.study.corpus ?? found.study.name })}
      </button>
    </p>
  );
}
