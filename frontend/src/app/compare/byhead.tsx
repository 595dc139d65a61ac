// How much each head differs between A and B, as a small map of the model.

import { useSignal, useSignalEffect } from "@preact/signals";
import { run, superseded } from "../../compute/jobs";
import { largest, nameOf } from "../../data/report";
import { useSay, useStore } from "../../frame/context";
import { changeShades, figure } from "../../marks/scales";
import { useSession, useTell } from "../context";
import { distances } from "./distances";

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
    run(distances(store.page, other.page, kind), abort.signal, 8).then(
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
  const most = largest(found.value);
  const [layer, head] = most.head.split(".").map(Number);
  const { layer: own, heads } = store.selection.value;
  const open =
    layer === own && head === heads[0]
      ? null
      : () => store.set({ layer, part: 0, heads: [head], queries: [], keys: [] });
  return (
    <section class="app-heads">
      <h3>{tell("byHead")}</h3>
      <p class="app-note">
        {tell("byHeadHint", { head: most.head, share: figure(most.value, 2) })}{" "}
        {open && (
          <button type="button" class="app-link" data-do="most" onClick={open}>
            {tell("byHeadOpen", { head: most.head })}
          </button>
        )}
      </p>
      <Grid found={found.value} />
    </section>
  );
}

function Grid({ found }: { found: Map<string, number> }) {
  const store = useStore();
  const say = useSay();
  const { kind, layer, heads } = store.selection.value;
  const sites = store.page.sites.filter((site) => site.kind === kind && site.part === 0);
  const columns = Math.max(...sites.map((site) => site.heads.length));
  const top = Math.max(1e-9, ...found.values());
  const colours = changeShades(store.theme.value);
  return (
    <div class="app-by-head" style={{ gridTemplateColumns: `auto repeat(${columns}, minmax(12px, 22px))` }}>
      <span />
      {sites[0].heads.map((head) => (
        <span key={head} class="quiet column">
          {head}
        </span>
      ))}
      {sites.map((site) => [
        <span key={`layer ${site.layer}`} class="quiet">
          {site.layer}
        </span>,
        ...site.heads.map((head) => {
          const value = found.get(nameOf({ site, head }));
          const title = `${say("cellName", { layer: site.layer, head })}: ${value === undefined ? "–" : value === 0 ? say("same") : figure(value, 2)}`;
          const current = layer === site.layer && heads[0] === head;
          return (
            <button
              key={head}
              type="button"
              data-differs={`${site.layer}.${head}`}
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
