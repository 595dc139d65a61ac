// Where A, B and A − B stand: with one scale and their own names, side by side where they fit.

import type { Axis } from "../../compute/axis";
import type { Lens } from "../../compute/lens";
import { restingPixels, restsOf } from "../../compute/rest";
import { measure } from "../../marks/pen";
import { type Difference, otherWords, type Picture } from "./difference";
import type { Heads } from "./sides";

export const NARROW = 330; // pixels a panel needs
export const GAP = 16;
const LABEL = 150; // pixels of the longest name
const LARGEST = 30; // pixels per cell
const OTHER = "*"; // behind a token of A where B has another

export interface Panel {
  id: "a" | "b" | "both";
  labels: [left: number, above: number]; // room for them; above the same in all panels
  rows: Axis;
  columns: Axis;
  picture: Picture;
  rests?: Uint8Array; // pixels where the head rests
}

function sideOf({ site, rows, columns }: Lens, picture: Picture) {
  const rests = restingPixels(restsOf(site, rows, columns), picture, columns.count);
  return { rows, columns, picture, rests };
}

export function panelsOf(a: Heads["a"], b: Heads["b"], difference: Difference): Panel[] {
  const sides = [
    { id: "a" as const, ...sideOf(a, difference.a) },
    { id: "b" as const, ...sideOf(b, difference.b) },
  ];
  if (!difference.both) return aligned(sides);
  const differ = otherWords(a, b);
  const both = (own: Axis, marked: boolean[]): Axis => ({
    ...own,
    names: own.names.map((text, i) => (marked[i] ? `${text}${OTHER}` : text)),
  });
  const rows = both(a.rows, differ.rows);
  const columns = both(a.columns, differ.columns);
  return aligned([...sides, { id: "both" as const, rows, columns, picture: difference.both }]);
}

/** Panels with room for their labels: above as much for all, so that rows lie side by side. */
function aligned(panels: Omit<Panel, "labels">[]): Panel[] {
  const wide = (axis: Axis) =>
    Math.min(
      LABEL,
      18 + axis.names.reduce((most, text) => Math.max(most, measure(text.slice(0, 24), 12)), 0),
    );
  const above = Math.max(...panels.map(({ columns }) => wide(columns)));
  return panels.map((panel) => ({ ...panel, labels: [wide(panel.rows), above] }));
}

/** Where the colours of A and B end: at the largest weight that does not rest. */
export function topOf(panels: readonly Panel[]): number {
  let [awake, all] = [0, 0];
  for (const { id, picture, rests } of panels) {
    if (id === "both") continue;
    all = Math.max(all, picture.top);
    picture.values.forEach((value, i) => {
      if (!rests?.[i] && value > awake) awake = value;
    });
  }
  return awake || all;
}

interface Placed {
  panels: Panel[];
  scale: (panel: Panel) => number;
  shared: boolean; // whether A and B have their colours together
}

/** Panels in one row where they fit, with one scale and room for names; else as large as fits. */
export function placed(panels: Panel[], width: number): Placed {
  const longest = ({ rows, columns }: Panel) => Math.max(rows.count, columns.count);
  const across = Math.max(1, Math.min(panels.length, Math.floor((width + GAP) / (NARROW + GAP))));
  if (across < panels.length) {
    const room = Math.min(560, (width - GAP * (across - 1)) / across);
    const scale = (panel: Panel) => Math.min(LARGEST, (room - panel.labels[0]) / longest(panel));
    return { panels, scale, shared: false };
  }
  const beside = Math.max(...panels.map(({ labels }) => labels[0])); // as much for all: maps are evenly spaced
  const row = panels.map((panel) => ({ ...panel, labels: [beside, panel.labels[1]] as Panel["labels"] }));
  const taken = row.length * (beside + GAP) - GAP;
  const cells = row.reduce((sum, panel) => sum + longest(panel), 0);
  const scale = Math.min(LARGEST, (width - taken - row.length) / cells); // each is rounded up to a whole pixel
  return { panels: row, scale: () => scale, shared: true };
}

export const widthOf = ({ labels, columns }: Panel, scale: number): number =>
  labels[0] + columns.count * scale;

/** From the left edge of the first map to the right edge of the second: as wide are the colours of both. */
export function acrossOf(
  panels: readonly Panel[],
  scale: (panel: Panel) => number,
): { left: number; width: number } {
  const [a, b] = panels;
  const [left] = a.labels;
  return { left, width: Math.ceil(widthOf(a, scale(a))) + GAP + widthOf(b, scale(b)) - left };
}
