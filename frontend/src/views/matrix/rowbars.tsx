// The chosen row of a map as bars: exact lengths beside colours.

import { useRef } from "preact/hooks";
import { positionOf } from "../../compute/axis";
import { restsOf } from "../../compute/rest";
import { sizeOf } from "../../compute/worth";
import { useSay, useStore } from "../../frame/context";
import { useSeen } from "../../frame/scroller";
import { brief, SMALL, signColour, signed } from "../../marks/scales";
import { shownBy } from "../../state/shown";
import type { Store } from "../../state/store";
import { listedName } from "../../words/quoted";

const LOWEST = 18; // pixels a bar takes
const HIGHEST = 34;
const TOUCHED = 26; // where nothing limits them

/** As many as there is room for, unless told. */
export function RowBars({ most }: { most?: number }) {
  const store = useStore();
  const tell = useSay();
  const list = useRef<HTMLOListElement>(null);
  const box = useSeen(list);
  const query = rowOf(store);
  const row = store.lens(store.lead).row(query);
  const { columns } = shownBy(store.rows.value, store.columns.value, store.selection.value);
  const room = most ?? Math.max(1, Math.floor((box.value.height || 400) / LOWEST));
  const all = columns.list;
  const { worth } = store.look.value;
  const lit = store.hover.value.key;
  const seen = all.filter((p) => !(sizeOf(row[p]) < SMALL) || p === lit); // few say more than dots
  const listed = strongest(seen.length ? seen : all, row, room);
  const top = listed.reduce((most, p) => Math.max(most, sizeOf(row[p])), 1e-12);
  const high = most
    ? TOUCHED
    : Math.max(LOWEST, Math.min(HIGHEST, Math.floor((box.value.height || 400) / listed.length)));
  const rests = worth ? () => false : restsOf(store.site.value, store.rows.value, store.columns.value);
  return (
    <section class="row-bars" data-row={query}>
      <h3 dir="auto">{tell("looksAt", { text: store.rows.value.names[query] })}</h3>
      {listed.length < seen.length && (
        <p class="quiet">{tell("strongestOf", { count: listed.length, all: all.length })}</p>
      )}
      <ol ref={list}>
        {listed.map((p) => (
          <li
            key={p}
            class={`${p === lit ? "lit" : ""} ${rests(query, p) ? "rests" : ""}`}
            style={{ height: `${high}px` }}
          >
            <span class="name" dir="auto">
              {listedName(store.columns.value.names[p])}
            </span>
            <span class="measure">
              <i
                style={{
                  width: `calc((100% - 48px) * ${Math.max(0, sizeOf(row[p]) / top).toFixed(4)})`,
                  ...(worth && { background: signColour(row[p], store.theme.value) }),
                }}
              />
              <span class="value" title={String(row[p])}>
                {worth ? signed(row[p]) : row[p] < SMALL ? "·" : brief(row[p])}
              </span>
            </span>
          </li>
        ))}
        {seen.length < all.length && listed.length === seen.length && (
          <li class="others quiet">
            {tell("othersBelow", { count: all.length - seen.length, least: SMALL })}
          </li>
        )}
      </ol>
    </section>
  );
}

/** The strongest places of a row, in their order. */
function strongest(places: readonly number[], row: ArrayLike<number>, most: number): readonly number[] {
  if (places.length <= most) return places;
  const ranked = [...places].sort((a, b) => sizeOf(row[b]) - sizeOf(row[a]));
  return ranked.slice(0, most).sort((a, b) => a - b);
}

const MANY = 128; // rows among which the one to begin with is looked for

/** The row pointed at, or pinned; or else that of the strongest look outside the resting places. */
export function rowOf(store: Store): number {
  const axis = store.rows.value;
  const { query } = store.hover.value;
  const [pinned] = store.selection.value.queries;
  if (query !== null && query < axis.count) return query;
  if (pinned !== undefined) return positionOf(axis, pinned);
  return clearest(store);
}

/** The row of the strongest look outside the resting places; in long texts, the first that is no special token. */
function clearest(store: Store): number {
  const [rows, columns] = [store.rows.value, store.columns.value];
  const first = Math.max(0, rows.special.indexOf(false));
  if (rows.count > MANY) return first;
  const rests = restsOf(store.site.value, rows, columns);
  const lens = store.lens(store.lead);
  let [best, most] = [first, 0];
  for (let query = 0; query < rows.count; query++) {
    if (rows.special[query]) continue;
    lens.row(query).forEach((weight, key) => {
      if (sizeOf(weight) > most && key < columns.count && !rests(query, key))
        [best, most] = [query, sizeOf(weight)];
    });
  }
  return best;
}
