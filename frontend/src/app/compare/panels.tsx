// A, B and A − B as maps on the same scale, with the cell under the pointer marked in all of them.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Axis } from "../../compute/axis";
import type { Lens } from "../../compute/lens";
import { restingPixels, restsOf } from "../../compute/rest";
import { type Say, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { followWidth } from "../../frame/scroller";
import { axes } from "../../marks/axes";
import { heat, signedHeat } from "../../marks/heat";
import { colourRow } from "../../marks/legend";
import { canvasPen, measure, type Pen, prepare, shifted } from "../../marks/pen";
import {
  brief,
  palette,
  rampStops,
  STEPS,
  type Theme,
  ticks,
  twoSidedStops,
  twoSidedTicks,
  withSign,
} from "../../marks/scales";
import type { Store } from "../../state/store";
import { useSession, useTell } from "../context";
import type { Session } from "../session";
import { type Difference, otherWords, type Picture } from "./difference";
import { type Heads, headName } from "./sides";

const NARROW = 330; // pixels a panel needs
const GAP = 16;
const LABEL = 110;
const LARGEST = 26; // pixels per cell

interface Panel {
  id: "a" | "b" | "both";
  labels: [left: number, above: number]; // room for them, the same in all panels
  rows: Axis;
  columns: Axis;
  picture: Picture;
  rests?: Uint8Array; // pixels where the head rests
}

type Cell = { query: number; key: number; panel: string } | null;

const drawn = stage<{ panels: Panel[]; top: number }>();

export function Panels({ a, b, difference }: Heads & { difference: Difference }) {
  const store = useStore();
  const session = useSession();
  const tell = useTell();
  const holder = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const cell = useSignal<Cell>(null);
  const panels = panelsOf(a, b, difference);
  useLayoutEffect(() => followWidth(holder.current!, width), []);
  const across = Math.max(1, Math.min(panels.length, Math.floor((width.value + GAP) / (NARROW + GAP))));
  const room = Math.min(560, (width.value - GAP * (across - 1)) / across);
  const top = Math.max(difference.a.top, difference.b.top);
  drawn.use(store, () => ({ panels, top }), [a, b, difference]);
  const legendSide = store.theme.value === "dark" ? "legendSideDark" : "legendSide";
  const [one, two] = whatOf(session, tell);
  const names = {
    a: `A · ${headName(a)} · ${one}`,
    b: `B · ${headName(b)} · ${two}`,
    both: tell("difference"),
  };
  return (
    <div class="app-panels" ref={holder}>
      <div class="app-panel-row">
        {width.value > 0 &&
          panels.map((panel) => (
            <figure key={panel.id} data-panel={panel.id} style={{ width: `${room}px` }}>
              <figcaption>
                <b dir="auto" title={names[panel.id]}>
                  {names[panel.id]}
                </b>
                <span class="quiet">{tell(panel.id === "both" ? "legendDifference" : legendSide)}</span>
              </figcaption>
              <Sheet panel={panel} room={room} top={top} cell={cell} label={names[panel.id]} />
            </figure>
          ))}
      </div>
      <p class="app-readout" data-readout>
        {readout(cell.value, a, b, difference, tell)}
      </p>
    </div>
  );
}

export function picture(pen: Pen, store: Store, width: number): number | null {
  const { panels, top } = drawn.of(store) ?? { panels: [], top: 0 };
  if (!panels.length) return null;
  const each = (width - GAP * (panels.length - 1)) / panels.length;
  const heights = panels.map((panel, i) =>
    draw(shifted(pen, i * (each + GAP), 0), panel, each, top, null, store.theme.peek()),
  );
  return Math.max(...heights);
}

/** What the two sides are. */
function whatOf(session: Session, tell: Say): [string, string] {
  const { other, text, pair } = session.ask.value;
  if (other.with === "on") return [tell("someOff"), tell("with_on")];
  if (other.with === "model")
    return [session.shown.value?.model ?? "", session.comparison.other.value?.model ?? ""];
  const joined = (...texts: string[]) => texts.filter(Boolean).join(" · ");
  return [joined(text, pair), joined(other.text, other.pair)];
}

function readout(cell: Cell, a: Heads["a"], b: Heads["b"], { both }: Difference, tell: Say): string {
  if (!cell) return tell("pointHint");
  const { query, key } = cell;
  const lens = cell.panel === "b" ? b : a;
  if (query >= lens.rows.count || key >= lens.columns.count) return tell("pointHint");
  const name = tell("pointed", { query: lens.rows.names[query], key: lens.columns.names[key] });
  if (!both) return tell("readoutOne", { cell: name, value: brief(lens.row(query)[key]) });
  const [one, two] = [a.row(query)[key], b.row(query)[key]];
  return tell("readout", { cell: name, a: brief(one), b: brief(two), difference: withSign(one - two) });
}

function sideOf({ site, rows, columns }: Lens, picture: Picture) {
  const rests = restingPixels(restsOf(site, rows, columns), picture, columns.count);
  return { rows, columns, picture, rests };
}

function panelsOf(a: Heads["a"], b: Heads["b"], difference: Difference): Panel[] {
  const sides = [
    { id: "a" as const, ...sideOf(a, difference.a) },
    { id: "b" as const, ...sideOf(b, difference.b) },
  ];
  if (!difference.both) return aligned(sides);
  const differ = otherWords(a, b);
  const both = (own: Axis, other: Axis, marked: boolean[]): Axis => ({
    ...own,
    names: own.names.map((text, i) => (marked[i] ? `${text}/${other.names[i]}` : text)),
  });
  const rows = both(a.rows, b.rows, differ.rows);
  const columns = both(a.columns, b.columns, differ.columns);
  return aligned([...sides, { id: "both" as const, rows, columns, picture: difference.both }]);
}

/** Panels with the same room for their labels, so that rows and columns lie side by side. */
function aligned(panels: Omit<Panel, "labels">[]): Panel[] {
  const wide = (axis: Axis) =>
    Math.min(
      LABEL,
      16 + axis.names.reduce((most, text) => Math.max(most, measure(text.slice(0, 16), 12)), 0),
    );
  const left = Math.max(...panels.map(({ rows }) => wide(rows)));
  const above = Math.max(...panels.map(({ columns }) => wide(columns)));
  return panels.map((panel) => ({ ...panel, labels: [left, above] }));
}

interface SheetProps {
  panel: Panel;
  room: number;
  top: number;
  cell: { value: Cell };
  label: string;
}

function Sheet({ panel, room, top, cell, label }: SheetProps) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = store.theme.value;
  const at = cell.value;
  useLayoutEffect(() => {
    const nowhere: Pen = { lines() {}, rect() {}, text() {}, image() {} };
    const height = draw(nowhere, panel, room, top, null, theme);
    draw(canvasPen(prepare(canvas.current!, room, height)), panel, room, top, at, theme);
    mark("regard:drawn");
  }, [panel.picture, room, top, theme, at]);
  const point = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const { left, top: above, scale } = frameOf(panel, room);
    const key = Math.floor((event.clientX - box.left - left) / scale);
    const query = Math.floor((event.clientY - box.top - above) / scale);
    const inside = key >= 0 && query >= 0 && key < panel.columns.count && query < panel.rows.count;
    if (inside && at?.query === query && at.key === key && at.panel === panel.id) return;
    cell.value = inside ? { query, key, panel: panel.id } : null;
  };
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={label}
      onPointerMove={point}
      onPointerLeave={() => (cell.value = null)}
    />
  );
}

