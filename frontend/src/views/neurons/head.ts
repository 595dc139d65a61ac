// The head of the neuron table: the query's own vector, what the columns are, what colours mean, the row's average.

import { queryVectors } from "../../compute/attention";
import { riseOf } from "../../compute/pairs";
import { type Say, sayIn } from "../../frame/context";
import { elided, measure, type Pen } from "../../marks/pen";
import { decimals, type Palette, palette } from "../../marks/scales";
import { strip } from "../../marks/vectors";
import type { Store } from "../../state/store";
import { edgesOf, HEAD, type Layout, LINES } from "./columns";
import { colourKey, keyWidth } from "./key";
import { pairOf } from "./pair";
import { scaledBy } from "./said";
import { type Expanded, products, scoreAt, scoreBar, sees } from "./table";

const SMALL = 11; // pixels of a letter

/** What stands above the rows, of a query or of all. */
export function drawHead(pen: Pen, store: Store, shown: Expanded | null, at: Layout): void {
  const colours = palette(store.theme.value);
  const tell = sayIn(store);
  const quiet = { colour: colours.quiet, size: 12, mono: false };
  if (!shown) {
    pen.text(at.q, HEAD - 12, tell("query"), quiet);
    if (at.k) pen.text(at.product, HEAD - 12, tell("keyAlone"), quiet);
    return;
  }
  queryLine(pen, shown, at, tell, colours);
  titles(pen, store, shown, at, tell, colours);
  const pair = pairOf(store);
  const named = LINES.query + LINES.titles + LINES.names;
  if (pair?.[0] === shown.query) numbers(pen, shown, pair[1], at, named, tell, colours);
  pen.text(at.label, named + LINES.average / 2, tell("rowAverage"), { ...quiet, align: "end" });
  products(pen, shown.mean, shown, at, named, LINES.average - 2);
  scoreBar(pen, shown, at, shown.average, named, LINES.average, false, colours);
  const [x] = scoreAt(shown, at, shown.average);
  pen.lines([x, named + 2, x, HEAD], 1, 1, { colour: colours.quiet, dashed: true });
  pen.lines([0, HEAD - 1, at.width + 6, HEAD - 1], 1, 1, { colour: colours.rule });
}

/** Whether one key says what the colours of q and of k mean. */
const alike = ({ sizes }: Expanded): boolean => sizes.q === sizes.k;

/** q of the token that looks. */
function queryLine(pen: Pen, shown: Expanded, at: Layout, tell: Say, colours: Palette): void {
  const { order, query, sizes, lens } = shown;
  const d = order.length;
  const middle = LINES.query / 2;
  const name = at.k ? tell("queryOf", { text: lens.rows.names[query] }) : tell("queryAlone");
  pen.text(at.label, middle, elided(name, at.label - 2), { colour: colours.ink, align: "end", bold: true });
  const q = queryVectors(lens.head).subarray(query * d, (query + 1) * d);
  strip(pen, q, order, edgesOf(shown, at), at.q, 3, LINES.query - 6, sizes.q);
  const both = at.k && alike(shown);
  const x = at.q + at.strip + (at.k ? at.gap : 14);
  const said = both ? tell("bothVectors") : "";
  if (said) pen.text(x, middle, said, { colour: colours.quiet, size: SMALL, mono: false });
  colourKey(pen, x + (said ? measure(said, SMALL, false) + 8 : 0), middle, sizes.q, at, colours);
}

