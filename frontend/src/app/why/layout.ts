// Where things stand in the drawing of lines back through the layers: the text as columns, one row for each layer that
// takes part, the look that was asked about on top.

import type { Line } from "./chain";

/** A text that lines begin or end in: its tokens as they are drawn. */
export interface Text {
  side: string;
  names: readonly string[];
}

/** The texts on both sides of each kind of attention. */
export type Sides = (kind: string) => { query: string; key: string };

export interface Column {
  side: string;
  position: number;
  text: string;
  x: number; // its middle
  width: number;
}

export interface Row {
  kind: string;
  layer: number;
  top: number;
  base: number; // middle height of its tokens
  between: number; // layers between this row and the one above
  lit: ReadonlySet<Column>; // tokens at which its lines end
}

export interface Arc {
  line: number;
  from: number;
  to: number;
  base: number; // where it stands on its tokens
  lift: number; // how high it rises
}

/** A place of the text, carried from one layer up to the next line. */
export interface Stem {
  x: number;
  from: number;
  to: number;
  token: string; // what is carried
}

export interface Layout {
  width: number;
  height: number;
  gutter: number; // room for names of layers at the left; 0 where they stand above their rows
  columns: Column[];
  gaps: { x: number; hidden: number }[]; // tokens that are left out
  rows: Row[];
  arcs: Arc[];
  stems: Stem[];
}

export const LETTERS = 13; // size of tokens
export const CHIP = 28; // height of a name on its arc, with the space below it
const PAD = 14; // between two tokens
const LOOSEST = 64; // the same where there is room
const GAP = 40;
const LONGEST = 110; // width of a token
const TOKENS = 20; // height of a row of tokens
const RISE = 22; // of the shortest arc
const RISES = 0.05; // how much higher a longer one is, by its length
const HIGHER = 24; // the same at most
export const APART = 34; // between two layers
const NAME = 18; // height of a layer's name, where it stands above its row

type Measure = (text: string) => number;

const nameOf = (side: string, position: number) => `${side} ${position}`;

/** Kinds of one layer in the order in which they run, last first; the encoder lies below all. */
const depthOf = ({ kind, layer }: { kind: string; layer: number }): number =>
  (kind === "encoder" ? 0 : 10_000) + 2 * layer + (kind === "cross" ? 1 : 0);

/** The drawing of some lines in a given width. */
export function layoutOf(
  lines: readonly Line[],
  texts: readonly Text[],
  sides: Sides,
  width: number,
  gutter: number,
  measure: Measure,
): Layout {
  const ends = lines.map((line) => {
    const { query, key } = sides(line.kind);
    return [nameOf(query, line.query), nameOf(key, line.key)] as const;
  });
  const involved = new Set(ends.flat());
  const { columns, gaps } = columnsOf(texts, involved, width - gutter, measure);
  for (const one of [...columns, ...gaps]) one.x += gutter;
  const at = new Map(columns.map((column) => [nameOf(column.side, column.position), column]));
  const { rows, arcs, height } = rowsOf(lines, ends, at, gutter > 0 ? 0 : NAME);
  return {
    width,
    height,
    gutter,
    columns,
    gaps,
    rows,
    arcs,
    stems: stemsOf(lines, arcs, (i) => at.get(ends[i][1])!.text),
  };
}

interface Piece {
  side: string;
  position: number;
  text: string;
  width: number;
}

/** All tokens where they fit; otherwise those that take part, and as many beside them as there is room for. */
function columnsOf(
  texts: readonly Text[],
  involved: ReadonlySet<string>,
  width: number,
  measure: Measure,
): Pick<Layout, "columns" | "gaps"> {
  const pieces = texts.flatMap(({ side, names }) =>
    names.map((text, position) => ({ side, position, text, width: Math.min(LONGEST, measure(text)) })),
  );
  const own = pieces.flatMap(({ side, position }, i) => (involved.has(nameOf(side, position)) ? [i] : []));
  const near = pieces
    .map((_, i) => ({ i, far: Math.min(...own.map((one) => Math.abs(one - i))) }))
    .sort((a, b) => a.far - b.far || a.i - b.i);
  const kept = new Set(own);
  for (const { i } of near) {
    kept.add(i);
    if (kept.size > own.length && roomOf(pieces, kept) > width && !own.includes(i)) {
      kept.delete(i);
      break;
    }
  }
  return placed(pieces, kept, width);
}

