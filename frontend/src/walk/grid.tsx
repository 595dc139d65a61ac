// Matrices as coloured grids, in equations: a pointed cell lights what it came from.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useSay, useStore } from "../frame/context";
import { canvasPen, prepare } from "../marks/pen";
import { figure } from "../marks/scales";
import { coloured, drawGrid, type Lit, layoutOf } from "./drawing";
import type { Equation, Rule, Shown } from "./equation";
import { inkOf } from "./formula";
import { lowered } from "./lowered";

interface At {
  item: number;
  row: number;
  column: number;
}

/** A pair of tokens, as row and column of the maps on the page. */
export interface Chosen {
  at: { row: number; column: number } | null;
  choose: (row: number, column: number) => void;
}

/** One equation, and the sentence about the cell under the pointer. */
export function EquationView(props: { equation: Equation; read: Signal<string>; chosen: Chosen | null }) {
  const { equation, read, chosen } = props;
  const tell = useSay();
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
            <span key={i} class={item.length > 1 ? "sign" : "sign one"}>
              {item}
            </span>
          );
        number += 1;
        const index = number;
        const grid = (
          <Grid
            key={i}
            shown={item}
            lit={at.value ? litIn(equation.rule, matrices.length, at.value, index) : null}
            chosen={item.map ? chosen : null}
            point={(row, column) => point(row === null ? null : { item: index, row, column })}
          />
        );
        if (!/^[Wb]_/.test(item.name)) return grid;
        return (
          <details key={i} class="weight" title={tell("walk_weights")}>
            <summary>
              <span class="icon" aria-hidden="true">
                ▦
              </span>{" "}
              <span class={inkOf(item.name)}>{lowered(calledOf(item))}</span>
            </summary>
            {grid}
          </details>
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

const calledOf = ({ name, label }: Shown): string => label ?? name;

const name = (labels: readonly string[] | undefined, index: number): string =>
  labels?.[index]?.trim() || String(index);

function sentence(rule: Rule, matrices: readonly Shown[], at: At): string {
  const { matrix, rows, columns } = matrices[at.item];
  const value = matrix.values[at.row * matrix.columns + at.column];
  const [row, column] = [name(rows, at.row), name(columns, at.column)];
  const start = `${calledOf(matrices[at.item])}[${row}, ${column}] = ${exact(value)}`;
  if (at.item !== matrices.length - 1 || rule !== "product") return start;
  const [a, b] = matrices;
  const more = matrices.length > 3 ? ` + ${calledOf(matrices[2])}[${column}]` : "";
  return `${start} = Σₖ ${calledOf(a)}[${row}, k] · ${calledOf(b)}[k, ${column}]${more},  k = 0 … ${a.matrix.columns - 1}`;
}

/** A number as it is, to six digits. */
const exact = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(6))).replace("-", "−") : figure(value);

interface GridProps {
  shown: Shown;
  lit: Lit | null;
  chosen: Chosen | null;
  point: (row: number | null, column: number) => void;
}

function Grid({ shown, lit, chosen, point }: GridProps) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { matrix } = shown;
  const called = calledOf(shown);
  const at = layoutOf(shown);
  const theme = store.theme.value;
  const lights = [lit, chosen?.at].filter((some): some is Lit => !!some);
  useEffect(() => {
    const pen = canvasPen(prepare(canvas.current!, at.width, at.height));
    drawGrid(pen, coloured(canvas.current!.ownerDocument, shown, theme), shown, at, lights, theme);
  });
  const cellAt = (event: MouseEvent): [number, number] | null => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - at.left) / at.cell);
    const row = Math.floor((event.clientY - box.top - at.top) / at.line);
    const inside = row >= 0 && column >= 0 && row < matrix.rows && column < matrix.columns;
    return inside ? [row, column] : null;
  };
  const move = (event: PointerEvent) => {
    const cell = cellAt(event);
    point(cell ? cell[0] : null, cell ? cell[1] : 0);
  };
  const click = (event: MouseEvent) => {
    const cell = cellAt(event);
    if (cell) chosen?.choose(...cell);
  };
  return (
    <figure class="grid">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${called}, ${matrix.rows} × ${matrix.columns}`}
        data-matrix={shown.name}
        data-left={at.left}
        data-top={at.top}
        data-cell={at.cell}
        data-line={at.line}
        onPointerMove={move}
        onPointerLeave={() => point(null, 0)}
        onClick={click}
      />
      <figcaption>
        <b class={inkOf(shown.name)}>{lowered(called)}</b>{" "}
        <span class="quiet">{`${matrix.rows} × ${matrix.columns}`}</span>
      </figcaption>
    </figure>
  );
}
