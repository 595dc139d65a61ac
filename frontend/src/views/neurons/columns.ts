// Where the columns of the neuron table stand, and how high its rows are.

const LOW = 20; // height of a row where there are many
const HIGH = 44; // and where there are few
export const LINES = { query: 24, titles: 20, names: 36, average: 24 }; // of the table's head
export const HEAD = LINES.query + LINES.titles + LINES.names + LINES.average;
const USUAL = { label: 110, number: 46, gap: 28, least: 1 };
const TIGHT = { label: 84, number: 42, gap: 8, least: 0.75 }; // on a phone, where k is left out
const ROOMY = 520; // pixels from which everything is shown
const WIDEST = 15; // pixels of a cell
const NAMED = { most: 29, least: 13 }; // pixels of a neuron with its number above it

export interface Layout {
  row: number; // height of a row
  cell: number; // width of a neuron
  wide: number; // of one that counts
  named: number; // how many of those there are
  strip: number; // of all
  label: number; // where names of keys end
  q: number; // where q and k begin
  k: boolean; // whether there is room for k
  product: number;
  score: number;
  weight: number;
  bar: number; // width of the longest bar
  number: number; // room of a number
  gap: number; // between columns
  width: number;
}

/** Height of a row, so that rows fill what is free. */
export const rowHeight = (free: number, count: number): number =>
  Math.max(LOW, Math.min(HIGH, Math.floor(free / Math.max(1, count))));

/** Columns of the table in a given width, for vectors of dimension d, of which so many neurons count. */
export function layout(available: number, d: number, row = LOW, counting = 0): Layout {
  const roomy = columns(available, d, row, counting, true);
  const k = available >= ROOMY && roomy.named === counting && roomy.width <= available + 1;
  return k ? roomy : columns(available, d, row, counting, false);
}

function columns(available: number, d: number, row: number, counting: number, k: boolean): Layout {
  const { label, number, gap, least } = k ? USUAL : TIGHT;
  const bar = Math.max(20, Math.min(140, available * (k ? 0.08 : 0.05)));
  const room = (available - label - 2 * (number + bar) - (k ? 3.5 : 4) * gap) / (k ? 2 : 1);
  const cells = cellsIn(room, d, least, counting);
  const strip = cells.named * cells.wide + (d - cells.named) * cells.cell;
  const q = label + gap / 2;
  const product = k ? q + strip + gap : q;
  const score = product + strip + gap;
  const weight = score + bar + number + gap;
  const places = { label, q, k, product, score, weight, bar, number, gap, width: weight + bar + number };
  return { row, ...cells, strip, ...places };
}

/** How wide neurons are in so much room: those that count have a number above them, and there are fewer where that does not fit. */
function cellsIn(room: number, d: number, least: number, counting: number) {
  const quarters = (width: number) => Math.floor(4 * width) / 4;
  const one = Math.max(least, Math.min(WIDEST, quarters(room / d)));
  const widest = (named: number) => (room - (d - named) * least) / named;
  let named = Math.min(counting, d);
  while (named > 0 && widest(named) < NAMED.least) named--;
  if (!named) return { cell: one, wide: one, named };
  const wide = Math.max(one, quarters(Math.min(NAMED.most, widest(named))));
  const cell = d > named ? Math.min(one, quarters((room - named * wide) / (d - named))) : wide;
  return { cell: Math.max(least, cell), wide, named };
}

/** Where each neuron begins in a strip, and where the last one ends. */
export function edgesOf({ order, counting }: { order: number[]; counting: number[] }, at: Layout): number[] {
  const wide = new Set(counting.slice(0, at.named));
  const edges = [0];
  for (const neuron of order) edges.push(edges[edges.length - 1] + (wide.has(neuron) ? at.wide : at.cell));
  return edges;
}
