// What is known of one head, in sentences with their numbers; and what to keep in mind.

import { positionOf } from "../compute/axis";
import type { Lens } from "../compute/lens";
import { restsOf } from "../compute/rest";
import { type Cell, foundOf, isKnown, isResting, measureOf, restOf, typeOf } from "../data/report";
import { type Found, isHere, type Site, type Told } from "../data/wire";
import { figure, hundredths, percent } from "../marks/scales";
import type { Store } from "../state/store";
import { isKey } from "../words";
import { quoted } from "../words/quoted";
import { type Say, useSay, useStore } from "./context";
import { isVision, tellsLook } from "./pictured";
import { MostWorth } from "./worth";

/** The reader's word for a pattern, a type or a measure; names that somebody else gave stay as they are. */
export function wordFor(tell: Say, name: string): string {
  const key = `name_${name}`;
  return isKey(key) ? tell(key) : name;
}

/** A name in few letters. */
export function shortFor(tell: Say, name: string): string {
  const short = `short_${name}`;
  return isKey(short) ? tell(short) : wordFor(tell, name);
}

/** A sentence of Python in the reader's language, where its code is known. */
export function told(tell: Say, kind: "caution" | "note" | "reason", { text, code, values }: Told): string {
  const key = `${kind}_${code}`;
  return isKey(key) ? tell(key, values) : text;
}

/** What a head of a name does, after its number: "0.2 looks one token back". */
export function doesFor(tell: Say, { name, colour }: Pick<Found, "name" | "colour">): string {
  const key = `does_${name}`;
  if (isKey(key)) return tell(key);
  return tell(colour ? "doesRule" : "doesNamed", { name });
}

export const MOSTLY = 0.5; // share from which a headline says that a head rests
const SHOWN = 0.01; // share below which resting is not worth a word

/** What the head under the pointer, or the chosen one, does: three lines, the numbers folded. */
export function Findings() {
  const store = useStore();
  const tell = useSay();
  const cell = store.pointed.value ?? { site: store.site.value, head: store.lead };
  const { contributions } = store.look.value;
  if (!isKnown(store.page)) return null;
  const found = foundOf(cell, contributions);
  return (
    <div class="about">
      {!found.length && <Strongest cell={cell} />}
      <p class="lede">
        {ledeOf(store, cell, tell).map((sentence) => (
          <span key={sentence}>{sentence}</span>
        ))}
      </p>
      {found.map((one, i) => (
        <Measured key={one.name} found={one} first={i === 0} />
      ))}
      <Other cell={cell} />
      <MostWorth cell={cell} />
      <Numbers cell={cell} />
    </div>
  );
}

/** In one sentence, what a head does where it does not rest. */
export function doingOf(store: Store, cell: Cell, tell: Say): string {
  const { contributions } = store.look.value;
  const does = actsOf(cell, contributions, tell);
  const rests = foundOf(cell, contributions).some(({ name }) => isResting(name));
  if (rests) return ledeOf(store, cell, tell)[0];
  if (!does.length) return isVision(store) ? "" : tell("noPattern");
  return tell("ledeDoes", { does: does.join(tell("comma")) });
}

const actsOf = (cell: Cell, contributions: boolean, tell: Say): string[] =>
  foundOf(cell, contributions)
    .filter(({ name }) => !isResting(name))
    .map((one) => doesFor(tell, one));

/** One or two sentences: where the head rests, and what it does with the rest of its attention. */
export function ledeOf(store: Store, cell: Cell, tell: Say): string[] {
  const { contributions } = store.look.value;
  const whose = whoseOf(store, cell.site, tell);
  const found = foundOf(cell, contributions);
  const rest = restOf(cell, contributions);
  const does = actsOf(cell, contributions, tell).join(tell("comma"));
  const share = rest && rest.share >= SHOWN ? percent(rest.share) : null;
  const place = rest ? placeFor(tell, rest.place) : "";
  if (found.some(({ name }) => isResting(name)))
    return [tell("ledeAlways", { place, share: share ?? 100, whose })];
  const left = 100 - (share ?? 0);
  const acts = share !== null && left ? tell("ledeOther", { does, left }) : tell("ledeDoes", { does });
  const awake = does ? [acts] : isVision(store) ? [] : [tell("noPattern")]; // names are of patterns in texts
  return share === null ? awake : [tell("ledeRests", { place, share, whose }), ...awake];
}

