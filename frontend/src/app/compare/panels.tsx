// A, B and A − B as maps on the same scale, with the cell under the pointer marked in all of them.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Say, useStore } from "../../frame/context";
import { mark, stage } from "../../frame/drawn";
import { followWidth } from "../../frame/scroller";
import { axes } from "../../marks/axes";
import { heat, signedHeat } from "../../marks/heat";
import { COLOUR_ROW, colourRow } from "../../marks/legend";
import { canvasPen, type Pen, prepare, shifted } from "../../marks/pen";
import {
  brief,
  palette,
  rampStops,
  STEPS,
  type Theme,
  ticks,
  twoSidedStops,
  twoSidedTicks,
} from "../../marks/scales";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { quoted } from "../../words/quoted";
import { useSession, useTell } from "../context";
import type { Session } from "../session";
import { besides, type Difference, otherWords, type Picture } from "./difference";
import { acrossOf, GAP, NARROW, type Panel, panelsOf, placed, topOf, widthOf } from "./placing";
import { type Heads, headName } from "./sides";

const BAR = 10; // pixels between a map and its colours
type Cell = { query: number; key: number; panel: string } | null;

const drawn = stage<{ panels: Panel[]; top: number }>();

export function Panels({ a, b, difference }: Heads & { difference: Difference }) {
  const store = useStore();
  const session = useSession();
  const tell = useTell();
  const holder = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const cell = useSignal<Cell>(null);
  useLayoutEffect(() => followWidth(holder.current!, width), []);
  const { panels, scale, shared } = placed(panelsOf(a, b, difference), width.value);
  const top = topOf(panels);
  drawn.use(store, () => ({ panels, top }), [a, b, difference]);
  const legendSide = store.theme.value === "dark" ? "legendSideDark" : "legendSide";
  const [one, two] = whatOf(session, tell);
  const marked = difference.both !== null && otherWords(a, b).count > 0;
  const said = {
    a: { name: `A · ${headName(a)}`, what: one, legend: tell(legendSide) },
    b: { name: `B · ${headName(b)}`, what: two, legend: "" },
    both: {
      name: tell("difference"),
      what: "",
      legend: together(tell("legendDifference"), marked && tell("legendOther")),
    },
  };
  return (
    <div class="app-panels" ref={holder}>
      <div class="app-panel-row">
        {width.value > 0 &&
          panels.map((panel) => {
            const { name, what, legend } = said[panel.id];
            return (
              <figure
                key={panel.id}
                data-panel={panel.id}
                style={{ width: `${Math.ceil(widthOf(panel, scale(panel)))}px` }}
              >
                <figcaption style={{ paddingInlineStart: `${panel.labels[0]}px` }}>
                  <b>{name}</b>
                  <span dir="auto" title={what}>
                    {what}
                  </span>
                  <span class="quiet">{legend}</span>
                </figcaption>
                <Sheet {...{ panel, top, cell, shared }} scale={scale(panel)} label={`${name} ${what}`} />
              </figure>
            );
          })}
        {width.value > 0 && shared && <SharedBar {...acrossOf(panels, scale)} top={top} />}
      </div>
      <p class="app-readout" data-readout>
        {readout(cell.value, a, b, difference, tell)}
      </p>
    </div>
  );
}

export function picture(pen: Pen, store: Store, width: number): number | null {
  const found = drawn.of(store);
  if (!found) return null;
  const { panels, scale } = placed(found.panels, Math.max(width, NARROW * found.panels.length));
  const theme = store.theme.peek();
  let left = 0;
  const heights = panels.map((panel) => {
    const from = left;
    left += Math.ceil(widthOf(panel, scale(panel))) + GAP;
    return draw(shifted(pen, from, 0), panel, scale(panel), found.top, null, theme, true);
  });
  const bar = acrossOf(panels, scale);
  colourRow(
    pen,
    [bar.left, Math.max(...heights) - COLOUR_ROW],
    bar.width,
    weights(found.top, theme),
    palette(theme),
  );
  return Math.max(...heights);
}

/** The colours of weights up to the largest of A and B that does not rest. */
const weights = (top: number, theme: Theme) => ({ stops: rampStops(theme, STEPS), ticks: ticks(top, false) });

/** The colours of A and B, below both. */
function SharedBar({ left, width, top }: { left: number; width: number; top: number }) {
  const theme = useStore().theme.value;
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const pen = canvasPen(prepare(canvas.current!, Math.ceil(width), COLOUR_ROW));
    colourRow(pen, [0, 0], width, weights(top, theme), palette(theme));
  }, [width, top, theme]);
  return <canvas ref={canvas} class="shared" aria-hidden="true" style={{ left: `${left}px` }} />;
}

/** What the two sides are. */
function whatOf(session: Session, tell: Say): [string, string] {
  const { other, text, pair } = session.ask.value;
  if (other.with === "on") return [tell("someOff"), tell("noneOff")];
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
  const name = tell("pointed", {
    query: quoted(lens.rows.names[query]),
    key: quoted(lens.columns.names[key]),
  });
  if (!both) return tell("readoutOne", { cell: name, value: brief(lens.row(query)[key]) });
  const [one, two, between] = besides(a.row(query)[key], b.row(query)[key], both.top);
  return tell("readout", { cell: name, a: one, b: two, difference: between });
}

interface SheetProps {
  panel: Panel;
  scale: number;
  top: number;
  cell: { value: Cell };
  label: string;
  shared: boolean;
}

function Sheet({ panel, scale, top, cell, label, shared }: SheetProps) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = store.theme.value;
  const at = cell.value;
  useLayoutEffect(() => {
    const nowhere: Pen = { lines() {}, rect() {}, text() {}, image() {} };
    const height = draw(nowhere, panel, scale, top, null, theme, shared);
    const wide = Math.ceil(widthOf(panel, scale));
    draw(canvasPen(prepare(canvas.current!, wide, height)), panel, scale, top, at, theme, shared);
    mark("regard:drawn");
  }, [panel.picture, panel.labels[0], scale, top, theme, at, shared]);
  const point = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const [left, above] = panel.labels;
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
      data-cell={scale}
      aria-label={label}
      onPointerMove={point}
      onPointerLeave={() => (cell.value = null)}
    />
  );
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

/** One panel on a pen, without its colours where A and B share theirs; its height, with them. */
function draw(
  pen: Pen,
  panel: Panel,
  scale: number,
  top: number,
  cell: Cell,
  theme: Theme,
  shared: boolean,
): number {
  const { rows, columns } = panel;
  const [left, above] = panel.labels;
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
  const below = above + high + BAR;
  if (shared && panel.id !== "both") return below + COLOUR_ROW;
  const bar =
    panel.id === "both"
      ? { stops: twoSidedStops(theme), ticks: twoSidedTicks(panel.picture.top) }
      : weights(top, theme);
  return colourRow(pen, [left, below], wide, bar, colours);
}
