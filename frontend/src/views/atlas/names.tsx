// The names of heads in the atlas's legend: how many heads go by each, and which. It filters.

import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { isStrip } from "../../data/picture";
import {
  type Cell,
  colourOf,
  counts,
  foundOf,
  headsOf,
  isKnown,
  isResting,
  NONE,
  nameOf,
  namesOf,
} from "../../data/report";
import { type Say, useSay, useStore } from "../../frame/context";
import { shortFor, wordFor } from "../../frame/report";
import type { Store } from "../../state/store";
import { isKey } from "../../words";

/** On a phone, above the maps: what their frames mean, in one row that scrolls. */
export function NameRow({ cells }: { cells: Cell[] }) {
  const store = useStore();
  if (!isKnown(store.page) || store.shading || !hasNames(store, cells)) return null;
  return (
    <div class="names in-row">
      <Names cells={cells} />
    </div>
  );
}

/** Whether names of patterns, which are of texts, say anything here: over pictures only where a head has one. */
export function hasNames({ columns, off, look }: Store, cells: Cell[]): boolean {
  const { side } = columns.value;
  if (side.medium?.kind !== "picture" || isStrip(side) || off.value.length) return true;
  return cells.some((cell) => foundOf(cell, look.value.contributions).length);
}

/** The heads that go by a name, in the order of the grid; a click chooses one. */
export function Listed({ name, cells }: { name: string; cells: Cell[] }) {
  const store = useStore();
  const tell = useSay();
  const found = headsOf(store.page, cells, name, store.tint.value, store.look.value.contributions);
  const place = ({ site, head }: Cell) => `${site.layer}.${head}`;
  const meaning = meaningOf(name, tell)[0];
  const first = ({ site, head }: Cell) =>
    namesOf(store.page, { site, head }, store.tint.value, store.look.value.contributions)[0];
  const also = found.all.filter((cell) => first(cell) !== name).length;
  const called = { name: name === NONE ? tell("noName") : wordFor(tell, name), count: found.all.length };
  return (
    <p
      class="listed"
      data-listed={name || "none"}
      data-kept={store.wanted.value.includes(name) ? "" : undefined}
    >
      <strong>{tell(called.count === 1 ? "namedHead" : "namedHeads", called)}</strong>
      {meaning && tell("comma") + meaning}
      {also > 0 && tell("comma") + tell("alsoHint", { also })}
      {found.best && called.count > 1 && tell("comma") + tell("bestHead", { head: place(found.best) })}
      {tell("colon")}
      {found.all.map((cell, i) => (
        <Fragment key={nameOf(cell)}>
          {i > 0 && tell("comma")}
          <button
            type="button"
            class="plain"
            data-head={place(cell)}
            onClick={() => store.set({ layer: cell.site.layer, part: cell.site.part, heads: [cell.head] })}
          >
            {place(cell)}
          </button>
        </Fragment>
      ))}
    </p>
  );
}

/** What heads of a name do, where that is known. */
function meaningOf(name: string, tell: Say): string[] {
  const key = `does_${name}`;
  return isKey(key) ? [tell(key)] : [];
}

/** A name in which the word that stands below the maps is marked; what explains it is in the line of its heads. */
function Marked({ name }: { name: string }) {
  const tell = useSay();
  const [long, short] = [wordFor(tell, name).replace(/ ?[(（].*/u, ""), shortFor(tell, name)];
  const at = long.indexOf(short);
  if (at < 0)
    return (
      <>
        {long} (<strong>{short}</strong>)
      </>
    );
  return (
    <>
      {long.slice(0, at)}
      <strong>{short}</strong>
      {long.slice(at + short.length)}
    </>
  );
}

/** What a name means, what an entry is for, and what its numbers leave out. */
const hintOf = (name: string, also: number, tell: Say): string =>
  [
    ...meaningOf(name, tell),
    tell("entryHint"),
    ...(also > 0 ? [tell("alsoMore", { also })] : []),
    ...(isResting(name) ? [tell("notCounted")] : []),
  ].join(" · ");

/** One entry for each name: a click leaves the heads that go by it, and dims the others. */
export function Names({ cells }: { cells: Cell[] }) {
  const store = useStore();
  const tell = useSay();
  const { tint, wanted, glanced, theme } = store;
  const toggle = (name: string) => {
    const list = wanted.value;
    wanted.value = list.includes(name) ? list.filter((x) => x !== name) : [...list, name];
    glanced.value = null; // what was clicked is what counts
  };
  const glance = (name: string | null) => () => {
    glanced.value = name;
  };
  useEffect(() => glance(null), []); // the pointer leaves with the legend
  return (
    <>
      {counts(store.page, cells, tint.value, store.look.value.contributions).map(
        ([name, { first, also }]) => (
          <button
            key={name}
            type="button"
            class="entry"
            data-entry={name || "none"}
            aria-pressed={wanted.value.includes(name)}
            title={hintOf(name, also, tell)}
            onClick={() => toggle(name)}
            onPointerEnter={glance(name)}
            onPointerLeave={glance(null)}
            onFocus={(event) => event.currentTarget.matches(":focus-visible") && glance(name)()}
            onBlur={glance(null)}
          >
            <i
              style={name === NONE ? {} : { background: colourOf(store.page, tint.value, name, theme.value) }}
            />
            <span>
              {name === NONE ? (
                tell("noName")
              ) : store.narrow.value ? (
                shortFor(tell, name)
              ) : (
                <Marked name={name} />
              )}
            </span>{" "}
            <b data-first={first}>{first}</b>
          </button>
        ),
      )}
    </>
  );
}
