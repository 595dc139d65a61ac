// In the inspector: the button that cuts what is pinned.

import { useStore } from "../../frame/context";
import { type Edges, sameEdges } from "../../state/edges";
import type { Store } from "../../state/store";
import { quoted } from "../../words/quoted";
import { useSession, useTell } from "../context";

/** Cut these looks, or restore them; `of` names their head where several are shown. */
export function Cutting({ edges, of }: { edges: Edges; of: string | null }) {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const isCut = session.ask.value.cut.some((one) => sameEdges(one, edges));
  const { queries, keys } = store.selection.value;
  const key =
    queries.length === 1 && keys.length === 1
      ? "cutLook"
      : queries.length === 1 && !keys.length
        ? "cutRow"
        : keys.length === 1 && !queries.length
          ? "cutColumn"
          : "cutBlock";
  const ends = endsOf(store, edges, quoted);
  return (
    <button
      type="button"
      class="action"
      data-do={isCut ? "restore" : "cut"}
      title={tell("cutHint", { head: `${edges.layer}.${edges.head}` })}
      onClick={() => session.cutting(edges)}
    >
      {isCut ? tell("cutRestore") : tell(key, { query: ends.from, key: ends.to })}
      {of !== null && ` · ${of}`}
    </button>
  );
}

/** Both ends of some looks by their tokens, as a sentence or a list has them; "" stands for all. */
export function endsOf(
  store: Store,
  { kind, queries, keys }: Edges,
  write: (name: string) => string,
): { from: string; to: string } {
  const site = store.page.sites.find((one) => one.kind === kind);
  const named = (side: string | undefined, list: readonly number[]) => {
    const names = side === undefined ? [] : store.lenses.axis(side, "tokens").names;
    return list.map((at) => write(names[at] ?? "")).join(" ");
  };
  return { from: named(site?.query, queries), to: named(site?.key, keys) };
}