/** Runs of tokens that are shown, and how many are left out before each and after the last. */
function runsOf(pieces: readonly Piece[], kept: ReadonlySet<number>): (number | { hidden: number })[] {
  const found: (number | { hidden: number })[] = [];
  let hidden = 0;
  pieces.forEach((_, i) => {
    if (!kept.has(i)) {
      hidden++;
      return;
    }
    if (hidden) found.push({ hidden });
    found.push(i);
    hidden = 0;
  });
  return hidden ? [...found, { hidden }] : found;
}

const roomOf = (pieces: readonly Piece[], kept: ReadonlySet<number>): number =>
  runsOf(pieces, kept).reduce<number>(
    (sum, one) => sum + (typeof one === "number" ? pieces[one].width + PAD : GAP),
    0,
  );

function placed(
  pieces: readonly Piece[],
  kept: ReadonlySet<number>,
  width: number,
): Pick<Layout, "columns" | "gaps"> {
  const spare = Math.max(0, width - roomOf(pieces, kept)) / Math.max(1, kept.size);
  const pad = PAD + Math.min(LOOSEST - PAD, spare);
  const squeezed = Math.min(1, width / roomOf(pieces, kept)); // too many lines for a narrow picture
  const columns: Column[] = [];
  const gaps: Layout["gaps"] = [];
  let x = 0;
  for (const one of runsOf(pieces, kept)) {
    const wide = squeezed * (typeof one === "number" ? pieces[one].width + pad : GAP);
    if (typeof one === "number") {
      const { side, position, text, width } = pieces[one];
      columns.push({ side, position, text, x: x + wide / 2, width: Math.min(width, wide - 4) });
    } else gaps.push({ x: x + wide / 2, hidden: one.hidden });
    x += wide;
  }
  return { columns, gaps };
}

type Ends = readonly (readonly [string, string])[];

function rowsOf(
  lines: readonly Line[],
  ends: Ends,
  at: ReadonlyMap<string, Column>,
  name: number,
): Pick<Layout, "rows" | "arcs" | "height"> {
  const depths = [...new Set(lines.map(depthOf))].sort((a, b) => b - a);
  const rows: Row[] = [];
  const arcs: Arc[] = [];
  let y = 0;
  for (const depth of depths) {
    const here = lines.flatMap((line, i) => (depthOf(line) === depth ? [i] : []));
    const { kind, layer } = lines[here[0]];
    const above = rows.at(-1);
    const between = above && above.kind === kind ? above.layer - layer - 1 : 0;
    if (above) y += APART;
    // Short arcs below long ones, each with room for its name.
    const span = (i: number) => Math.abs(at.get(ends[i][0])!.x - at.get(ends[i][1])!.x);
    const ordered = here.sort((a, b) => span(a) - span(b));
    const lifts = ordered.map((i, n) => RISE + CHIP * n + Math.min(HIGHER, RISES * span(i)));
    const base = y + name + CHIP + Math.max(...lifts) + TOKENS / 2;
    const lit = new Set(ordered.flatMap((i) => ends[i].map((end) => at.get(end)!)));
    rows.push({ kind, layer, top: y, base, between, lit });
    ordered.forEach((i, n) => {
      const [from, to] = ends[i].map((end) => at.get(end)!.x);
      arcs.push({ line: i, from, to, base: base - TOKENS / 2, lift: lifts[n] });
    });
    y = base + TOKENS / 2;
  }
  return { rows, arcs: arcs.sort((a, b) => a.line - b.line), height: y };
}

/** From the tokens above which a line stands, up to the line that it leads to. */
function stemsOf(lines: readonly Line[], arcs: readonly Arc[], read: (line: number) => string): Stem[] {
  return lines.flatMap(({ into, side }, i) => {
    if (into === null) return [];
    const to = arcs[into];
    const x = side === "key" ? to.to : to.from;
    return [{ x, from: arcs[i].base, to: to.base + TOKENS, token: read(i) }];
  });
}
