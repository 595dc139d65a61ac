// How much each head differs between A and B, as a small map of the model.

import { useSignal, useSignalEffect } from "@preact/signals";
import { run, superseded } from "../../compute/jobs";
import { isHere, type Page } from "../../data/wire";
import { useSay, useStore } from "../../frame/context";
import { figure, ramp, type Theme } from "../../marks/scales";
import type { Store } from "../../state/store";
import { useSession, useTell } from "../context";
import { distance, fits } from "./difference";
import { lensOf } from "./sides";

export function ByHead() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const found = useSignal<Map<string, number>>(new Map());
  useSignalEffect(() => {
    const other = session.comparison.other.value;
    const { kind } = store.selection.value;
    if (!other || session.ask.value.other.with === "model") {
      found.value = new Map();
      return undefined;
    }
    const abort = new AbortController();
    run(all(store, other.page, kind), abort.signal, 8).then(
      (map) => {
        found.value = map;
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  });
  if (!found.value.size) return null;
  return (
    <section>
      <h3>{tell("byHead")}</h3>
      <p class="app-note">{tell("byHeadHint")}</p>
      <Grid found={found.value} />
    </section>
  );
}

const nameOf = (layer: number, head: number): string => `${layer}.${head}`;

/** The distance of every head that both have; none where a layer is not here. */
function* all(store: Store, page: Page, kind: string): Generator<void, Map<string, number>> {
  const found = new Map<string, number>();
  for (const site of store.page.sites) {
    const other = page.sites.find(
      (one) => one.kind === kind && one.layer === site.layer && one.part === site.part,
    );
    if (site.kind !== kind || !other || !isHere(site) || !isHere(other)) continue;
    for (const head of site.heads.filter((one) => other.heads.includes(one))) {
      const [a, b] = [lensOf(store.page, site, head), lensOf(page, other, head)];
      if (!fits(a, b)) return found;
      found.set(nameOf(site.layer, head), yield* distance(a, b));
    }
  }
  return found;
}

function Grid({ found }: { found: Map<string, number> }) {
  const store = useStore();
  const say = useSay();
  const { kind, layer, heads } = store.selection.value;
  const sites = store.page.sites.filter((site) => site.kind === kind && site.part === 0);
  const columns = Math.max(...sites.map((site) => site.heads.length));
  const top = Math.max(1e-9, ...found.values());
  const colours = table(store.theme.value);
  return (
    <div class="app-by-head" style={{ gridTemplateColumns: `auto repeat(${columns}, minmax(12px, 22px))` }}>
      {sites.map((site) => [
        <span key={`layer ${site.layer}`} class="quiet">
          {site.layer}
        </span>,
        ...site.heads.map((head) => {
          const value = found.get(nameOf(site.layer, head));
          const title = `${say("cellName", { layer: site.layer, head })}: ${value === undefined ? "–" : value === 0 ? say("same") : figure(value, 2)}`;
          const current = layer === site.layer && heads[0] === head;
          return (
            <button
              key={head}
              type="button"
              data-differs={nameOf(site.layer, head)}
              data-value={value}
              title={title}
              aria-label={title}
              aria-pressed={current}
              style={{ background: value === undefined ? "none" : colours(value / top) }}
              onClick={() => store.set({ layer: site.layer, part: site.part, heads: [head] })}
            />
          );
        }),
      ])}
    </div>
  );
}

function table(theme: Theme): (share: number) => string {
  const colours = ramp(theme);
  return (share) => {
    const at = 3 * Math.round(255 * Math.min(1, share));
    return `rgb(${colours[at]} ${colours[at + 1]} ${colours[at + 2]})`;
  };
}
