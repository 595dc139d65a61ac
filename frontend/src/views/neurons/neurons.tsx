// The neuron view: for one query, its vector, every key's, their products, scores and softmax.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Lens } from "../../compute/lens";
import { useSay, useStore } from "../../frame/context";
import { Notice } from "../../frame/notice";
import { stepFor } from "../../walk/order";
import { listedName, parted } from "../../words/quoted";
import { HEAD } from "./columns";
import { expand } from "./expanded";
import { pairOf } from "./pair";
import { Pairs } from "./pinned";
import { countingSaid, ledeOf, legendOf } from "./said";
import { Sheet } from "./sheet";

export function Neurons() {
  const store = useStore();
  const tell = useSay();
  const vectors = store.site.value.q !== null;
  useEffect(() => {
    const { queries, level } = store.selection.peek();
    const first = store.rows.peek().special.indexOf(false);
    // Vectors belong to tokens; and an expanded table explains itself better than a closed one.
    if (level !== "tokens") store.set({ level: "tokens" });
    if (queries.length || !vectors) return undefined;
    const own = Math.max(0, first);
    store.set({ queries: [own] });
    return () => {
      // What nobody chose is not left pinned in the next view.
      const left = store.selection.peek().queries;
      if (left.length === 1 && left[0] === own) store.set({ queries: [] });
    };
  }, [store]);
  if (!vectors) return <Notice text={tell("noVectors")} />;
  if (store.look.value.level !== "tokens") return <div class="stage" />;
  return <Table />;
}

function Table() {
  const store = useStore();
  const tell = useSay();
  const lens = store.lens(store.lead);
  const { queries } = store.selection.value;
  const query = queries.at(-1) ?? null;
  const row = useSignal(0);
  const beat = (height: number) => {
    row.value = height;
  };
  return (
    <div class="stage">
      {query !== null && <Lede lens={lens} query={query} />}
      <div class="legend with-tools">
        <p>{legendOf(lens, query === null ? null : expand(lens, query, false), tell)}</p>
        <label class="check" title={tell("orderHint")}>
          <input
            type="checkbox"
            data-control="ordered"
            checked={store.ordered.value}
            onChange={(event) => (store.ordered.value = event.currentTarget.checked)}
          />{" "}
          {tell("orderNeurons")}
        </label>
        <ToWalk />
      </div>
      <div class="neurons" style={{ "--row": `${row.value}px`, "--head": `${HEAD}px` }}>
        <Queries query={query} />
        <Sheet lens={lens} query={query} beat={beat} />
      </div>
      <Pairs lens={lens} />
    </div>
  );
}

/** What the table shows, in a sentence: the key that agrees best with the query, and the neurons that make it so. */
function Lede({ lens, query }: { lens: Lens; query: number }) {
  const store = useStore();
  const tell = useSay();
  const shown = expand(lens, query, false);
  const pair = pairOf(store);
  const counting = countingSaid(shown, pair?.[0] === query ? pair[1] : shown.best, tell);
  return (
    <>
      <p class="agrees" dir="auto" data-best={shown.best}>
        {ledeOf(shown, tell)}
      </p>
      {counting && (
        <p class="counting" dir="auto">
          {counting}
        </p>
      )}
    </>
  );
}

/** Back to the step that led here, where the page has a walk through this layer. */
function ToWalk() {
  const store = useStore();
  const tell = useSay();
  const { walk } = store.page;
  const { kind, layer, step } = store.selection.value;
  if (!walk || walk.header.layer !== layer) return null;
  const back = () => store.set({ view: "walk", heads: [store.lead], step: stepFor(walk, kind, step) });
  return (
    <button type="button" class="plain" data-go="walk" onClick={back}>
      ← {tell("toWalk")}
    </button>
  );
}

function Queries({ query }: { query: number | null }) {
  const store = useStore();
  const tell = useSay();
  const { names } = store.rows.value;
  return (
    <ul class="queries" aria-label={tell("queryColumn")}>
      <li class="quiet" aria-hidden="true">
        {tell("queriesHere")}
      </li>
      {names.map((text, position) => {
        const open = position === query;
        return (
          <li key={position}>
            <button
              type="button"
              class={open ? "open" : ""}
              data-query={position}
              aria-expanded={open}
              aria-label={tell(open ? "collapse" : "expand", { text })}
              title={text}
              onClick={() => store.set({ queries: open ? [] : [position] })}
            >
              <Name text={text} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** A token of the list, its position in the sans face. */
function Name({ text }: { text: string }) {
  const [own, index] = parted(listedName(text));
  return (
    <bdi>
      {own}
      <span class="index">{index}</span>
    </bdi>
  );
}
