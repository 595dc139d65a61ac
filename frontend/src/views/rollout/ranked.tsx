// The largest shares as bars, beside what layers that look evenly would give.

import type { Signal } from "@preact/signals";
import { Fragment } from "preact";
import { useSay, useStore } from "../../frame/context";
import { figure, palette } from "../../marks/scales";
import { together } from "../../words";
import { listedName, parted, quoted } from "../../words/quoted";
import { plain, restingPlaces } from "./said";
import { inkOf, tinted } from "./scene";
import { againstEven, ofLeft, ownIsLargest, restingEvenly, type Shares, shareText } from "./shares";

const LISTED = 16;

export function Ranked({ shares, lit }: { shares: Shares; lit: Signal<number | null> }) {
  const tell = useSay();
  const { order, values } = shares;
  const least = againstEven(shares).at(-1)?.p; // it has a bar, be it ever so short
  const own = (p: number) => p === shares.position; // it stands apart: its line is elsewhere
  const listed = [
    ...order.filter(own),
    ...order.filter((p, i) => !own(p) && (i < LISTED || p === lit.value || p === least)),
  ];
  const found = new Map(listed.map((p) => [p, ofLeft(shares, p)]));
  const others = order.filter((p) => !found.has(p));
  const most = Math.max(1e-12, ...[...found.values()].map(([own, even]) => Math.max(own, even ?? 0)));
  const rows = found.size + 3 + (others.length ? 1 : 0);
  return (
    <section class="rollout-ranked">
      <h3>{tell("rolloutShares", { word: quoted(plain(shares.axis.names[shares.position])) })}</h3>
      <ol style={{ "--rows": rows }}>
        <li class="heading">
          <span />
          <span>{shares.even && tell("rolloutEven")}</span>
          <span>{tell("rolloutShare")}</span>
          <span>{shares.even && tell("rolloutTimesEven")}</span>
        </li>
        {[...found].map(([p, pair]) => (
          <Fragment key={p}>
            <Bar shares={shares} p={p} pair={pair} most={most} lit={lit} />
            {own(p) && ownIsLargest(shares) && (
              <li class="own-line">
                <small>{tell("rolloutOwnLine")}</small>
              </li>
            )}
          </Fragment>
        ))}
        {others.length > 0 && (
          <li class="quiet">
            <span class="others">{tell("rolloutRest", { count: others.length })}</span>
            <span class="value">{shareText(others.reduce((sum, p) => sum + values[p], 0))}</span>
          </li>
        )}
        <Rests shares={shares} />
      </ol>
      <Method shares={shares} />
    </section>
  );
}

/** How the numbers came about, and why lines at an even share are not all in one place. */
function Method({ shares }: { shares: Shares }) {
  const store = useStore();
  const tell = useSay();
  const { contributions } = store.look.value;
  const maps = tell(contributions ? "rolloutContributionMaps" : "rolloutWeightMaps");
  const lines = shares.even && !ownIsLargest(shares) && tell("rolloutLines");
  const [before, after] = tell("rolloutMethod", { maps, command: COMMAND }).split(COMMAND);
  return (
    <p class="quiet">
      {together(lines, before)}
      <code>{COMMAND}</code>
      {after}
    </p>
  );
}

const COMMAND = "regard study deletion";

interface BarProps {
  shares: Shares;
  p: number;
  pair: [own: number, even: number | null];
  most: number; // the longest bar
  lit: Signal<number | null>;
}

/** One token: its bar and a line at an even share, how much of the whole it is, and how many times an even share. */
function Bar({ shares, p, pair: [own, even], most, lit }: BarProps) {
  const { theme } = useStore();
  const long = (share: number) => `${((100 * share) / most).toFixed(2)}%`;
  const ink = inkOf(shares, p, theme.value);
  const { accent, quiet } = palette(theme.value);
  const edge = even !== null && own < even ? quiet : accent;
  const [text, index] = parted(listedName(plain(shares.axis.names[p])));
  return (
    <li
      data-share={own}
      class={p === lit.value ? "lit" : ""}
      onPointerEnter={() => (lit.value = p)}
      onPointerLeave={() => (lit.value = null)}
    >
      <span class="name" dir="auto">
        {text}
        <span class="index">{index}</span>
      </span>
      <span class="measure">
        <i style={{ width: long(own), background: tinted(ink), borderColor: edge }} />
        {even !== null && <b style={{ left: long(even) }} />}
      </span>
      <span class="value" title={String(shares.values[p])}>
        {shareText(shares.values[p])}
      </span>
      <span class="times" style={{ color: edge }}>
        {even ? `${figure(own / even, 2)} ×` : ""}
      </span>
    </li>
  );
}

/** What rests, below the tokens: with them it is the whole. */
function Rests({ shares }: { shares: Shares }) {
  const store = useStore();
  const tell = useSay();
  const places = restingPlaces(store, shares);
  if (!places) return null;
  const even = restingEvenly(shares);
  return (
    <li class="resting" data-rests={1 - shares.left}>
      <span class="others" dir="auto">
        {tell("rolloutResting", { places })}
      </span>
      <span class="value" title={even === null ? undefined : tell("rolloutRestingEven", { share: even })}>
        {shareText(1 - shares.left)}
      </span>
    </li>
  );
}
