// What the neuron table says in sentences: which key agrees best, by how much, and how few neurons make it.

import { width } from "../../compute/attention";
import type { Lens } from "../../compute/lens";
import { riseOf } from "../../compute/pairs";
import type { Say } from "../../frame/context";
import { figure, SMALL } from "../../marks/scales";
import { isKey, together } from "../../words";
import { quoted } from "../../words/quoted";
import { addedTo, countingOf, type Expanded, sees } from "./expanded";
import { fixed } from "./table";

/** Where the score of a key stands beside the average of its row, and what the neurons that count most add to that. */
export function madeOf(shown: Expanded, key: number) {
  const { site } = shown.lens;
  const rise = riseOf(shown.lens.head, shown.query, key);
  const above = shown.rows[key].score - shown.average;
  const found = countingOf(shown, key);
  const sum = found.reduce((total, { adds }) => total + adds, 0);
  const own = rise.reduce((total, x) => total + x, 0); // without position bias and cap it is the same number
  const said = {
    score: fixed(shown.rows[key].score, shown),
    value: fixed(Math.abs(above), shown),
    average: fixed(shown.average, shown),
    own: fixed(own, shown),
    sum: fixed(sum, shown),
    n: found.length,
    d: rise.length,
  };
  return { said, above, within: sum > 0 && sum <= own, more: site.softcap !== null || site.bias !== null };
}

/** What a part of q and k is called: word, position, segment. */
export function partFor(tell: Say, name: string): string {
  const key = `part_${name}`;
  return isKey(key) ? tell(key) : name;
}

/** The key that agrees best with the query, and the neurons that make it so. */
export function ledeOf(shown: Expanded, tell: Say): string {
  const { lens, query, best, rows } = shown;
  const names = { query: quoted(lens.rows.names[query]), key: quoted(lens.columns.names[best]) };
  if (rows.filter((_, key) => sees(shown, key)).length === 1) return tell("ledeOnly", names);
  const { said, more, within } = madeOf(shown, best);
  const neurons = tell(within ? "neuronsMake" : "neuronsMove", said);
  return tell(more ? "ledeNeuronsBias" : "ledeNeurons", { ...names, ...said, neurons });
}

/** The neurons that move the score of a key most, by the numbers that the picture has, and whether q and k agree there. */
export function countingSaid(shown: Expanded, key: number, tell: Say): string | null {
  const found = countingOf(shown, key);
  if (!found.length) return null;
  const products = addedTo(shown, key);
  const same = found.filter(({ neuron }) => products[neuron] > 0).length;
  const said = {
    key: quoted(shown.lens.columns.names[key]),
    list: found.map(({ neuron }) => neuron).join(tell("comma")),
    n: found.length,
    same,
  };
  const signs = same === found.length ? "signsSame" : same ? "signsSome" : "signsOpposite";
  return together(tell("counting", said), tell(signs, said));
}

/** The score of any key, beside the average of its row; of the best key what the headline leaves out. */
export function scoreOf(shown: Expanded, key: number, tell: Say): string {
  const { said, above, more } = madeOf(shown, key);
  if (key === shown.best && shown.counting.length) return tell("averageAlone", said);
  return together(tell(above < 0 ? "fall" : "rise", said), more && tell("ownAlone", said));
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
