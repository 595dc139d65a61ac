// What the pointer says, the same in every view: store₁₀ → the₉ · 0.99 · 20 x chance · head 0.2; of a map among all
// heads, what its head does: head 0.2 · It looks one token back.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { positionOf } from "../compute/axis";
import { chanceOf } from "../compute/digest";
import { FEW, mean } from "../compute/mean";
import { sizeOf } from "../compute/worth";
import { isKnown, nameOf } from "../data/report";
import { brief, signed } from "../marks/scales";
import { covers } from "../state/edges";
import { samePlace } from "../state/selection";
import { shownBy } from "../state/shown";
import type { Store } from "../state/store";
import { together } from "../words";
import { listedName } from "../words/quoted";
import { judgedName, sayIn, useStore } from "./context";
import { ledeOf } from "./report";

/** Beside the pointer, or the token that has the focus. */
export function Tip({ root }: { root: RefObject<HTMLElement | null> }) {
  const store = useStore();
  const at = useSignal({ x: 0, y: 0, width: 0, height: 0 });
  useEffect(() => {
    const element = root.current!;
    const abort = new AbortController();
    const place = (x: number, y: number) => {
      const box = element.getBoundingClientRect();
      at.value = { x: x - box.left, y: y - box.top, width: box.width, height: box.height };
    };
    const pointed = (event: PointerEvent) => place(event.clientX, event.clientY);
    const focused = ({ target }: FocusEvent) => {
      if (!(target as HTMLElement).matches(".stage button:focus-visible")) return;
      const box = (target as HTMLElement).getBoundingClientRect();
      place(box.right, box.bottom);
    };
    element.addEventListener("pointermove", pointed, { signal: abort.signal, passive: true });
    element.addEventListener("pointerdown", pointed, { signal: abort.signal, passive: true });
    element.addEventListener("focusin", focused, { signal: abort.signal });
    return () => abort.abort();
  }, [store]);
  const text = tipOf(store);
  if (!text) return null;
  const { x, y, width, height } = at.value;
  const narrow = store.narrow.value;
  const right = !narrow && x > width / 2;
  const below = y < height - 60;
  return (
    <div
      class="tip"
      role="status"
      style={{
        [right ? "right" : "left"]: `${Math.max(8, narrow ? 8 : right ? width - x + 12 : x + 14)}px`,
        [below ? "top" : "bottom"]: `${below ? y + (narrow ? 30 : 18) : height - y + 12}px`,
      }}
    >
      {text}
    </div>
  );
}

interface Found {
  query: number;
  key: number;
  value: number;
  head: number | null; // null: the mean of all that are chosen
}

/** The sentence about the pair under the pointer; of one token, about its strongest look; of a map, about its head. */
export function tipOf(store: Store): string | null {
  return headTip(store) ?? pairTip(store);
}

function headTip(store: Store): string | null {
  const cell = store.pointed.value;
  if (!cell || store.enlarged.value) return null;
  const tell = sayIn(store);
  const { kind, layer } = cell.site;
  const parts = [tell("tipHead", { layer, head: cell.head })];
  if (store.off.value.some((one) => samePlace(one, { kind, layer, head: cell.head })))
    parts.push(tell("isOff"));
  const change = store.byChange && store.changes.value?.get(nameOf(cell));
  if (typeof change === "number")
    parts.push(tell(change ? "changedBy" : "unchanged", { value: brief(change) }));
  if (isKnown(store.page)) parts.push(together(...ledeOf(store, cell, tell)));
  return parts.join(" · ");
}

function pairTip(store: Store): string | null {
  const found = foundOf(store);
  if (!found) return null;
  const tell = sayIn(store);
  const { query, key, value, head } = found;
  const { layer } = store.site.value;
  const heads = chosenOf(store);
  const pair = {
    from: listedName(store.rows.value.names[query]),
    to: listedName(store.columns.value.names[key]),
  };
  const { contributions, relative, worth } = store.look.value;
  const parts = [];
  if (worth) {
    const said = { ...pair, value: signed(value), name: judgedName(store.judged!, tell) };
    parts.push(tell(Number.isNaN(value) ? "tipUnknown" : "tipWorth", said));
    parts.push(tell("tipWeight", { value: brief(weightOf(store, head, query, key)) }));
  } else parts.push(tell("tipPair", { ...pair, value: brief(value) }));
  if (store.columns.value.folded[key] && !worth)
    parts.push(tell(store.look.value.averaged ? "foldedMean" : "foldedSum"));
  // Contributions and worth have no chance level; a share of the row has.
  const chance =
    worth || (contributions && !relative) ? null : chanceOf(store.lens(head ?? heads[0]), query, key);
  if (chance) parts.push(tell("tipChance", { times: timesOf(value / chance) }));
  parts.push(
    head === null ? tell("tipHeads", { layer, count: heads.length }) : tell("tipHead", { layer, head }),
  );
  const place = { kind: store.site.value.kind, layer, head: head ?? -1 };
  const tokens = { query: store.rows.value.starts[query], key: store.columns.value.starts[key] };
  if (covers(store.cut.value, { ...place, ...tokens })) parts.push(tell("cutIs"));
  return parts.join(" · ");
}

/** The attention behind a line, of one head or the mean of all that are chosen. */
function weightOf(store: Store, head: number | null, query: number, key: number): number {
  const site = store.site.value;
  const { level, folds } = store.look.value;
  const heads = head === null ? chosenOf(store) : [head];
  const plain = { level, folds, contributions: false, relative: false };
  const of = (one: number) => store.lenses.of(site, site.heads.indexOf(one), plain);
  return heads.reduce((sum, one) => sum + of(one).row(query)[key], 0) / heads.length;
}

const timesOf = (ratio: number): string =>
  ratio >= 9.5 ? String(Math.round(ratio)) : ratio >= 0.1 ? ratio.toFixed(1).replace(/\.0$/, "") : "< 0.1";

const chosenOf = (store: Store): number[] =>
  store.view.heads === "some" && store.selection.value.heads.length
    ? store.selection.value.heads
    : [store.lead];

function foundOf(store: Store): Found | null {
  const { query: overQuery, key: overKey, head } = store.hover.value;
  if (overQuery === null && overKey === null) return null;
  const { queries, keys } = store.selection.value;
  const [rows, columns] = [store.rows.value, store.columns.value];
  // One token under the pointer and one pinned on the other side are a pair.
  const query = overQuery ?? (queries.length === 1 ? positionOf(rows, queries[0]) : null);
  const key = overKey ?? (keys.length === 1 ? positionOf(columns, keys[0]) : null);
  if ((query ?? 0) >= rows.count || (key ?? 0) >= columns.count) return null;
  const shown = shownBy(rows, columns, store.selection.value);
  const candidates = key !== null ? [key] : shown.columns.list;
  const heads = head === undefined ? chosenOf(store) : [head];
  const arrays = heads.map((one) =>
    query === null ? store.lens(one).column(key!) : store.lens(one).row(query),
  );
  const many = heads.length > FEW;
  let best: Found | null = null;
  (many ? [mean(arrays)] : arrays).forEach((values, h) => {
    for (const p of query === null ? shown.rows.list : candidates)
      if (!best || sizeOf(values[p]) > sizeOf(best.value))
        best = {
          query: query ?? p,
          key: query === null ? key! : p,
          value: values[p],
          head: many ? null : heads[h],
        };
  });
  return best;
}
