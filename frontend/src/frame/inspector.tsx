// The inspector speaks sentences about what is chosen: where a newcomer learns to read the picture.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { strongest } from "../compute/active";
import { type Digest, digest } from "../compute/digest";
import { run, superseded } from "../compute/jobs";
import type { Lens } from "../compute/lens";
import { sizeOf } from "../compute/worth";
import { isKnown } from "../data/report";
import { isHere } from "../data/wire";
import { brief, figure, hundredths, SMALL, signColour, signed } from "../marks/scales";
import { shownBy } from "../state/shown";
import type { Store } from "../state/store";
import type { Key } from "../words";
import { listedName } from "../words/quoted";
import { useSay, useStore } from "./context";
import { Labels } from "./labels";
import { isPictured, listedNames, shownOf } from "./pictured";
import { Cautions, Findings } from "./report";
import { Switch } from "./switch";
import { PairWorth } from "./worth";

const LISTED = 8;
const LONG = 1024; // rows from which a head is described by a sample
const digests = new WeakMap<Lens, Digest>();

/** What a page with a model behind it adds to the inspector. */
export interface InspectorSlots {
  first?: FunctionComponent; // above everything: what the model says
  news?: () => string | null; // what was changed and what that does, in one sentence
  verdict?: FunctionComponent; // above what is said of the head
  aside?: FunctionComponent; // and below it
}

export function Inspector({ first: First, verdict: Verdict, aside: More }: InspectorSlots) {
  const store = useStore();
  const tell = useSay();
  const { layer, heads } = store.selection.value;
  const { Report, Shown, heads: shown } = store.view;
  const single = heads.length === 1 || shown !== "some";
  const pointed = store.pointed.value;
  const one = pointed || single ? store.place : null;
  const title = one ? tell("layerHead", { ...one }) : tell("layerHeads", { layer, count: heads.length });
  return (
    <aside class="inspector" aria-label={tell("inspector")}>
      {First ? <First /> : <Labels />}
      <h2>{title}</h2>
      {one && <p class="place">{tell("headPlace", { ...one, ...countsOf(store) })}</p>}
      {Shown && <Shown />}
      {Verdict && <Verdict />}
      {single && (isKnown(store.page) ? <Findings /> : <About />)}
      {single && <Switch place={store.place} />}
      {More && <More />}
      {Report ? <Report /> : <Chosen />}
      <Pins />
      <Cautions />
      <Facts />
    </aside>
  );
}

/** The last layer and the last head of what is shown: readers cannot know that both are counted from 0. */
function countsOf({ page, pointed, site }: Store): { layers: number; heads: number } {
  const { kind, heads } = pointed.value?.site ?? site.value;
  const layers = page.sites.filter((one) => one.kind === kind).map(({ layer }) => layer);
  return { layers: Math.max(...layers), heads: Math.max(...heads) };
}

