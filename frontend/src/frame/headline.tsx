// The headline: what the picture below it shows, in one sentence.

import { isCausal } from "../compute/rest";
import { isStrip } from "../data/picture";
import { bySpecific, type Cell, foundOf, isKnown, isOwn, isResting, restOf, telling } from "../data/report";
import { isHere, type Site } from "../data/wire";
import { placesOf } from "../marks/patches";
import { percent } from "../marks/scales";
import { formOf, type Store } from "../state/store";
import { together } from "../words";
import { quoted } from "../words/quoted";
import { type Say, useSay, useStore } from "./context";
import { turnTold } from "./labels";
import { isPictured, isVision, lookTold, pinned, spotOf } from "./pictured";
import { doesFor, ledeOf, MOSTLY, placeFor, whoseOf, wordFor } from "./report";
import { bestOf, lookFor, strongestLook } from "./strongest";

/** What was changed, or else what is chosen, in one sentence; nothing where nobody has measured the heads. */
export function Headline({ news }: { news?: () => string | null }) {
  const store = useStore();
  const tell = useSay();
  const changed = news?.() ?? null;
  const text = changed ?? headlineOf(store, tell);
  if (!text && news && !store.view.led) return <p class="headline" aria-hidden="true" data-headline="none" />; // to come
  return text ? (
    <p class="headline" dir="auto" role="status" data-headline={changed === null ? "finding" : "news"}>
      {text}
    </p>
  ) : null;
}

export function headlineOf(store: Store, tell: Say): string | null {
  const { selection, look, view, page } = store;
  if (look.value.worth || view.led || !isKnown(page)) return null;
  if (view.heads === "all") return ofAll(store, tell);
  const { heads } = selection.value;
  if (isPictured(store)) return heads.length ? ofPicture(store, tell) : null;
  if (view.heads === "some" && heads.length > 1) return ofSome(store, heads, tell);
  return heads.length ? ofOne(store, store.site.value, tell) : null;
}

const NAMED = 2; // names that the sentence about all heads tells of, if they fit
const LINE = 145; // letters of it that one line has room for

const FEW = 12; // tokens: a name needs at least ten rows that show it

const isShort = (store: Store): boolean => !store.page.study?.named && store.rows.value.count < FEW;