/** What each column is, in the order in which it is read; and what its colours mean. */
function titles(pen: Pen, store: Store, shown: Expanded, at: Layout, tell: Say, colours: Palette): void {
  const y = LINES.query + LINES.titles / 2;
  const ink = { colour: colours.ink, size: 12, mono: false };
  /** A name and, where there is room beside it, what the colours of its strip mean. */
  const column = (x: number, name: string, size: number | null) => {
    pen.text(x, y, name, ink);
    if (size === null) return;
    const left = x + at.strip - keyWidth(size, at);
    const beside = left > x + measure(name, 12, false) + 8;
    colourKey(pen, left, beside ? y : y + 16, size, at, colours);
  };
  if (at.k) column(at.q, tell("keyVector"), alike(shown) ? null : shown.sizes.k);
  column(at.product, tell("product", { scaled: scaledBy(shown.lens) }), shown.sizes.product);
  const { contributions, relative } = store.look.value;
  const last = contributions ? tell(relative ? "sharesName" : "contributionsName") : tell("weightShort");
  /** How a number comes about, where there is room for it, or else its name. */
  const told = (x: number, how: string, name: string) => {
    const fits = measure(how, 12, false) <= at.bar + at.number + at.gap / 2;
    pen.text(x, y, fits ? how : elided(name, at.bar + at.number + 8), { ...ink, align: "end" });
  };
  told(at.score + at.bar + at.number, tell("toScore"), tell("scaled"));
  told(at.width, contributions ? last : tell("toWeight", { last }), last);
  if (at.k) pen.text(at.label, y, tell("keysHere"), { ...ink, align: "end" });
}

/** Above each wide column: the neuron's number and, where there is room, what it adds to a score above the row's average. */
function numbers(
  pen: Pen,
  shown: Expanded,
  key: number,
  at: Layout,
  bottom: number,
  tell: Say,
  colours: Palette,
): void {
  const named = shown.counting.slice(0, at.named);
  if (!named.length) return;
  const edges = edgesOf(shown, at);
  const middle = { size: at.wide > 15 ? SMALL : 10, mono: false, align: "middle" as const };
  const small = { colour: colours.quiet, size: SMALL, mono: false, align: "end" as const };
  const above = (
    start: number,
    y: number,
    texts: readonly string[],
    ink: { colour: string; bold?: boolean },
  ) =>
    named.forEach((neuron, i) => {
      const place = shown.order.indexOf(neuron);
      pen.text(start + (edges[place] + edges[place + 1]) / 2, y, texts[i], { ...middle, ...ink });
    });
  const added = sees(shown, key) ? briefly(riseOf(shown.lens.head, shown.query, key), named, at.wide) : null;
  const upper = bottom - (at.k || added ? 24 : 9);
  const bold = { colour: colours.accent, bold: true };
  for (const start of at.k ? [at.q, at.product] : [at.product]) {
    above(start, upper, named.map(String), bold);
    others(pen, shown, at, start, upper, tell, colours);
  }
  pen.text(at.label, upper, tell("neuronsHere"), small);
  if (!added) return;
  above(at.product, bottom - 9, added, { colour: colours.quiet });
  pen.text(at.product - 8, bottom - 9, tell("besideAverage"), small);
}

/** Above the narrow columns, where they stand together: how many they are. */
function others(
  pen: Pen,
  shown: Expanded,
  at: Layout,
  start: number,
  y: number,
  tell: Say,
  colours: Palette,
): void {
  const { order, counting } = shown;
  const [from, rest] = [at.named * at.wide, order.length - at.named];
  if (order.some((neuron, place) => place < at.named && !counting.includes(neuron))) return;
  const text = tell("otherNeurons", { n: rest });
  if (measure(text, SMALL, false) > rest * at.cell) return;
  const x = start + from + (rest * at.cell) / 2;
  pen.text(x, y, text, { colour: colours.quiet, size: SMALL, mono: false, align: "middle" });
}

/** Numbers with their sign and as many decimals each; null where they do not fit side by side. */
function briefly(values: Float32Array, which: readonly number[], wide: number): string[] | null {
  const largest = Math.max(...which.map((neuron) => Math.abs(values[neuron])));
  for (const places of largest >= 10 ? [0] : largest >= 1 ? [1] : [2, 1]) {
    const texts = which.map(
      (neuron) => `${values[neuron] < 0 ? "" : "+"}${decimals(values[neuron], places)}`,
    );
    if (texts.every((text) => measure(text, SMALL, false) <= wide - 2)) return texts;
  }
  return null;
}
