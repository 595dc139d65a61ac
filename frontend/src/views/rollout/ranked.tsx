// The largest shares as bars, beside what layers that look evenly would give.

import type { Signal } from "@preact/signals";
import { useSay } from "../../frame/context";
import { brief } from "../../marks/scales";
import type { Shares } from "./scene";

const LISTED = 12;

export function Ranked({ shares, lit }: { shares: Shares; lit: Signal<number | null> }) {
  const tell = useSay();
  const { order, values, even, axis } = shares;
  const listed = order.slice(0, LISTED);
  const pointed = lit.value;
  if (pointed !== null && pointed < order.length && !listed.includes(pointed)) listed.push(pointed);
  const left = order.filter((p) => !listed.includes(p));
  const most = Math.max(values[order[0]], ...listed.map((p) => even?.[p] ?? 0));
  const long = (share: number) => `${((100 * share) / most).toFixed(2)}%`;
  return (
    <section class="rollout-ranked">
      <h3>{tell("rolloutShares")}</h3>
      <ol>
        {listed.map((p) => (
          <li
            key={p}
            data-share={values[p]}
            class={`${p === pointed ? "lit" : ""} ${shares.rests(p) ? "rests" : ""}`}
            onPointerEnter={() => (lit.value = p)}
            onPointerLeave={() => (lit.value = null)}
          >
            <span class="name" dir="auto">
              {axis.names[p]}
            </span>
            <span class="measure">
              <i style={{ width: long(values[p]) }} />
              {even && <b style={{ left: long(even[p]) }} />}
            </span>
            <span class="value" title={String(values[p])}>
              {brief(values[p])}
            </span>
          </li>
        ))}
        {left.length > 0 && (
          <li class="quiet">
            <span class="others">{tell("rolloutRest", { count: left.length })}</span>
            <span class="value">{brief(left.reduce((sum, p) => sum + values[p], 0))}</span>
          </li>
        )}
      </ol>
      {even && <p class="quiet">{tell("rolloutEven")}</p>}
    </section>
  );
}
