// From a head to its page over a corpus, where the server has one, and to what else makes it do this.

import { useStore } from "../../frame/context";
import { nearestPage } from "../api";
import { useSession, useTell } from "../context";
import { folderOf, hasVectors, type Reading } from "./portraits";

export function Portrait() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { heads, view } = store.selection.value;
  const found =
    heads.length === 1 && view !== "studies" ? session.portraits.of(store.page, store.place) : null;
  if (!found) return null;
  const read = (reading: Reading) => {
    session.portraits.reading.value = reading;
    store.set({ view: "studies" });
  };
  const corpus = found.study.corpus ?? found.study.name;
  return (
    <>
      <p>
        <button type="button" class="app-link" data-portrait={found.page} onClick={() => read(found)}>
          {tell("portrait", { corpus })}
        </button>
      </p>
      {hasVectors(found.study) && <Nearest found={found} read={read} />}
    </>
  );
}

/** What else in the corpus is like the pinned query, or key, of the head that is shown. */
function Nearest({ found, read }: { found: Reading; read: (reading: Reading) => void }) {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { queries, keys } = store.selection.value;
  const { kind, layer, head } = store.place;
  const id = session.shown.value?.id;
  const [query] = queries.length ? queries : keys;
  if (!id || query === undefined) return <p class="app-hint">{tell("nearestHow")}</p>;
  const side = queries.length ? "q" : "k";
  const site = store.site.value;
  const token = store.page.sides.get(side === "q" ? site.query : site.key)?.text[query] ?? String(query);
  const study = decodeURIComponent(folderOf(found.study))
    .replace(/^\/studies\//, "")
    .replace(/\/$/, "");
  const asked = { study, kind, layer, heads: head, query, side, page: found.page ?? "" };
  return (
    <p>
      <button
        type="button"
        class="app-link"
        data-nearest={side}
        onClick={() => read({ ...found, address: nearestPage(id, asked) })}
      >
        {tell(side === "q" ? "nearestQuery" : "nearestKey", { token })}
      </button>
    </p>
  );
}
