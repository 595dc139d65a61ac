// The largest shares as bars, beside what layers that look evenly would give.

import type { Signal } from "@preact/signals";
import { useSay, useStore } from "../../frame/context";
import { brief, figure, percent } from "../../marks/scales";
import { together } from "../../words";
import { againstEven, inkOf, ofLeft, restingText, type Shares } from "./scene";

const LISTED = 16;

export function Ranked({ shares, lit }: { shares: Shares; lit: Signal<number | null> }) {
  const store = useStore();
  const tell = useSay();
  const { order, values, axis, left } = shares;
  const pointed = lit.value;
  const least = againstEven(shares).at(-1)?.p; // the finding names it
  const listed = order.filter((p, i) => i < LISTED || p === pointed || p === least);
  const found = new Map(listed.map((p) => [p, ofLeft(shares, p)]));
  const others = order.filter((p) => !found.has(p));
  const most = Math.max(1e-12, ...[...found.values()].map(([own, even]) => Math.max(own, even ?? 0)));
  const long = (share: number) => `${((100 * share) / most).toFixed(2)}%`;
  const resting = restingText(store, shares);
  return (
    <section class="rollout-ranked">
      <h3>{tell("rolloutShares")}</h3>
      {resting && <p data-rests={1 - left}>{resting}</p>}
      <ol>
        <li class="heading">
          <span />
          <span>{shares.even && tell("rolloutEven")}</span>
          <span>
            {resting ? tell("rolloutShareOf", { words: 100 - percent(1 - left) }) : tell("rolloutShare")}
          </span>
          <span>{shares.even && tell("rolloutTimesEven")}</span>
        </li>
        {[...found].map(([p, [own, even]]) => (
          <li
            key={p}
            data-share={own}
            class={p === pointed ? "lit" : ""}
            onPointerEnter={() => (lit.value = p)}
            onPointerLeave={() => (lit.value = null)}
          >
            <span class="name" dir="auto">
              {axis.names[p]}
            </span>
            <span class="measure">
              <i style={{ width: long(own), background: inkOf(shares, p, store.theme.value).colour }} />
              {even !== null && <b style={{ left: long(even) }} />}
            </span>
            <span class="value" title={String(values[p])}>
              {brief(own)}
            </span>
            <span class="times" style={{ color: inkOf(shares, p, store.theme.value).colour }}>
              {even ? `${figure(own / even, 2)} ×` : ""}
            </span>
          </li>
        ))}
        {others.length > 0 && (
          <li class="quiet">
            <span class="others">{tell("rolloutRest", { count: others.length })}</span>
            <span class="value">{brief(others.reduce((sum, p) => sum + ofLeft(shares, p)[0], 0))}</span>
          </li>
        )}
      </ol>
      <p class="quiet">
        {together(
          tell(store.look.value.contributions ? "rolloutContributions" : "rolloutWeights"),
          tell("rolloutNot"),
        )}
      </p>
    </section>
  );
}