function frameOf({ rows, columns, labels: [left, top] }: Panel, room: number) {
  return { left, top, scale: Math.min(LARGEST, (room - left) / Math.max(columns.count, rows.count)) };
}

const pictures = new WeakMap<Picture, { canvas: HTMLCanvasElement; key: string }>();

function imageOf({ id, picture, rests }: Panel, top: number, theme: Theme): HTMLCanvasElement {
  const key = `${theme} ${top}`;
  const known = pictures.get(picture);
  if (known?.key === key) return known.canvas;
  const canvas = document.createElement("canvas");
  const [rows, columns] = picture.size;
  if (id === "both") signedHeat(canvas, picture.values, rows, columns, picture.top, theme);
  else heat(canvas, picture.values, rows, columns, top, false, theme, (i) => rests?.[i] === 1);
  pictures.set(picture, { canvas, key });
  return canvas;
}

/** One panel on a pen; its height. */
function draw(pen: Pen, panel: Panel, room: number, top: number, cell: Cell, theme: Theme): number {
  const { rows, columns } = panel;
  const { left, top: above, scale } = frameOf(panel, room);
  const [wide, high] = [columns.count * scale, rows.count * scale];
  const colours = palette(theme);
  pen.image(imageOf(panel, top, theme), left, above, wide, high);
  const edge = [left, above, left + wide, above, left + wide, above, left + wide, above + high];
  pen.lines([...edge, left + wide, above + high, left, above + high, left, above + high, left, above], 4, 1, {
    colour: colours.rule,
  });
  const here = cell && cell.query < rows.count && cell.key < columns.count ? cell : null;
  const frame = { left, top: above, width: wide, height: high };
  const lit = { rows: here ? [here.query] : [], columns: here ? [here.key] : [] };
  axes(pen, rows, columns, frame, { x: 0, y: 0, scale }, lit, colours);
  if (here) {
    const [x, y, s] = [left + here.key * scale, above + here.query * scale, Math.max(3, scale)];
    const box = [x, y, x + s, y, x + s, y, x + s, y + s, x + s, y + s, x, y + s, x, y + s, x, y];
    pen.lines(box, 4, 1.5, { colour: colours.accent });
  }
  const bar =
    panel.id === "both"
      ? { stops: twoSidedStops(theme), ticks: twoSidedTicks(panel.picture.top) }
      : { stops: rampStops(theme, STEPS), ticks: ticks(top, false) };
  return colourRow(pen, [left, above + high + 10], wide, bar, colours);
}
