// The head of the neuron table: the query's own vector, what the columns are, what colours mean, the row's average.

import { queryVectors } from "../../compute/attention";
import { type Say, sayIn } from "../../frame/context";
import { elided, measure, type Pen } from "../../marks/pen";
import { figure, type Palette, palette, SIGNS, withSign } from "../../marks/scales";
import { strip } from "../../marks/vectors";
import type { Store } from "../../state/store";
import { pairOf } from "./pair";
import { scaleOf } from "./said";
import { countingOf, type Expanded, HEAD, type Layout, LINES, products, scoreAt, scoreBar } from "./table";

const SMALL = 11; // pixels of a letter
const STEPS = 28;

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
  if (pair?.[0] === shown.query) numbers(pen, shown, pair[1], at, named, colours);
  pen.text(at.label, named + LINES.average / 2, tell("rowAverage"), { ...quiet, align: "end" });
  products(pen, shown.mean, shown, at, named, LINES.average - 2);
  scoreBar(pen, shown, at, shown.average, named, LINES.average, false, colours);
  const [x] = scoreAt(shown, at, shown.average);
  pen.lines([x, named + 2, x, HEAD], 1, 1, { colour: colours.quiet, dashed: true });
  pen.lines([0, HEAD - 1, at.width + 6, HEAD - 1], 1, 1, { colour: colours.rule });
}

/** q of the token that looks. */
function queryLine(pen: Pen, shown: Expanded, at: Layout, tell: Say, colours: Palette): void {
  const { order, query, sizes, lens } = shown;
  const d = order.length;
  const middle = LINES.query / 2;
  const name = at.k ? tell("queryOf", { text: lens.rows.names[query] }) : tell("queryAlone");
  pen.text(at.label, middle, elided(name, at.label - 2), { colour: colours.ink, align: "end", bold: true });
  const q = queryVectors(lens.head).subarray(query * d, (query + 1) * d);
  strip(pen, q, order, at.q, 3, at.cell, LINES.query - 6, sizes.q);
  colourKey(pen, at.q + d * at.cell + 14, middle, sizes.q, at, colours);
}

/** What each column is, in the order in which it is read; and what its colours mean. */
function titles(pen: Pen, store: Store, shown: Expanded, at: Layout, tell: Say, colours: Palette): void {
  const y = LINES.query + LINES.titles / 2;
  const ink = { colour: colours.ink, size: 12, mono: false };
  const d = shown.order.length;
  /** A name and, where there is room beside it, what the colours of its strip mean. */
  const column = (x: number, wide: number, name: string, size: number) => {
    pen.text(x, y, name, ink);
    const left = x + wide - keyWidth(size, at);
    const beside = left > x + measure(name, 12, false) + 8;
    colourKey(pen, left, beside ? y : y + 16, size, at, colours);
  };
  if (at.k) column(at.q, d * at.cell, tell("keyVector"), shown.sizes.k);
  column(at.product, d * at.cell, tell("product"), shown.sizes.product);
  const { contributions, relative } = store.look.value;
  const last = contributions ? tell(relative ? "sharesName" : "contributionsName") : tell("weightShort");
  /** How a number comes about, where there is room for it, or else its name. */
  const told = (x: number, how: string, name: string) => {
    const fits = measure(how, 12, false) <= at.bar + at.number + at.gap / 2;
    pen.text(x, y, fits ? how : elided(name, at.bar + at.number + 8), { ...ink, align: "end" });
  };
  const scale = scaleOf(shown.lens);
  told(at.score + at.bar + at.number, tell("toScore", { scale }), tell("scaled"));
  told(at.width, contributions ? last : tell("toWeight", { last }), last);
  if (at.k) pen.text(at.label, y, tell("keysHere"), { ...ink, align: "end" });
}

/** Above the products: the numbers of the neurons that count most and what each adds, each led to its column. */
function numbers(pen: Pen, shown: Expanded, key: number, at: Layout, bottom: number, colours: Palette): void {
  const found = countingOf(shown, key).sort((a, b) => a.place - b.place);
  const wide = shown.order.length * at.cell;
  const room = wide + (at.k ? 0 : at.gap);
  const apart = Math.min(at.k ? APART : CLOSE, room / Math.max(1, found.length));
  const wanted = found.map(({ place }) => at.product + (place + 0.5) * at.cell);
  const spots = spread(wanted, apart, at.product + apart / 2, at.product + room - apart / 2);
  found.forEach(({ neuron, adds }, i) => {
    const x = spots[i];
    const middle = { size: SMALL, mono: false, align: "middle" as const };
    pen.text(x, bottom - (at.k ? 27 : 13), String(neuron), { ...middle, colour: colours.accent, bold: true });
    if (at.k) pen.text(x, bottom - 15, withSign(adds), { ...middle, colour: colours.quiet });
    const path = [x, bottom - (at.k ? 9 : 7), wanted[i], bottom - 1];
    pen.lines(path, 1, 1, { colour: colours.accent, alpha: 0.7 });
  });
}

const APART = 31; // pixels of a number and of what it adds
const CLOSE = 20; // of the number alone

/** Places in their order, at least so far apart, near where they are wanted. */
export function spread(wanted: readonly number[], apart: number, low: number, high: number): number[] {
  const spots: number[] = [];
  for (const x of wanted) spots.push(Math.max(low, x, (spots.at(-1) ?? Number.NEGATIVE_INFINITY) + apart));
  for (let i = spots.length - 1, most = high; i >= 0; i--, most = spots[i + 1] - apart)
    spots[i] = Math.min(spots[i], most);
  return spots;
}

/** A round number near twice the size at which a strip has three quarters of its colour: there it has all of it. */
function roundly(size: number): number {
  const power = 10 ** Math.floor(Math.log10(2 * size));
  return power * ([5, 2, 1].find((step) => step * power <= 2 * size) ?? 1);
}

const ends = (size: number): [low: string, high: string] => {
  const end = figure(roundly(size), 1);
  return [`≤ −${end}`, `≥ +${end}`];
};

/** How wide the colours of a key are, and the key with its numbers. */
const barWidth = ({ k }: Layout): number => (k ? 56 : 24);
const keyWidth = (size: number, at: Layout): number =>
  barWidth(at) + 8 + ends(size).reduce((sum, text) => sum + measure(text, SMALL, false), 0);

/** What the colours of a strip mean: a bar from a negative to a positive number, with a tick at 0. */
function colourKey(pen: Pen, x: number, y: number, size: number, at: Layout, colours: Palette): void {
  const wide = barWidth(at);
  const [low, high] = ends(size);
  const small = { colour: colours.quiet, size: SMALL, mono: false };
  pen.text(x, y, low, small);
  const from = x + measure(low, SMALL, false) + 4;
  for (let i = 0; i < STEPS; i++) {
    const value = ((i + 0.5) / STEPS) * 2 - 1;
    pen.rect(from + (i * wide) / STEPS, y - 4, wide / STEPS, 8, {
      colour: value < 0 ? SIGNS.negative : SIGNS.positive,
      alpha: Math.tanh((Math.abs(value) * roundly(size)) / size),
    });
  }
  pen.lines([from + wide / 2, y - 6, from + wide / 2, y + 6], 1, 1, { colour: colours.quiet });
  pen.text(from + wide + 4, y, high, small);
}
