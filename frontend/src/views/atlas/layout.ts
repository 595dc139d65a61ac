// How large the maps of the atlas are, and what they leave beside them. Enters: the room around both. Leaves: pixels.

const LEAST = 28; // pixels of a cell; with less, layers scroll
const MOST = 112;
const MOST_SEEN = 220; // of a picture, which is worth more room
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

const BLOCK = { labels: 40, head: 34, gap: 2, between: 20, most: 3 }; // layers in several columns side by side
const WIDER = 388; // as BESIDE, of small maps in such columns
const GROWN = 2; // pixels by which small maps grow that are worth it
const PANEL = { from: 1200, least: 380, most: 640, edges: 48, legend: 104 }; // an inspector that has the large map in it

export interface Layout {
  size: number; // of a cell
  small: boolean; // without names
  beside: number; // room for one head, large; 0 where there is too little
  blocks: number; // columns of layers, one beside the other
  turned: boolean; // heads down and layers across
  panel: number; // how wide the inspector is, with that head in it; 0: as usual, without
}

const ALONE = { small: false, beside: 0, blocks: 1, turned: false, panel: 0 };
export const NOTHING: Layout = { ...ALONE, size: 0, small: true };

const TOUCHED = 44; // pixels of a cell for a finger
const HIT = 34; // with less, cells scroll

/** On a phone: layers across where they are fewer than heads, with names where there is room; where cells would be too small for a finger, they scroll. */
export function onPhone(width: number, columns: number, rows: number): Layout {
  const size = (across: number) =>
    Math.floor(Math.min(SCROLLED, (width - BLOCK.labels) / across - TIGHT.gap));
  const turned = rows < columns;
  const found = size(turned ? rows : columns);
  if (found < HIT) return { ...NOTHING, size: TOUCHED };
  return { ...NOTHING, size: found, small: found < TOUCHED + TIGHT.gap, turned };
}

/** The view with the inspector beside it. Nothing in it moves them, so what follows from them alone cannot swing. */
export interface Whole {
  width: number; // 0 where the inspector is below
  height: number;
}

/** What the room has besides its size. */
interface Around {
  whole?: Whole;
  aspect?: number; // width of a map by its height
  pictured?: boolean; // whether it is a picture
}

/**
 * The cells with which all layers fit: with names, or without and in up to three columns. Or else they scroll. One head
 * is shown large beside them, or in the inspector where that leaves more room for all.
 */
export function layoutOf(
  width: number,
  height: number,
  columns: number,
  rows: number,
  { whole = { width: 0, height: 0 }, aspect = 1, pictured = false }: Around = {},
): Layout {
  const most = (pictured ? MOST_SEEN : MOST) * Math.max(1, Math.sqrt(aspect));
  const down = downOf(height, rows, aspect);
  const panelled = inPanel(whole, columns, rows, { down, aspect, most });
  if (panelled) return panelled;
  const across = (room: number) => Math.floor((room - LABELS - SCROLLBAR) / columns - GAP);
  const size = Math.floor(Math.min(most, across(width), down >= LEAST ? down + TICK : SCROLLED));
  if (down < LEAST) {
    const found = inBlocks(width, height, columns, rows, aspect);
    if (found) return found;
  }
  if (size < NAMED) return { ...ALONE, size: tightSize(width, height, columns, rows, aspect), small: true };
  const shared = Math.min(size, across(width - BESIDE - BETWEEN));
  if (shared < Math.max(NAMED, SHRUNK * size)) return { ...ALONE, size };
  const grid = LABELS + SCROLLBAR + columns * (shared + GAP);
  return { ...ALONE, size: shared, beside: Math.floor(width - grid - BETWEEN) };
}

/** The width of a map with which all layers fit. */
const downOf = (height: number, rows: number, aspect: number): number =>
  ((height - LABELS - 16) / rows - GAP - NAME) * aspect;

/**
 * Maps with names that have all the width but that of an inspector with one head large in it; null where they would be
 * tiny. How wide the inspector is follows from the whole alone: a narrower legend is higher, which must not widen it again.
 */
function inPanel(
  whole: Whole,
  columns: number,
  rows: number,
  { down, aspect, most }: { down: number; aspect: number; most: number },
): Layout | null {
  if (whole.width < PANEL.from) return null;
  const room = whole.width - PANEL.edges - LABELS - SCROLLBAR;
  const across = (panel: number) => (room - panel) / columns - GAP;
  const usual = downOf(whole.height - PANEL.legend, rows, aspect);
  const wanted = Math.min(most, across(PANEL.least), usual + TICK);
  if (usual < LEAST || wanted < NAMED) return null;
  const left = Math.floor(room - columns * (wanted + GAP));
  const panel = Math.max(PANEL.least, Math.min(PANEL.most, left));
  const size = Math.floor(Math.max(NAMED, Math.min(most, across(panel), down + TICK)));
  return { ...ALONE, size, panel };
}

/** All layers at once, in columns side by side: with one head large beside them where cells are large enough for that. */
function inBlocks(
  width: number,
  height: number,
  columns: number,
  rows: number,
  aspect: number,
): Layout | null {
  const { labels, head, gap, between, most } = BLOCK;
  const layouts = Array.from({ length: most }, (_, i) => i + 1).map((blocks) => {
    const down = ((height - head) / Math.ceil(rows / blocks) - gap) * aspect;
    const fixed = blocks * labels + (blocks - 1) * between;
    const across = (room: number) => (room - fixed) / (blocks * columns) - gap;
    const cell = (room: number) => Math.floor(Math.min(NAMED, down, across(room)));
    const used = (size: number) => fixed + blocks * columns * (size + gap);
    return { blocks, cell, used };
  });
  const found = [WIDER, BESIDE, 0].map((taken) => {
    const room = taken ? width - taken - BETWEEN : width;
    const best = layouts.reduce((a, b) => (b.cell(room) > a.cell(room) ? b : a));
    const size = best.cell(room);
    const beside = taken ? Math.floor(width - best.used(size) - BETWEEN) : 0;
    return { ...ALONE, size, small: true, beside, blocks: best.blocks };
  });
  const [wider, usual, alone] = found.map((one) => (one.size < LEAST ? null : one));
  if (wider && usual && usual.size >= wider.size + GROWN) return usual; // all heads grow more than one shrinks
  return wider ?? usual ?? alone;
}

function tightSize(width: number, height: number, columns: number, rows: number, aspect: number): number {
  const { labels, gap } = TIGHT;
  const down = ((height - labels - 16) / rows - gap) * aspect;
  const across = (width - labels) / columns - gap;
  return Math.floor(Math.min(across, down >= LEAST ? down : SCROLLED));
}