/** Whose attention is counted where it is said how much of it rests: special tokens and the first one are left out. */
export const whoseOf = ({ page }: Store, { query }: Site, tell: Say): string =>
  tell(page.sides.get(query)!.medium ? "ofTokens" : "ofWords");

/** The reader's words for where heads rest. */
export function placeFor(tell: Say, place: string): string {
  if (place === "the first token") return tell("first");
  if (place === "special tokens") return tell("specials");
  return place === "a place outside the text" ? tell("outside") : place;
}

/** What was measured beside chance, as two bars on one scale; the first says of what they are shares. */
function Measured({ found, first }: { found: Found; first: boolean }) {
  const tell = useSay();
  const { contributions } = useStore().look.value;
  const { name, mass, chance, hits, rows } = found;
  if (isResting(name) || mass === undefined || chance === undefined || chance === null)
    return found.mass === undefined ? <p>{found.sentence}</p> : null;
  const bar = (label: string, value: number, quiet: boolean) => (
    <>
      <span>{label}</span>
      <span class="bar">
        <i class={quiet ? "quiet" : ""} style={{ width: `${100 * value}%` }} />
      </span>
      <span class="value">{hundredths(value)}</span>
    </>
  );
  return (
    <div class="finding" data-finding={name} title={found.sentence}>
      <b>{wordFor(tell, name)}</b>
      <div class="measured">
        {bar(tell("measured"), mass, false)}
        {bar(tell("chance"), chance, true)}
      </div>
      {first && <small data-measured-of>{tell(contributions ? "measuredOfArriving" : "measuredOf")}</small>}
      {hits !== undefined && rows !== undefined && (
        <small title={tell("storyRowsHint")}>
          {tell(hits === rows ? "storyEvery" : "storyRows", { hits, rows })}
        </small>
      )}
    </div>
  );
}

const SEARCHED = 600; // rows that are looked through for the strongest look
const BAND = 32; // of them at a time

function Strongest({ cell }: { cell: Cell }) {
  const text = strongestOf(useStore(), cell, useSay());
  return text === null ? null : (
    <p class="lede" dir="auto" data-strongest>
      {text}
    </p>
  );
}

/** A look: tokens by their names, and its weight. */
export type Look = { query: number; from: string; to: string; value: string };

const looks = new WeakMap<Lens, Look | null>();

/** A head as it is chosen to be read, token by token, whatever is folded. */
export function unfolded(store: Store, site: Site, head: number): Lens {
  return store.lenses.of(site, site.heads.indexOf(head), { ...store.look.value, folds: undefined });
}

/** Where a head looks most, resting places left out; of one token, where that is given. */
export function strongestLook(store: Store, { site, head }: Cell, only?: number): Look | null {
  if (!isHere(site)) return null;
  const lens = unfolded(store, site, head);
  if (lens.rows.count > SEARCHED) return null;
  if (only !== undefined) return searched(lens, site, positionOf(lens.rows, only));
  const known = looks.get(lens);
  if (known !== undefined) return known;
  const found = searched(lens, site);
  looks.set(lens, found);
  return found;
}

