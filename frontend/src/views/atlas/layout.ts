// How large the maps of the atlas are, and what they leave beside them. Enters: the room around both. Leaves: pixels.

const LEAST = 28; // pixels of a cell; with less, layers scroll
const MOST = 112;
const SCROLLED = 72; // where they scroll anyway
const TICK = 5; // at the left of a map
const LABELS = 48; // for the numbers of layers, and of heads
const NAME = 14; // the line below a map
const GAP = 5;
const NAMED = 44; // from which a name can be read below a map
const SCROLLBAR = 16;
const TIGHT = { labels: 20, gap: 2 }; // of maps without names: the tick is inside them
const BESIDE = 336; // room in which one head is shown large: maps shrink a little for it
const SHRUNK = 0.7; // but not below this share of their size
const BETWEEN = 20; // the grid and that head

export interface Layout {
  size: number; // of a cell
  small: boolean; // without names
  beside: number; // room for one head, large; 0 where there is too little
}

/** The cells with which all layers fit, or else scroll. */
export function layoutOf(width: number, height: number, columns: number, rows: number): Layout {
  const down = (height - LABELS - 16) / rows - GAP - NAME;
  const across = (room: number) => Math.floor((room - LABELS - SCROLLBAR) / columns - GAP);
  const size = Math.floor(Math.min(MOST, across(width), down >= LEAST ? down + TICK : SCROLLED));
  if (size < NAMED) return { size: tightSize(width, height, columns, rows), small: true, beside: 0 };
  const shared = Math.min(size, across(width - BESIDE - BETWEEN));
  if (shared < Math.max(NAMED, SHRUNK * size)) return { size, small: false, beside: 0 };
  const grid = LABELS + SCROLLBAR + columns * (shared + GAP);
  return { size: shared, small: false, beside: Math.floor(width - grid - BETWEEN) };
}

function tightSize(width: number, height: number, columns: number, rows: number): number {
  const { labels, gap } = TIGHT;
  const down = (height - labels - 16) / rows - gap;
  const across = (width - labels) / columns - gap;
  return Math.floor(Math.min(across, down >= LEAST ? down : SCROLLED));
}
