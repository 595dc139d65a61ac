// The head of the neuron table: the query's own vector, what the columns are, what colours mean, the row's average.

import { riseOf } from "../../compute/pairs";
import { type Say, sayIn } from "../../frame/context";
import { elided, measure, type Pen } from "../../marks/pen";
import { decimals, type Palette, palette } from "../../marks/scales";
import { strip } from "../../marks/vectors";
import type { Store } from "../../state/store";
import { edgesOf, HEAD, type Layout, LINES } from "./columns";
import { type Expanded, queryOf, sees } from "./expanded";
import { colourKey, keyWidth } from "./key";
import { pairOf } from "./pair";
import { scaledBy } from "./said";
import { querySigns } from "./signs";
import { products, scoreAt, scoreBar } from "./table";

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
  const middle = LINES.query / 2;
  const name = at.k ? tell("queryOf", { text: lens.rows.names[query] }) : tell("queryAlone");
  pen.text(at.label, middle, elided(name, at.label - 2), { colour: colours.ink, align: "end", bold: true });
  strip(pen, queryOf(shown), order, edgesOf(shown, at), at.q, 3, LINES.query - 6, sizes.q);
  querySigns(pen, shown, at, middle, colours);
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
  const rise = sees(shown, key) ? riseOf(shown.lens.head, shown.query, key) : null;
  const places = rise && placesFor(rise, named, at.wide);
  const upper = bottom - (at.k || places !== null ? 24 : 9);
  const bold = { colour: colours.accent, bold: true };
  const starts = at.k ? [at.q, at.product] : [at.product];
  for (const start of starts) above(start, upper, named.map(String), bold);
  const rest = starts.map((start) => others(pen, shown, at, start, upper, tell, colours)).at(-1);
  pen.text(at.label, upper, tell("neuronsHere"), small);
  if (!rise || places === null) return;
  const written = (value: number) => `${value < 0 ? "" : "+"}${decimals(value, places)}`;
  const y = bottom - 9;
  above(
    at.product,
    y,
    named.map((neuron) => written(rise[neuron])),
    { colour: colours.quiet },
  );
  pen.text(at.label, y, tell("besideAverage"), small);
  const total = rise.reduce((sum, x) => sum + x, 0);
  const most = named.reduce((sum, neuron) => sum + rise[neuron], 0);
  if (rest) pen.text(rest, y, written(total - most), { ...small, align: "middle" });
  pen.text(at.score + at.bar + at.number, y, written(total), { ...small, size: 12 });
}

/** Above the narrow columns, where they stand together: how many they are. Leaves their middle; null where there is no room. */
function others(
  pen: Pen,
  shown: Expanded,
  at: Layout,
  start: number,
  y: number,
  tell: Say,
  colours: Palette,
): number | null {
  const { order, counting } = shown;
  const [from, rest] = [at.named * at.wide, order.length - at.named];
  if (order.some((neuron, place) => place < at.named && !counting.includes(neuron))) return null;
  const text = tell("otherNeurons", { n: rest });
  if (measure(text, SMALL, false) > rest * at.cell) return null;
  const x = start + from + (rest * at.cell) / 2;
  pen.text(x, y, text, { colour: colours.quiet, size: SMALL, mono: false, align: "middle" });
  return x;
}

/** How many decimals numbers with their sign may have side by side; null where they do not fit. */
function placesFor(values: Float32Array, which: readonly number[], wide: number): number | null {
  const largest = Math.max(...which.map((neuron) => Math.abs(values[neuron])));
  const fits = (places: number) =>
    which.every(
      (neuron) => measure(`+${decimals(Math.abs(values[neuron]), places)}`, SMALL, false) <= wide - 2,
    );
  return (largest >= 10 ? [0] : largest >= 1 ? [1] : [2, 1]).find(fits) ?? null;
}
