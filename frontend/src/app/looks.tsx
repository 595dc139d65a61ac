// What can be asked of the looks that are pinned: why there, and what changes without them.

import { useStore } from "../frame/context";
import { type Edges, type Look, pinnedEdges, pinnedPair, sameLook } from "../state/edges";
import type { Store } from "../state/store";
import { useSession, useTell } from "./context";
import { Cutting } from "./cut/cutting";
import { WhyThere } from "./why/ask";
import { placed } from "./why/sentences";

export function Looks() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { heads, Report } = store.view;
  if (heads === "all" || Report || session.saved.value !== null || !session.model.value?.about) return null;
  const edges = edgesOf(store);
  if (!edges) return null;
  const look = lookOf(store);
  const asked = look !== null && session.why.asked.value.some((one) => sameLook(one, look));
  const token = (side: string, at: number) => placed(store.page.sides.get(side)!.text[at], at);
  const { query, key } = store.site.value;
  const several = heads === "some" && store.selection.value.heads.length > 1;
  const head = `${edges.layer}.${edges.head}`;
  return (
    <section class="app-looks">
      <p class="buttons">
        {look && (
          <button
            type="button"
            class="action"
            data-do="why"
            disabled={asked}
            title={tell("whyAskHint", { query: token(query, look.query), key: token(key, look.key) })}
            onClick={() => session.askWhy(look)}
          >
            {tell("whyAsk")}
            {several && ` · ${head}`}
          </button>
        )}
        {session.model.value.about.cuts.length > 0 && <Cutting edges={edges} of={several ? head : null} />}
      </p>
      {look && <WhyThere look={look} />}
    </section>
  );
}

const leadOf = (store: Store) => {
  const { kind, layer } = store.site.value;
  return { kind, layer, head: store.lead };
};

/** The looks of the leading head that the pins mean. */
export const edgesOf = (store: Store): Edges | null =>
  pinnedEdges(leadOf(store), store.selection.value, store.rows.value, store.columns.value);

/** The one look that is pinned; between two words, the strongest of their tokens. */
export function lookOf(store: Store): Look | null {
  const edges = edgesOf(store);
  if (!edges || !pinnedPair(store.selection.value, store.rows.value, store.columns.value)) return null;
  const site = store.site.value;
  const plain = { level: "tokens", contributions: false, relative: false } as const;
  const lens = store.lenses.of(site, site.heads.indexOf(store.lead), plain);
  let best: Look | null = null;
  let most = -1;
  for (const query of edges.queries) {
    const row = lens.row(query);
    for (const key of edges.keys)
      if (row[key] > most) {
        best = { ...leadOf(store), query, key };
        most = row[key];
      }
  }
  return best;
}
