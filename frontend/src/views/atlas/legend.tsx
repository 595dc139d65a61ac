// The atlas's legend: what the pictures are, what the colours mean, and how many heads go by each name. It filters.

import type { Digest } from "../../compute/digest";
import { isStrip } from "../../data/picture";
import { type Cell, counts, hasTypes, isKnown, largest, NONE } from "../../data/report";
import { isHere } from "../../data/wire";
import { type Say, useQuantity, useSay, useStore } from "../../frame/context";
import { Choice } from "../../frame/controls";
import { exampleOf } from "../../frame/headline";
import { wordFor } from "../../frame/report";
import { changeStops, figure, rampStops, rootTicks, signed, ticks, twoSidedStops } from "../../marks/scales";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { hasNames, Listed, Names } from "./names";
import { lookerOf } from "./seen";

const ONE_ROW = 6; // entries that one row has room for

interface LegendProps {
  digests: Map<string, Digest>;
  cells: Cell[];
  shared: number | null; // where the colours of all maps end, where they share them
  small: boolean; // whether maps go without names and ticks
}

export function Legend({ digests, cells, shared, small }: LegendProps) {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const all = [...digests.values()];
  const pool = Math.max(1, ...all.map((d) => d.pool));
  const away = cells.some(({ site }) => !isHere(site)); // layers that are fetched and go again are not refined
  const sampled = Math.max(1, ...all.map((d) => d.sampled));
  const pooled = all.some((d) => d.shares) ? "legendAtlasShares" : "legendAtlasPooled";
  const absent = cells.some(({ site }) => !store.reaches(site));
  const pictured = isPictured(store);
  const entries = counts(store.page, cells, store.tint.value, store.look.value.contributions).length + 1;
  const columns = entries > ONE_ROW ? Math.ceil(entries / 2) : ONE_ROW; // rows of one length
  const named = hasNames(store, cells);
  const listed = store.shading ? null : (store.glanced.value ?? store.wanted.value.at(-1) ?? null);
  return (
    <div class="legend of-atlas">
      {store.followed.value ? (
        <RuleLegend />
      ) : listed !== null ? (
        <Listed name={listed} cells={cells} />
      ) : store.byChange ? (
        <ChangeLegend />
      ) : (
        <p>
          {together(
            shared
              ? tell("legendAtlasWorth", { what: quantity })
              : pictured
                ? tell("legendAtlasPicture", { token: lookerOf(store, tell) })
                : tell(store.narrow.value ? "legendAtlasScale" : "legendAtlas"),
            !shared &&
              !pictured &&
              !store.narrow.value &&
              tell(small ? "legendAtlasFrames" : "legendAtlasMarks"),
            named && !store.narrow.value && glossed(store, cells, tell),
            store.page.study?.named &&
              exampleOf(store) &&
              tell("legendAtlasExample", { text: exampleOf(store) }),
            pool > 1 && !pictured && tell(pooled, { n: pool }),
            absent && tell("legendAtlasAbsent", { layers: store.layers().join(tell("comma")) }),
            sampled > 1 &&
              !pictured &&
              tell(away ? "legendAtlasSketch" : "legendAtlasSampled", { n: sampled }),
          )}
        </p>
      )}
      <div class="names" style={{ "--columns": String(columns) }}>
        {named && !store.followed.value && !store.narrow.value && <TintChoice />}
        {store.shading && <ChangeBar />}
        {shared !== null && !store.shading && <WorthBar top={shared} />}
        {named && isKnown(store.page) && !store.shading && !store.narrow.value && <Names cells={cells} />}
        {named && !store.followed.value && store.narrow.value && <TintChoice />}
      </div>
    </div>
  );
}

/** On a phone, above the maps: how to read one. Over a picture each shows the picture, and changes have their own line. */
export function PhoneLine({ turned }: { turned: boolean }) {
  const store = useStore();
  const tell = useSay();
  if (store.shading || isPictured(store)) return null;
  return (
    <p class="quiet how-to-read">{together(tell("legendAtlasPhone"), turned && tell("legendAtlasTurned"))}</p>
  );
}

/** Whether each map is drawn over the picture that its head looks at. */
function isPictured({ columns }: Store): boolean {
  const { side } = columns.value;
  return side.medium?.kind === "picture" && !isStrip(side);
}

