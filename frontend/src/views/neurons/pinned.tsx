// Pairs of a query and a key that were pinned: their products, neuron by neuron.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Lens } from "../../compute/lens";
import { useSay, useStore } from "../../frame/context";
import { canvasPen, prepare } from "../../marks/pen";
import { even, strip } from "../../marks/vectors";
import { addedTo, expand } from "./expanded";
import { togglePair } from "./pair";

/** Pairs of other queries, kept to be compared with the rows of this one. */
export function Pairs({ lens }: { lens: Lens }) {
  const store = useStore();
  const tell = useSay();
  const { pairs, queries } = store.selection.value;
  const open = queries.at(-1);
  if (pairs.every(([query]) => query === open)) return null; // they are marked in the table
  return (
    <section class="pairs">
      <h3>{tell("pairs")}</h3>
      {pairs.map(([query, key]) => (
        <div key={`${query} ${key}`} class="pair">
          <span class="name" dir="auto">
            {tell("cell", {
              query: lens.rows.names[query],
              key: lens.columns.names[key],
            })}
          </span>
          <PairStrip lens={lens} query={query} key_={key} />
          <button
            type="button"
            class="plain"
            aria-label={tell("unpin")}
            onClick={() => togglePair(store, query, key)}
          >
            ✕
          </button>
        </div>
      ))}
    </section>
  );
}

function PairStrip({ lens, query, key_ }: { lens: Lens; query: number; key_: number }) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const ordered = store.ordered.value;
  useLayoutEffect(() => {
    const shown = expand(lens, query, ordered);
    const d = shown.order.length;
    const cell = Math.min(8, 460 / d);
    const pen = canvasPen(prepare(canvas.current!, d * cell, 16));
    strip(pen, addedTo(shown, key_), shown.order, even(d, cell), 0, 0, 16, shown.sizes.product);
  }, [lens, query, key_, ordered, store.theme.value]);
  return <canvas ref={canvas} aria-hidden="true" />;
}