/** What a head does, counted here: for pages whose heads nobody has measured. */
function About() {
  const store = useStore();
  const tell = useSay();
  const found = useSignal<Digest | null>(null);
  const lens = useComputed(() => {
    const pointed = store.pointed.value;
    if (pointed && !isHere(pointed.site)) return null;
    const { site, head } = pointed ?? { site: store.site.value, head: store.lead };
    return store.lenses.of(site, site.heads.indexOf(head), store.plain.value);
  });
  useSignalEffect(() => {
    const current = lens.value;
    found.value = null;
    if (!current) return undefined;
    const known = digests.get(current);
    found.value = known ?? null;
    if (known) return undefined;
    const abort = new AbortController();
    // The picture comes first.
    const timer = setTimeout(() => {
      run(digest(current, current.rows.count > LONG ? "sample" : "exact"), abort.signal, 6).then(
        (result) => {
          digests.set(current, result);
          found.value = result;
        },
        (error) => {
          if (!superseded(error)) throw error;
        },
      );
    }, 60);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
  if (!found.value)
    return (
      <p class="about" aria-busy="true">
        …
      </p>
    );
  return <p class="about">{sentences(found.value, tell).join(" ")}</p>;
}

const PLACES: [keyof Digest["measures"], Key][] = [
  ["previous", "previous"],
  ["next", "next"],
  ["self", "self"],
  ["special", "specials"],
  ["first", "first"],
];

/** What a digest says; the first sentence names the place that takes half of the attention, if one does. */
export function sentences({ measures, chance, sampled }: Digest, tell: ReturnType<typeof useSay>): string[] {
  if (Number.isNaN(measures.entropy)) return []; // words and contributions are not measured
  const [name, key] = PLACES.reduce((best, place) =>
    (measures[place[0]] || 0) > (measures[best[0]] || 0) ? place : best,
  );
  const first =
    measures[name] >= 0.5 && measures[name] > 1.5 * chance[name]
      ? tell("mostTo", { what: tell(key), share: figure(measures[name], 2), chance: figure(chance[name], 2) })
      : tell("spread");
  const percent = chance.entropy > 0 ? Math.round((100 * measures.entropy) / chance.entropy) : 0;
  const basis = sampled > 1 ? [tell("sampledLine", { n: figure(sampled, 2) })] : [];
  return [first, tell("entropyLine", { value: figure(measures.entropy, 2), percent }), ...basis];
}

/** Where the active tokens look, and from where they are looked at. */
function Chosen() {
  const store = useStore();
  const tell = useSay();
  const chosen = store.active.value;
  const pins = store.selection.value;
  const heads = store.seen;
  const { hint } = store.view;
  const none = !chosen.queries.length && !chosen.keys.length;
  const hinted = none && hint && <p class="hint">{tell(typeof hint === "string" ? hint : hint(store))}</p>;
  const pictured = isPictured(store);
  if (none && !(pictured && heads.length)) return hinted || null;
  const { queries, keys, toKeys, toQueries } = pictured ? shownOf(store, heads) : chosen;
  const shown = shownBy(store.rows.value, store.columns.value, store.selection.value);
  const { contributions } = store.look.value;
  const title = (labels: string[], list: number[], one: Key, many: Key) =>
    list.length === 1 ? tell(one, { text: labels[list[0]] }) : tell(many, { count: list.length });
  return (
    <>
      <PairWorth />
      {queries.length > 0 && toKeys.length > 0 && !store.view.lists && (
        <Ranking
          title={title(store.rows.value.names, queries, "looksAt", "theseLookAt")}
          labels={listedNames(store.columns.value, tell)}
          entries={strongest(toKeys, shown.columns.mask, LISTED)}
          short={pictured}
          share={!contributions && queries.length === 1}
          lit={store.hover.value.query === null ? null : store.hover.value.key}
          keep={
            pins.queries.length === 1
              ? (p) => store.set({ keys: [store.columns.peek().starts[p]] })
              : undefined
          }
        />
      )}
      {keys.length > 0 && toQueries.length > 0 && (
        <Ranking
          title={title(store.columns.value.names, keys, "lookedAtBy", "theseLookedAt")}
          labels={listedNames(store.rows.value, tell)}
          entries={strongest(toQueries, shown.rows.mask, LISTED)}
          short={pictured}
          share={!contributions && keys.length === 1}
          lit={store.hover.value.key === null ? null : store.hover.value.query}
          keep={
            pins.keys.length === 1 ? (p) => store.set({ queries: [store.rows.peek().starts[p]] }) : undefined
          }
        />
      )}
      {heads.length > 1 && <p class="hint">{tell("meanHeads", { count: heads.length })}</p>}
      {hinted}
    </>
  );
}

function Ranking({
  title,
  labels,
  entries,
  lit,
  share,
  short,
  keep,
}: {
  title: string;
  labels: string[];
  entries: [number, number][];
  lit: number | null; // the other end of the pair under the pointer
  share: boolean; // whether its numbers are shares of one token's attention
  short: boolean; // whether tiny shares are one line
  keep?: (position: number) => void; // pin it too, so that the two are a pair
}) {
  const store = useStore();
  const tell = useSay();
  const { worth } = store.look.value;
  const listed = short && share && !worth ? entries.filter(([, value]) => value >= SMALL) : entries;
  const top = Math.max(1e-12, ...entries.map(([, value]) => sizeOf(value)));
  return (
    <section class="ranking">
      <h3 dir="auto">{title}</h3>
      <ol>
        {listed.map(([position, value]) => (
          <li key={position} class={position === lit ? "lit" : ""}>
            {keep ? (
              <button
                type="button"
                class="name"
                dir="auto"
                data-keep={position}
                title={tell("keepPair", { text: labels[position] })}
                onClick={() => keep(position)}
              >
                {listedName(labels[position])}
              </button>
            ) : (
              <span class="name" dir="auto" title={labels[position]}>
                {listedName(labels[position])}
              </span>
            )}
            <span class="bar">
              <i
                style={{
                  width: `${(100 * Math.max(0, sizeOf(value))) / top}%`,
                  ...(worth && { background: signColour(value, store.theme.value) }),
                }}
              />
            </span>
            <span class="value" title={String(value)}>
              {worth ? signed(value) : share ? hundredths(value) : brief(value)}
            </span>
          </li>
        ))}
      </ol>
      {listed.length < entries.length && (
        <p class="hint">{tell("listedBelow", { least: hundredths(SMALL) })}</p>
      )}
    </section>
  );
}

function Pins() {
  const store = useStore();
  const tell = useSay();
  const { queries, keys } = store.selection.value;
  if (!queries.length && !keys.length) return null;
  return (
    <p class="pins">
      {tell("pinned", { count: queries.length + keys.length })}{" "}
      <button
        type="button"
        class="plain"
        data-pins="clear"
        onClick={() => store.set({ queries: [], keys: [] })}
      >
        {tell("clear")}
      </button>
    </p>
  );
}

function Facts() {
  const store = useStore();
  const tell = useSay();
  const { model } = store.page.facts;
  return (
    <p class="facts">
      {model !== undefined && `${String(model)} · `}
      {tell("madeBy", { version: store.page.made })}
    </p>
  );
}