/** What the name of most heads means, where it says so in brackets, for which the legend's entries have no room. */
export function glossed(store: Store, cells: Cell[], tell: Say): string {
  const [most] = counts(store.page, cells, store.tint.value, store.look.value.contributions)
    .filter(([name]) => name !== NONE)
    .sort(([, a], [, b]) => b.first - a.first);
  const parts = most && /^(.+?) ?[(（](.+)[)）]$/u.exec(wordFor(tell, most[0]));
  if (!parts) return "";
  const name = parts[1].charAt(0).toUpperCase() + parts[1].slice(1);
  return tell("legendAtlasGloss", { name, gloss: parts[2] });
}

/** What colours mean: patterns, types of maps, or what switching heads off changes. */
function TintChoice() {
  const store = useStore();
  const tell = useSay();
  const { tint, changing, wanted } = store;
  const options = [
    ["pattern", tell("byPattern"), tell("byPatternHint")] as const,
    ...(hasTypes(store.page) ? [["type", tell("byType"), tell("byTypeHint")] as const] : []),
    ...(store.off.value.length ? [["change", tell("byChange"), tell("byChangeHint")] as const] : []),
  ];
  if (options.length < 2) return null;
  return (
    <Choice
      label={tell("tint")}
      value={store.byChange ? "change" : tint.value}
      options={options}
      choose={(value) => {
        changing.value = value === "change";
        if (value !== "change") tint.value = value;
        wanted.value = [];
      }}
    />
  );
}

/** How much the heads change, in a sentence. */
function ChangeLegend() {
  const store = useStore();
  const tell = useSay();
  const found = store.changes.value;
  if (!found) return <p data-change="waiting">{store.changesFailed.value ?? tell("changeWaiting")}</p>;
  if (!found.size) return <p data-change="unlike">{tell("changeUnlike")}</p>;
  const heads = store.off.value.map(({ layer, head }) => `${layer}.${head}`).join(", ");
  const changed = [...found.values()].filter((value) => value > 0).length;
  const { head: most, value } = largest(found);
  const numbers = { heads, changed, count: found.size, most, top: figure(value, 2) };
  return <p data-change="shown">{tell("legendChange", numbers)}</p>;
}

/** How far heads follow a rule, in a sentence. */
function RuleLegend() {
  const store = useStore();
  const tell = useSay();
  const { rule, lifts } = store.followed.value!;
  const { kind } = store.selection.value;
  const mine = new Map(
    [...lifts].flatMap(([name, lift]) => (name.startsWith(`${kind} `) ? [[name, lift]] : [])),
  );
  if (!mine.size) return <p data-rule-legend="none">{tell("legendRuleNone", { rule })}</p>;
  const [[name, value]] = [...mine].sort(([, a], [, b]) => b - a);
  const [, layer, , head] = name.split(" ");
  const most = { best: `${layer}.${head}`, top: figure(value, 2) };
  return <p data-rule-legend="shown">{tell("legendRule", { rule, ...most })}</p>;
}

/** The colours of changes, or of lifts, with ticks. */
function ChangeBar() {
  const store = useStore();
  const tell = useSay();
  const top = store.followed.value ? 1 : Math.max(0, ...(store.changes.value?.values() ?? []));
  if (!top) return null;
  const stops = store.followed.value ? rampStops : changeStops;
  return (
    <div
      class="change-bar"
      role="img"
      aria-label={tell("changeBar", { top: figure(top, 2) })}
      style={{ background: `linear-gradient(to right, ${stops(store.theme.value).join(", ")})` }}
    >
      {ticks(top, false).map(([value, at]) => (
        <span key={at} style={{ left: `${100 * at}%` }}>
          {figure(value, 2)}
        </span>
      ))}
    </div>
  );
}

/** The colours of worth, which all maps share, with ticks. */
function WorthBar({ top }: { top: number }) {
  const store = useStore();
  const tell = useSay();
  return (
    <div
      class="change-bar"
      role="img"
      data-worth-bar={top}
      aria-label={tell("worthBar", { top: figure(top, 2) })}
      style={{ background: `linear-gradient(to right, ${twoSidedStops(store.theme.value).join(", ")})` }}
    >
      {rootTicks(top).map(([value, at]) => (
        <span key={at} style={{ left: `${100 * at}%` }}>
          {value ? signed(value) : "0"}
        </span>
      ))}
    </div>
  );
}
