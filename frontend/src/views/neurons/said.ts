// What the neuron table says in sentences: which key agrees best, by how much, and how few neurons make it.

import { width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { attribution, halfOf, riseOf } from "../../compute/pairs";
import type { Say } from "../../frame/context";
import { figure, SMALL, withSign } from "../../marks/scales";
import { isKey, together } from "../../words";
import { quoted } from "../../words/quoted";
import { countingOf, type Expanded, sees } from "./table";

/** Where the score of a key stands beside the average of its row, and what the neurons have to do with it. */
export function madeOf(shown: Expanded, key: number) {
  const { site } = shown.lens;
  const rise = riseOf(shown.lens.head, shown.query, key);
  const above = shown.rows[key].score - shown.average;
  const own = rise.reduce((sum, x) => sum + x, 0); // without position bias and cap it is the same number
  const said = {
    score: figure(shown.rows[key].score, 2),
    value: figure(Math.abs(above), 2),
    average: figure(shown.average, 2),
    own: figure(own, 2),
    n: halfOf(rise).length,
    d: rise.length,
  };
  return { said, above, more: site.softcap !== null || site.bias !== null };
}

/** What a part of q and k is called: word, position, segment. */
export function partFor(tell: Say, name: string): string {
  const key = `part_${name}`;
  return isKey(key) ? tell(key) : name;
}

/** The parts of q and k that make most of what a score is above its row's average; null where none does, or none is known. */
export function partsOf(shown: Expanded, key: number, tell: Say): string | null {
  const { above } = madeOf(shown, key);
  const table = attribution(shown.lens.head, shown.query, key);
  if (!table || above <= 0 || Math.abs(table.sum - above) > CLOSE * above) return null;
  const cells = table.values.flatMap((row, a) => row.map((value, b) => ({ value, a, b })));
  const most = cells.reduce((best, cell) => (cell.value > best.value ? cell : best));
  if (most.value < above / 2) return null;
  return tell("madeParts", {
    most: withSign(most.value),
    a: partFor(tell, table.rows[most.a]),
    b: partFor(tell, table.columns[most.b]),
    rest: withSign(above - most.value),
  });
}

const CLOSE = 0.01; // of a score: parts must add up to it

/** The key that agrees best with the query, and what makes it so. */
export function ledeOf(shown: Expanded, tell: Say): string {
  const { lens, query, best, rows } = shown;
  const names = { query: quoted(lens.rows.names[query]), key: quoted(lens.columns.names[best]) };
  if (rows.filter((_, key) => sees(shown, key)).length === 1) return tell("ledeOnly", names);
  const { said, more } = madeOf(shown, best);
  const made = partsOf(shown, best, tell);
  if (made) return tell("ledeParts", { ...names, ...said, made });
  return tell(more ? "ledeNeuronsBias" : "ledeNeurons", { ...names, ...said });
}

/** The neurons that count most for a key, by the numbers that the picture has, and what they add; null where none does. */
export function countingSaid(shown: Expanded, key: number, tell: Say): string | null {
  const found = countingOf(shown, key);
  if (!found.length) return null;
  const list = found.map(({ neuron }) => neuron);
  return tell("counting", {
    key: quoted(shown.lens.columns.names[key]),
    n: found.length,
    d: shown.order.length,
    list: list.join(tell("comma")),
    sum: withSign(found.reduce((sum, { adds }) => sum + adds, 0)),
  });
}

/** The score of any key, beside the average of its row; of the best key what the headline leaves out. */
export function scoreOf(shown: Expanded, key: number, tell: Say): string {
  const { said, above, more } = madeOf(shown, key);
  if (key === shown.best && shown.counting.length) {
    const parts = !more && partsOf(shown, key, tell) !== null;
    return together(tell("averageAlone", said), parts && tell("halfAlone", said));
  }
  const where = tell(above < 0 ? "fall" : "rise", said);
  const made = partsOf(shown, key, tell);
  return together(tell(more ? "halfBias" : "half", { ...said, where }), made && tell("riseParts", { made }));
}

/** What q × k is multiplied with, as it is written behind it: / √32, × 0.2, or nothing. */
export function scaledBy({ site }: Lens): string {
  const d = width(site);
  if (Math.abs(site.scale - 1) < 1e-4) return "";
  return Math.abs(site.scale * Math.sqrt(d) - 1) < 1e-4 ? ` / √${d}` : ` × ${figure(site.scale)}`;
}

/** How vectors become weights, in the order of the columns. */
export function legendOf(lens: Lens, shown: Expanded | null, tell: Say): string {
  const { softcap, bias } = lens.site;
  const more = (softcap === null ? "" : tell("withCap", { cap: softcap })) + (bias ? tell("withBias") : "");
  const blank = shown?.weights.some((weight, key) => weight < SMALL && sees(shown, key))
    ? tell("blankBelow")
    : "";
  return tell("legendNeurons", { scaled: scaledBy(lens), more, blank });
}
