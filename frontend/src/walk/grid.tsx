// Matrices as coloured grids, in equations: a pointed cell lights what it came from.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../app/context";
import { elided } from "../marks/pen";
import { figure, palette, ramp, SIGNS, type Theme } from "../scales";
import type { Matrix } from "./maths";
import type { Equation, Rule, Shown } from "./steps";

const WIDE = 420; // most pixels of a map's width; other matrices get less
const NARROW = 192;
const HIGH = 260;
const LINE = 22; // height of a row with a name
const NUMBERS = 38; // cell width from which numbers are written in
const LETTER = 7.3; // width of a monospaced letter
const NAME = 12 * LETTER; // longest name of a row or column

interface At {
  item: number;
  row: number;
  column: number;
}

interface Lit {
  row?: number;
  column?: number;
}

interface Layout {
  left: number;
  top: number;
  cell: number;
  line: number;
  width: number;
  height: number;
}

/** One equation, and the sentence about the cell under the pointer. */
export function EquationView({ equation, read }: { equation: Equation; read: Signal<string> }) {
  const at = useSignal<At | null>(null);
  const matrices = equation.items.filter((item): item is Shown => typeof item !== "string");
  const point = (next: At | null) => {
    at.value = next;
    read.value = next ? sentence(equation.rule, matrices, next) : "";
  };
  let number = -1;
  return (
    <div class="equation" data-rule={equation.rule}>
      {equation.items.map((item, i) => {
        if (typeof item === "string")
          return (
            <span key={i} class="sign">
              {item}
            </span>
          );
        number += 1;
        const index = number;
        return (
          <Grid
            key={i}
            shown={item}
            lit={at.value ? litIn(equation.rule, matrices.length, at.value, index) : null}
            point={(row, column) => point(row === null ? null : { item: index, row, column })}
          />
        );
      })}
    </div>
  );
}

/** What a pointed cell lights in matrix `index`; the last matrix is the result. */
export function litIn(rule: Rule, count: number, at: At, index: number): Lit {
  const { item, row, column } = at;
  if (item === index) return { row, column };
  if (rule === "same") return { row, column };
  if (rule === "row") return { row };
  const last = count - 1;
  if (item === last) return index === 0 ? { row } : { column }; // a row of the first, a column of the others
  if (item === 0) return index === last ? { row } : index === 1 ? { row: column } : {};
  if (index === 0) return item === 1 ? { column: row } : {};
  return { column };
}

const name = (labels: readonly string[] | undefined, index: number): string =>
  labels?.[index]?.trim() || String(index);

function sentence(rule: Rule, matrices: readonly Shown[], at: At): string {
  const { matrix, name: called, rows, columns } = matrices[at.item];
  const value = matrix.values[at.row * matrix.columns + at.column];
  const [row, column] = [name(rows, at.row), name(columns, at.column)];
  const start = `${called}[${row}, ${column}] = ${exact(value)}`;
  if (at.item !== matrices.length - 1 || rule !== "product") return start;
  const [a, b] = matrices;
  const more = matrices.length > 3 ? ` + ${matrices[2].name}[${column}]` : "";
  return `${start} = Σₖ ${a.name}[${row}, k] · ${b.name}[k, ${column}]${more},  k = 0 … ${a.matrix.columns - 1}`;
}

/** A number as it is, to six digits. */
const exact = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(6))).replace("-", "−") : figure(value);

function layoutOf({ matrix, rows, columns }: Shown): Layout {
  const longest = rows ? Math.max(...rows.map((text) => Math.min(12, text.length))) : 0;
  const left = rows ? Math.ceil(longest * LETTER) + 8 : 0;
  const most = columns && rows ? WIDE : NARROW;
  const cell = columns
    ? Math.max(12, Math.min(44, most / matrix.columns))
    : Math.min(44, most / matrix.columns);
  const line = rows ? Math.max(12, Math.min(LINE, HIGH / matrix.rows)) : Math.min(LINE, HIGH / matrix.rows);
  const letters = columns ? Math.max(...columns.map((text) => Math.min(12, text.length))) : 0;
  const top = columns ? Math.ceil(letters * LETTER) + 8 : 0;
  return { left, top, cell, line, width: left + cell * matrix.columns, height: top + line * matrix.rows };
}

