// Wheel, drag, pinch and keys over a map: they move a zoom and report the cell under the pointer.

import type { ReadonlySignal, Signal } from "@preact/signals";
import type { Frame, Zoom } from "../../marks/axes";

export interface Gestures {
  zoom: Signal<Zoom>;
  frame: ReadonlySignal<Frame>;
  reset: () => void;
  bounds: () => [number, number]; // rows, columns
  point: (query: number | null, key: number | null) => void;
  pick: (query: number, key: number) => void;
  by?: (factor: number) => void; // zoom about the middle
  show?: (query: number, key: number) => void; // bring a cell to the middle, large enough to read
}

export const LARGEST = 96; // pixels per cell
const READABLE = 20; // pixels per cell at which tokens can be read beside it
const STEP = 60; // pixels an arrow key moves

/** Listen on the canvas that lies over the map. */
export function listen(canvas: HTMLCanvasElement, gestures: Gestures, signal: AbortSignal): void {
  const { zoom, frame, bounds } = gestures;

  const clamped = (next: Zoom): Zoom => {
    const { width, height } = frame.peek();
    const [rows, columns] = bounds();
    const fit = Math.min(LARGEST, width / columns, height / rows);
    const scale = Math.max(fit, Math.min(LARGEST, next.scale));
    return {
      scale,
      x: Math.max(0, Math.min(next.x, columns - width / scale)),
      y: Math.max(0, Math.min(next.y, rows - height / scale)),
    };
  };
  const about = (factor: number, px: number, py: number) => {
    const { x, y, scale } = zoom.peek();
    const next = Math.min(LARGEST, scale * factor);
    zoom.value = clamped({ scale: next, x: x + px / scale - px / next, y: y + py / scale - py / next });
  };
  const move = (dx: number, dy: number) => {
    const { x, y, scale } = zoom.peek();
    zoom.value = clamped({ scale, x: x - dx / scale, y: y - dy / scale });
  };
  const inside = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left - frame.peek().left, event.clientY - box.top - frame.peek().top];
  };
  const cell = (event: MouseEvent): [number, number] | null => {
    const [px, py] = inside(event);
    const { x, y, scale } = zoom.peek();
    const [query, key] = [Math.floor(y + py / scale), Math.floor(x + px / scale)];
    const [rows, columns] = bounds();
    return px >= 0 && py >= 0 && query < rows && key < columns ? [query, key] : null;
  };
  gestures.show = (query, key) => {
    const { width, height } = frame.peek();
    const scale = Math.max(zoom.peek().scale, READABLE);
    const [x, y] = [key + 0.5 - width / scale / 2, query + 0.5 - height / scale / 2];
    zoom.value = clamped({ scale, x, y });
  };
  gestures.by = (factor) => about(factor, frame.peek().width / 2, frame.peek().height / 2);

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [px, py] = inside(event);
      about(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), px, py);
    },
    { signal, passive: false },
  );
  drag(canvas, { move, cell, gestures }, signal);
  canvas.addEventListener("dblclick", (event) => about(2, ...inside(event)), { signal });
  canvas.addEventListener("pointerleave", () => gestures.point(null, null), { signal });
  keys(canvas, { move, gestures }, signal);
}

/** Shift with an arrow moves, + and - zoom, 0 shows the whole map. */
function keys(canvas: HTMLCanvasElement, { move, gestures }: Omit<Drag, "cell">, signal: AbortSignal): void {
  canvas.addEventListener(
    "keydown",
    (event) => {
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [STEP, 0],
        ArrowRight: [-STEP, 0],
        ArrowUp: [0, STEP],
        ArrowDown: [0, -STEP],
      };
      const step = event.shiftKey ? moves[event.key] : undefined;
      if (step) move(...step);
      else if (event.key === "+" || event.key === "=") gestures.by?.(1.5);
      else if (event.key === "-") gestures.by?.(1 / 1.5);
      else if (event.key === "0") gestures.reset();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal },
  );
}

interface Drag {
  move: (dx: number, dy: number) => void;
  cell: (event: MouseEvent) => [number, number] | null;
  gestures: Gestures;
}

const STILL = 4; // pixels a click may wander

/** Drag to move; a press that does not wander picks its cell. */
function drag(canvas: HTMLCanvasElement, { move, cell, gestures }: Drag, signal: AbortSignal): void {
  let from: [number, number] | null = null;
  let wandered = 0;
  canvas.addEventListener(
    "pointerdown",
    (event) => {
      from = [event.clientX, event.clientY];
      wandered = 0;
      canvas.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  canvas.addEventListener(
    "pointermove",
    (event) => {
      if (!from) {
        const at = cell(event);
        gestures.point(at?.[0] ?? null, at?.[1] ?? null);
        return;
      }
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      wandered += Math.abs(dx) + Math.abs(dy);
      if (wandered > STILL) move(dx, dy);
      from = [event.clientX, event.clientY];
    },
    { signal },
  );
  canvas.addEventListener(
    "pointerup",
    (event) => {
      const at = cell(event);
      if (from && wandered <= STILL && at) gestures.pick(...at);
      from = null;
    },
    { signal },
  );
  canvas.addEventListener("pointercancel", () => (from = null), { signal });
}
