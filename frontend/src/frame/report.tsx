// What is known of one head, in sentences with their numbers; and what to keep in mind.

import { foundOf, measureOf, typeOf } from "../data/report";
import type { Found, Told } from "../data/wire";
import { figure } from "../marks/scales";
import { isKey } from "../words";
import { type Say, useSay, useStore } from "./context";

/** The reader's word for a pattern, a type or a measure; names that somebody else gave stay as they are. */
export function wordFor(tell: Say, name: string): string {
  const key = `name_${name}`;
  return isKey(key) ? tell(key) : name;
}

/** A sentence of Python in the reader's language, where its code is known. */
export function told(tell: Say, kind: "caution" | "note" | "reason", { text, code, values }: Told): string {
  const key = `${kind}_${code}`;
  return isKey(key) ? tell(key, values) : text;
}

/** What the head under the pointer, or the chosen one, does. */
export function Findings() {
  const store = useStore();
  const tell = useSay();
  const cell = store.pointed.value ?? { site: store.site.value, head: store.lead };
  const found = foundOf(cell);
  const type = typeOf(store.page, cell);
  const entropy = measureOf(cell, "entropy");
  const uniform = measureOf(cell, "entropy of uniform");
  const missing = Object.entries(cell.site.missing);
  return (
    <div class="about">
      {found.length === 0 && <p>{tell("noPattern")}</p>}
      {found.map((one) => (
        <p key={one.name} class="finding">
          <b>{wordFor(tell, one.name)}</b> <b title={tell("scoreHint")}>{figure(one.score, 2)}</b>
          <br />
          {sentenceOf(one, tell, store.language.value === "en")}
        </p>
      ))}
      {type && (
        <p>
          {tell("typeLine", { type: wordFor(tell, type.name), probability: figure(type.probability, 2) })}
        </p>
      )}
      {!type && cell.site.types !== null && <p>{tell("noType")}</p>}
      {entropy !== null && uniform !== null && (
        <p>
          {tell("entropyLine", {
            value: figure(entropy, 2),
            percent: uniform ? Math.round((100 * entropy) / uniform) : 100,
          })}
        </p>
      )}
      {missing.length > 0 && (
        <details class="missing">
          <summary>{tell("missing", { count: missing.length })}</summary>
          <ul class="plain-list">
            {missing.map(([name, reason]) => (
              <li key={name}>{[wordFor(tell, name), told(tell, "reason", reason)].join(tell("colon"))}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** A finding in words: as it came, or from its numbers where the reader's language is another. */
function sentenceOf(found: Found, tell: Say, english: boolean): string {
  const { name, sentence, mass, chance, hits, rows } = found;
  if (english || mass === undefined || chance === undefined || hits === undefined || rows === undefined)
    return sentence;
  const values = { hits, rows, mass: mass.toFixed(2), chance: chance.toFixed(2) };
  return tell("evidence", { what: wordFor(tell, name), ...values });
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