function searched(lens: Lens, site: Site, only?: number): Look | null {
  const rests = restsOf(site, lens.rows, lens.columns);
  const best = { query: -1, key: -1, value: 0 };
  const m = lens.columns.count;
  const last = only === undefined ? lens.rows.count : only + 1;
  for (let p = only ?? 0; p < last; p += BAND) {
    const band = lens.band(p, Math.min(p + BAND, last));
    for (let i = 0; i < band.length; i++) {
      if (!(band[i] > best.value)) continue;
      const [query, key] = [p + Math.floor(i / m), i % m];
      const skipped = only === undefined && lens.rows.special[query];
      if (!skipped && !rests(query, key)) Object.assign(best, { query, key, value: band[i] });
    }
  }
  if (best.query < 0) return null;
  const [from, to] = [lens.rows.names[best.query], lens.columns.names[best.key]];
  return { query: best.query, from, to, value: best.value.toFixed(2) };
}

/** Where a head without a name looks most, in a sentence. */
export function strongestOf(store: Store, cell: Cell, tell: Say): string | null {
  if (store.look.value.worth || tellsLook(store)) return null; // what it is worth, or what is shown, is said elsewhere
  const look = strongestLook(store, cell);
  return look && tell("strongestLook", { ...look, from: quoted(look.from), to: quoted(look.to) });
}

/** What the other way of reading says: what arrives beside where it looks, or the other way round. */
function Other({ cell }: { cell: Cell }) {
  const store = useStore();
  const tell = useSay();
  const { contributions } = store.look.value;
  if (!cell.site.arriving?.[cell.site.heads.indexOf(cell.head)]) return null;
  const [found] = foundOf(cell, !contributions);
  const rest = restOf(cell, !contributions);
  const resting = rest && rest.share >= SHOWN;
  const what = resting
    ? [
        tell(contributions ? "weightRests" : "arrivingRests", {
          share: percent(rest.share),
          place: placeFor(tell, rest.place),
        }),
      ]
    : [];
  if (found && !isResting(found.name)) {
    const fits = found.mass ?? found.score; // of what does not rest
    const share = percent(resting ? (1 - rest.share) * fits : fits); // of the same whole as what rests
    const key = resting && percent(fits) === 100 ? "otherAll" : "otherDoes";
    what.push(tell(key, { name: wordFor(tell, found.name), share }));
  }
  if (!what.length) return null;
  return (
    <p data-other={contributions ? "weights" : "contributions"}>
      {tell(contributions ? "byWeight" : "byArriving", { what: what.join(tell("comma")) })}
    </p>
  );
}

/** Type, spread, and what could not be asked: folded. */
function Numbers({ cell }: { cell: Cell }) {
  const store = useStore();
  const tell = useSay();
  const type = typeOf(store.page, cell);
  const entropy = measureOf(cell, "entropy");
  const uniform = measureOf(cell, "entropy of uniform");
  const missing = Object.entries(cell.site.missing);
  return (
    <details class="missing">
      <summary>{tell("numbers")}</summary>
      {entropy !== null && uniform !== null && (
        <p>
          {tell("spreadLine", {
            places: figure(Math.exp(entropy), 2),
            most: figure(Math.exp(uniform), 2),
          })}
        </p>
      )}
      {type && (
        <p>
          {tell("typeLine", { type: wordFor(tell, type.name), probability: figure(type.probability, 2) })}
        </p>
      )}
      {!type && cell.site.types !== null && <p>{tell("noType")}</p>}
      {missing.length > 0 && (
        <ul class="plain-list">
          {missing.map(([name, reason]) => (
            <li key={name}>
              {wordFor(tell, name)}
              {tell("colon")}
              {told(tell, "reason", reason)}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** What to keep in mind beside all this. */
export function Cautions() {
  const store = useStore();
  const tell = useSay();
  const { cautions } = store.page;
  if (!cautions.length) return null;
  return (
    <details class="cautions" open={store.view.heads === "all"}>
      <summary>{tell("cautions")}</summary>
      <ul class="plain-list">
        {cautions.map((one) => (
          <li key={one.text}>{told(tell, "caution", one)}</li>
        ))}
      </ul>
    </details>
  );
}