/** What the heads with the most specific names do in what was read, and how many others there are. */
function ofAll(store: Store, tell: Say): string {
  const { contributions } = store.look.value;
  const { kind } = store.selection.value;
  const counts = new Map<string, number>();
  let [all, named, resting] = [0, 0, 0];
  let only = "";
  for (const site of store.page.sites.filter((one) => one.kind === kind))
    for (const head of site.heads) {
      const names = foundOf({ site, head }, contributions).map(({ name }) => name);
      const [first] = names.filter((name) => !isResting(name));
      all += 1;
      if (first === undefined) resting += Number(names.length > 0);
      if (first === undefined) continue;
      named += 1;
      only = `${site.layer}.${head}`;
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
  if (!named && isVision(store)) return mostPointed(store, all, tell) ?? tell("headlineNone", { all });
  if (!named) return isShort(store) ? tell("headlineShort") : tell("headlineNone", { all });
  const where = whereOf(store, tell);
  if (named === 1) {
    const [name] = counts.keys();
    return tell("headlineOne", { all, where, place: only, does: doFor(store, name, 1, tell) });
  }
  return specific(store, { all, named, resting, where }, counts, tell);
}

const QUOTED = 24; // letters of an example

/** What the heads were looked at in: this text, or the inputs of the study that a report is of. */
function whereOf(store: Store, tell: Say): string {
  const media = [store.rows, store.columns].some(({ value }) => value.side.medium);
  const { study } = store.page;
  if (study?.named) return tell("overInputs", { inputs: study.inputs });
  const text = exampleOf(store);
  if (study?.inputs) return tell(text ? "inOneOf" : "inOneUnsaid", { inputs: study.inputs, text });
  return tell(media ? "inInput" : "inText");
}

/** The input whose maps the report of a study shows, in quotes; nothing where it is no text. */
export function exampleOf({ page: { read = "" } }: Store): string {
  if (!read) return "";
  return quoted(read.length > QUOTED ? `${read.slice(0, QUOTED).trimEnd()} …` : read);
}

/** The most specific names, as many as a line has room for, how many heads have others, how many none, and how many rest. */
function specific(
  store: Store,
  { all, named, resting, where }: { all: number; named: number; resting: number; where: string },
  counts: ReadonlyMap<string, number>,
  tell: Say,
): string {
  const ranked = bySpecific([...counts]);
  const said = (count: number, whole: boolean): string => {
    const told = ranked.slice(0, count);
    const parts = told.map(([name, of], i) => {
      const does = calledFor(name, doFor(store, name, of, tell), tell);
      return tell(i ? "headlineCount" : "headlineFirst", { count: of, all, does });
    });
    const names = ranked.length - count;
    const others = { count: named - told.reduce((sum, [, of]) => sum + of, 0), names };
    const other = others.count > 1 ? "headlineOther" : "headlineOtherOne";
    if (names > 0) parts.push(tell(names === 1 ? other : "headlineOthers", others));
    const none = all - named - resting;
    if (whole && none > 0)
      parts.push(tell(none > 1 ? "headlineUnnamed" : "headlineUnnamedOne", { count: none }));
    if (whole && resting > 0)
      parts.push(tell(resting > 1 ? "headlineRest" : "headlineRestOne", { count: resting }));
    return tell("headlineAll", { where, list: parts.join(tell("headlineAnd")) });
  };
  if (store.narrow.value) return said(1, false);
  const ways = [said(NAMED, true), said(NAMED, false), said(1, true)];
  return ways.find((way) => [...way].length <= LINE) ?? said(1, false);
}

/** What heads do, and the name that the legend has for it, unless they are the same words. */
function calledFor(name: string, does: string, tell: Say): string {
  const called = wordFor(tell, name).replace(/ ?[(（].*/u, "");
  return does.includes(called) ? does : tell("headlineCalled", { does, name: called });
}

/** Which head looks most at one patch, from the token whose looks are shown; null where that cannot be compared. */
function mostPointed(store: Store, all: number, tell: Say): string | null {
  const sites = store.page.sites.filter(({ kind }) => kind === store.selection.value.kind);
  if (store.look.value.contributions || !sites.every(isHere)) return null; // sizes differ between heads
  const [rows, columns] = [store.rows.value, store.columns.value];
  if (columns.side.medium?.kind !== "picture" || isStrip(columns.side)) return null;
  const patches = [...(placesOf(columns)?.keys() ?? [])];
  const query = pinned(store, []).queries[0];
  if (!patches.length || query === undefined) return null;
  let best = { head: "", key: -1, value: 0 };
  for (const site of sites)
    for (const head of site.heads) {
      const row = store.lens(head, site).row(query);
      for (const key of patches)
        if (row[key] > best.value) best = { head: `${site.layer}.${head}`, key, value: row[key] };
    }
  if (best.key < 0) return null;
  const from = spotOf(rows, query, tell);
  const to = spotOf(columns, best.key, tell);
  const [layer, head] = best.head.split(".").map(Number);
  const site = sites.find((one) => one.layer === layer && one.heads.includes(head))!;
  const said = { all, place: best.head, from, to, value: `${percent(best.value)}%` };
  return together(tell("headlinePointed", said), turnTold(store, { site, head }, tell));
}

/** What some heads of a name do: "looks" of one, "look" of several. */
function doFor(store: Store, name: string, count: number, tell: Say): string {
  const does = doesFor(tell, { name, colour: isOwn(store.page, name) ? "own" : undefined });
  return count > 1 && store.language.value === "en" ? does.replace(/^(\w+)s\b/, "$1") : does;
}

/** Of several heads of a layer, the ones that do something telling. */
function ofSome(store: Store, heads: readonly number[], tell: Say): string {
  const site = store.site.value;
  const { layer } = site;
  const count = heads.length;
  const cells = heads.map((head) => ({ site, head }));
  const told = telling(cells, store.look.value.contributions, 2);
  if (!told.length) return tell("headlineSomeNone", { layer, count });
  const list = told.map(({ cell, found }) => `${layer}.${cell.head} ${doesFor(tell, found)}`);
  return tell("headlineSome", { layer, count, list: list.join(tell("comma")) });
}

/** What one head does, with a look that shows it: the pinned token's, or its best one. */
function ofOne(store: Store, site: Site, tell: Say): string | null {
  const head = store.lead;
  const cell = { site, head };
  const { contributions, level } = store.look.value;
  const place = `${site.layer}.${head}`;
  const found = foundOf(cell, contributions);
  const rests = found.some(({ name }) => isResting(name));
  const { queries } = store.selection.value;
  const look = strongestLook(store, cell, queries.length === 1 ? queries[0] : undefined);
  const example = look && lookFor(store, site, look, tell);
  if (rests) return tell("headlineRests", { place, what: ledeOf(store, cell, tell)[0] });
  const opens = opensOn(store, site);
  if (!found.length) return example && unnamed(store, cell, opens ? null : example, tell);
  const does = doesFor(tell, found[0]);
  if (opens) return tell("headlineOnly", { place, does });
  const shown =
    queries.length === 1 || level !== "tokens" ? example : (bestOf(store, cell, found[0], tell) ?? example);
  return shown
    ? tell("headlineDoes", { place, does, example: shown })
    : tell("headlineOnly", { place, does });
}

/** The sentence above a picture: the head, and the look that is shown. */
function ofPicture(store: Store, tell: Say): string | null {
  const { layer } = store.site.value;
  const { heads } = store.selection.value;
  const shown = pinned(store, heads);
  const example = lookTold(store, shown, tell);
  if (example === null) return null;
  if (heads.length > 1) return tell("headlineMean", { count: heads.length, layer, example });
  const cell = { site: store.site.value, head: store.lead };
  const { contributions } = store.look.value;
  const place = `${layer}.${cell.head}`;
  const found = foundOf(cell, contributions);
  if (found.some(({ name }) => isResting(name)))
    return tell("headlineRests", { place, what: ledeOf(store, cell, tell)[0] });
  if (found.length) return tell("headlineDoes", { place, does: doesFor(tell, found[0]), example });
  const rest = restOf(cell, contributions);
  if (!rest || rest.share < MOSTLY)
    return together(lookTold(store, shown, tell, place), turnTold(store, cell, tell));
  const where = placeFor(tell, rest.place);
  const whose = whoseOf(store, cell.site, tell);
  return tell("headlineHereMostly", { place, share: percent(rest.share), where, whose, example });
}

/** Of a head without a name: how much it rests where that is most of it, or else that it has none, and its strongest look. */
function unnamed(store: Store, cell: Cell, example: string | null, tell: Say): string {
  const place = `${cell.site.layer}.${cell.head}`;
  const rest = restOf(cell, store.look.value.contributions);
  const link = example && tell("headlineLink", { example });
  if (!rest || rest.share < MOSTLY) return together(tell("headlineNoName", { place }), link);
  const where = placeFor(tell, rest.place);
  const elsewhere = example && tell("headlineElsewhere", { example });
  const whose = whoseOf(store, cell.site, tell);
  return together(tell("headlineMostly", { place, share: percent(rest.share), where, whose }), elsewhere);
}

/** Whether the picture opens on one word of a sentence, and says itself where that looks: no other look is told then. */
const opensOn = (store: Store, site: Site): boolean =>
  store.view.id === "heads" &&
  formOf(store) === "sentence" &&
  isCausal(site) &&
  !store.selection.value.queries.length;