function Grid(props: { shown: Shown; lit: Lit | null; point: (row: number | null, column: number) => void }) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { matrix, name: called } = props.shown;
  const at = layoutOf(props.shown);
  const theme = store.theme.value;
  useEffect(() => draw(canvas.current!, props.shown, at, props.lit, theme));
  const move = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - at.left) / at.cell);
    const row = Math.floor((event.clientY - box.top - at.top) / at.line);
    const inside = row >= 0 && column >= 0 && row < matrix.rows && column < matrix.columns;
    props.point(inside ? row : null, column);
  };
  return (
    <figure class="grid">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${called}, ${matrix.rows} × ${matrix.columns}`}
        data-matrix={called}
        data-left={at.left}
        data-top={at.top}
        data-cell={at.cell}
        data-line={at.line}
        onPointerMove={move}
        onPointerLeave={() => props.point(null, 0)}
      />
      <figcaption>
        <b>{called}</b> <span class="quiet">{`${matrix.rows} × ${matrix.columns}`}</span>
      </figcaption>
    </figure>
  );
}

function draw(canvas: HTMLCanvasElement, shown: Shown, at: Layout, lit: Lit | null, theme: Theme): void {
  const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
  canvas.width = Math.ceil(at.width * ratio);
  canvas.height = Math.ceil(at.height * ratio);
  canvas.style.width = `${at.width}px`;
  canvas.style.height = `${at.height}px`;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  const { rows, columns } = shown.matrix;
  const picture = coloured(canvas.ownerDocument, shown, theme);
  context.drawImage(picture, at.left, at.top, at.cell * columns, at.line * rows);
  const colours = palette(theme);
  context.strokeStyle = colours.rule;
  context.strokeRect(at.left + 0.5, at.top + 0.5, at.cell * columns - 1, at.line * rows - 1);
  names(context, shown, at, lit, colours);
  if (at.cell >= NUMBERS && at.line >= 14) written(context, shown, at, theme);
  if (lit) light(context, shown.matrix, at, lit, colours.accent);
}

const ramps: Partial<Record<Theme, Uint8Array>> = {};

/** The values as an image, one pixel each. */
function coloured(doc: Document, { matrix, weights }: Shown, theme: Theme): HTMLCanvasElement {
  const canvas = doc.createElement("canvas");
  canvas.width = matrix.columns;
  canvas.height = matrix.rows;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(matrix.columns, matrix.rows);
  ramps[theme] ??= ramp(theme);
  const size = typical(matrix.values);
  const colour = weights ? shareOf(ramps[theme]) : signOf(size, palette(theme).rule);
  matrix.values.forEach((value, i) => {
    image.data.set(colour(value), 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Root mean square of the finite numbers. */
function typical(values: Float32Array): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    sum += value * value;
    count += 1;
  }
  return Math.sqrt(sum / Math.max(1, count)) || 1;
}

type Colour = (value: number) => [number, number, number, number];

const shareOf =
  (table: Uint8Array): Colour =>
  (value) => {
    const at = 3 * Math.min(255, Math.round(value * 200)); // the darkest inks would hide the numbers
    return [table[at], table[at + 1], table[at + 2], 255];
  };

function signOf(size: number, hidden: string): Colour {
  const [blue, orange, none] = [SIGNS.positive, SIGNS.negative, hidden].map(channels);
  return (value) => {
    if (!Number.isFinite(value)) return [...none, 255];
    return [...(value < 0 ? orange : blue), Math.round(200 * Math.tanh(Math.abs(value) / (1.5 * size)))];
  };
}

const channels = (hex: string): [number, number, number] => {
  const code = Number.parseInt(hex.slice(1), 16);
  return [code >> 16, (code >> 8) & 255, code & 255];
};

type Colours = ReturnType<typeof palette>;

function names(
  c: CanvasRenderingContext2D,
  shown: Shown,
  at: Layout,
  lit: Lit | null,
  colours: Colours,
): void {
  c.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  c.textBaseline = "middle";
  c.textAlign = "right";
  shown.rows?.forEach((text, i) => {
    c.fillStyle = lit?.row === i ? colours.accent : colours.quiet;
    c.fillText(elided(text.trim(), NAME, 12), at.left - 6, at.top + (i + 0.5) * at.line);
  });
  c.textAlign = "left";
  shown.columns?.forEach((text, i) => {
    c.save();
    c.translate(at.left + (i + 0.5) * at.cell, at.top - 5);
    c.rotate(-Math.PI / 2);
    c.fillStyle = lit?.column === i ? colours.accent : colours.quiet;
    c.fillText(elided(text.trim(), NAME, 12), 0, 0);
    c.restore();
  });
}

function written(c: CanvasRenderingContext2D, { matrix, weights }: Shown, at: Layout, theme: Theme): void {
  const { ink, ground } = palette(theme);
  c.font = "11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  c.textAlign = "center";
  matrix.values.forEach((value, i) => {
    const x = at.left + ((i % matrix.columns) + 0.5) * at.cell;
    const y = at.top + (Math.floor(i / matrix.columns) + 0.5) * at.line;
    c.fillStyle = weights && value > 0.5 ? ground : ink;
    c.fillText(Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "−∞", x, y);
  });
}

/** A frame around the row, the column or the cell. */
function light(
  c: CanvasRenderingContext2D,
  { rows, columns }: Matrix,
  at: Layout,
  lit: Lit,
  accent: string,
): void {
  const cell = lit.row !== undefined && lit.column !== undefined;
  if (lit.row === undefined && lit.column === undefined) return;
  const x = at.left + (lit.column ?? 0) * at.cell;
  const y = at.top + (lit.row ?? 0) * at.line;
  const width = lit.column === undefined ? columns * at.cell : at.cell;
  const height = lit.row === undefined ? rows * at.line : at.line;
  c.strokeStyle = accent;
  c.lineWidth = cell ? 2 : 1.5;
  c.strokeRect(x - 1, y - 1, width + 2, height + 2);
}
