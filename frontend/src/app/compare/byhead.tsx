// How much each head differs between A and B, as a small map of the model.

import { largest, nameOf } from "../../data/report";
import { useSay, useStore } from "../../frame/context";
import { changeShades, changeStops, ticks } from "../../marks/scales";
import { useTell } from "../context";
import { shareText } from "./difference";

const TALL = 12; // layers: a map of more stands below the list of cells

export function ByHead({ every }: { every: ReadonlyMap<string, number> }) {
  const store = useStore();
  const tell = useTell();
  if (!every.size) return null;
  const { kind } = store.selection.value;
  const layers = store.page.sites.filter((site) => site.kind === kind).length;
  return (
    <section class={layers > TALL ? "app-heads tall" : "app-heads"}>
      <h3>{tell("byHead")}</h3>
      <p class="app-note">{tell("byHeadHint")}</p>
      <Grid found={every} />
      <Colours top={largest(every).value} />
    </section>
  );
}

/** What the colours of the small map mean. */
function Colours({ top }: { top: number }) {
  const store = useStore();
  const tell = useTell();
  if (!top) return null;
  return (
    <div
      class="change-bar"
      role="img"
      aria-label={tell("byHeadBar", { top: shareText(top) })}
      style={{ background: `linear-gradient(to right, ${changeStops(store.theme.value).join(", ")})` }}
    >
      {ticks(top, false).map(([value, at]) => (
        <span key={at} style={{ left: `${100 * at}%` }}>
          {shareText(value)}
        </span>
      ))}
    </div>
  );
}

function Grid({ found }: { found: ReadonlyMap<string, number> }) {
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
          const title = `${say("cellName", { layer: site.layer, head })}: ${value === undefined ? "–" : value === 0 ? say("same") : shareText(value)}`;
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
