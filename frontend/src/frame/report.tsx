// What is known of one head, in sentences with their numbers; and what to keep in mind.

import { type Cell, foundOf, isKnown, isResting, measureOf, restOf, typeOf } from "../data/report";
import { type Found, isHere, type Rest, type Site, type Told } from "../data/wire";
import { figure, hundredths, percent } from "../marks/scales";
import type { Store } from "../state/store";
import { isKey } from "../words";
import { type Say, useSay, useStore } from "./context";
import { isVision } from "./pictured";
import { bestOf, strongestOf } from "./strongest";
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
const SHOWN = { text: 0.01, picture: 0.05 }; // share below which resting is not worth a word

const isShown = (store: Store, rest: Rest | null): rest is Rest =>
  rest !== null && rest.share >= SHOWN[isVision(store) ? "picture" : "text"];

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
      {found.length > 0 && store.view.heads === "all" && <Example cell={cell} found={found[0]} />}
      {found.map((one, i) => (
        <Measured key={one.name} found={one} of={i < found.length - 1 ? null : wholeOf(store, cell, tell)} />
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
  const share = isShown(store, rest) ? percent(rest.share) : null;
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

/** Of what the bars are shares: with the number that the sentence above them has for it. */
function wholeOf(store: Store, cell: Cell, tell: Say): string {
  const { contributions } = store.look.value;
  const rest = restOf(cell, contributions);
  const share = isShown(store, rest) ? 100 - percent(rest.share) : 100;
  if (contributions) return tell(share < 100 ? "measuredOfArriving" : "measuredOfOutput", { share });
  return tell(share < 100 ? "measuredOf" : "measuredOfAll", { share });
}

/** What was measured beside chance, as two bars on one scale, and in how many tokens; the last says of what they are shares. */
function Measured({ found, of }: { found: Found; of: string | null }) {
  const tell = useSay();
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
      <p title={tell("storyRowsHint")}>
        <b>{wordFor(tell, name)}</b>
        {hits !== undefined && rows !== undefined && (
          <span class="quiet">
            {" · "}
            {tell("storyCount", { hits, rows })}
          </span>
        )}
      </p>
      <div class="measured">
        {bar(tell("measured"), mass, false)}
        {bar(tell("chance"), chance, true)}
      </div>
      {of && (
        <p class="quiet" data-measured-of>
          {of}
        </p>
      )}
    </div>
  );
}

/** Where no headline has it: the look that shows a name best. */
function Example({ cell, found }: { cell: Cell; found: Found }) {
  const store = useStore();
  const tell = useSay();
  if (isResting(found.name) || store.look.value.worth || store.look.value.level !== "tokens") return null;
  const example = isHere(cell.site) && bestOf(store, cell, found, tell);
  return example ? (
    <p dir="auto" data-example>
      {tell("ledeExample", { example })}
    </p>
  ) : null;
}

function Strongest({ cell }: { cell: Cell }) {
  const text = strongestOf(useStore(), cell, useSay());
  return text === null ? null : (
    <p class="lede" dir="auto" data-strongest>
      {text}
    </p>
  );
}

/** What the other way of reading says: what arrives beside where it looks, or the other way round. */
function Other({ cell }: { cell: Cell }) {
  const store = useStore();
  const tell = useSay();
  const { contributions } = store.look.value;
  if (!cell.site.arriving?.[cell.site.heads.indexOf(cell.head)]) return null;
  if (isVision(store) && !foundOf(cell, contributions).length) return null; // no name is there to compare it with
  const [found] = foundOf(cell, !contributions);
  const rest = restOf(cell, !contributions);
  const resting = isShown(store, rest);
  const what = resting ? [restSaid(cell, contributions, rest, tell)] : [];
  if (found && !isResting(found.name)) {
    const fits = found.mass ?? found.score; // of what does not rest
    const share = percent(resting ? (1 - rest.share) * fits : fits); // of the same whole as what rests
    what.push(tell("otherDoes", { name: wordFor(tell, found.name), share }));
  }
  if (!what.length) return null;
  return (
    <p data-other={contributions ? "weights" : "contributions"}>
      {tell(contributions ? "byWeight" : "byArriving", { what: what.join(tell("headlineAnd")) })}
    </p>
  );
}

/** How much rests by the other way of reading, where most, and why that is another place than by this one. */
export function restSaid(cell: Cell, contributions: boolean, { share, place }: Rest, tell: Say): string {
  const said = { share: percent(share), place: placeFor(tell, place) };
  if (contributions) return tell("weightRests", said);
  const looked = restOf(cell)?.place;
  if (!looked || looked === place) return tell("arrivingRests", said);
  return tell("arrivingRestsMore", { ...said, other: placeFor(tell, looked) });
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
