// The atlas's legend: what the pictures are, what the colours mean, and how many heads go by each name. It filters.

import type { Digest } from "../../compute/digest";
import { type Cell, colourOf, counts, hasTypes, isKnown, isResting, NONE, namesOf } from "../../data/report";
import { isHere } from "../../data/wire";
import { type Say, useSay, useStore } from "../../frame/context";
import { Choice } from "../../frame/controls";
import { wordFor } from "../../frame/report";
import type { Store } from "../../state/store";

export function Legend({ digests, cells }: { digests: Map<string, Digest>; cells: Cell[] }) {
  const store = useStore();
  const tell = useSay();
  const all = [...digests.values()];
  const pool = Math.max(1, ...all.map((d) => d.pool));
  const away = cells.some(({ site }) => !isHere(site)); // layers that are fetched and go again are not refined
  const sampled = Math.max(1, ...all.map((d) => d.sampled));
  return (
    <div class="legend">
      <p>
        {tell("legendAtlas")}
        {pool > 1 && ` ${tell("legendAtlasPooled", { n: pool })}`}
        {sampled > 1 && ` ${tell(away ? "legendAtlasSketch" : "legendAtlasSampled", { n: sampled })}`}
      </p>
      {isKnown(store.page) && <Names cells={cells} />}
    </div>
  );
}

/** How many heads there are, and how many of them have a name. */
function tallyOf(cells: Cell[], store: Store, tell: Say): string {
  const { contributions } = store.look.value;
  const named = cells.filter((cell) =>
    namesOf(store.page, cell, store.tint.value, contributions).some(
      (name) => name !== NONE && !isResting(name),
    ),
  );
  return tell("tally", { heads: cells.length, named: named.length });
}

/** One entry for each name: a click leaves the heads that go by it, and dims the others. */
function Names({ cells }: { cells: Cell[] }) {
  const store = useStore();
  const tell = useSay();
  const { tint, wanted } = store;
  const toggle = (name: string) => {
    const list = wanted.value;
    wanted.value = list.includes(name) ? list.filter((x) => x !== name) : [...list, name];
  };
  return (
    <div class="names">
      {hasTypes(store.page) && (
        <Choice
          label={tell("tint")}
          value={tint.value}
          options={[["pattern", tell("byPattern")] as const, ["type", tell("byType")] as const]}
          choose={(value) => {
            tint.value = value;
            wanted.value = [];
          }}
        />
      )}
      <span class="tally">{tallyOf(cells, store, tell)}</span>
      {counts(store.page, cells, tint.value, store.look.value.contributions).map(([name, count]) => (
        <button
          key={name}
          type="button"
          class="entry"
          data-entry={name || "none"}
          aria-pressed={wanted.value.includes(name)}
          title={tell("entryHint")}
          onClick={() => toggle(name)}
        >
          <i style={name === NONE ? {} : { background: colourOf(tint.value, name) }} />
          {name === NONE ? tell("noName") : wordFor(tell, name)} <b>{count}</b>
        </button>
      ))}
    </div>
  );
}
