// What a step that is passed has made, as a picture in its box: a small map, or the first numbers of each vector.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../frame/context";
import { heat, signedHeat } from "../marks/heat";
import type { WalkData } from "./data";
import { type Attention, attention, type WhatIf } from "./layer";
import type { Matrix } from "./maths";
import { partOf, type StepId } from "./order";

const MOST = 24; // rows and columns that are drawn

interface Mini {
  rows: number;
  columns: number;
  values: number[];
  share: boolean; // whether they are shares, and not numbers of either sign
}

const MADE: Partial<Record<StepId, (made: Attention) => Matrix>> = {
  embed: ({ x }) => x,
  norm: ({ input }) => input,
  project: ({ plain }) => plain.q,
  group: ({ k }) => k,
  rotate: ({ q }) => q,
  cache: ({ k }) => k,
  scores: ({ raw }) => raw,
  scale: ({ scaled }) => scaled,
  bias: ({ biased }) => biased,
  mask: ({ masked }) => masked,
  softmax: ({ weights }) => weights,
  mix: ({ mixed }) => mixed,
  join: ({ joined }) => joined,
  output: ({ output }) => output,
  residual: ({ result }) => result,
  attend: ({ weights }) => weights,
  cross: ({ weights }) => weights,
};

const SHARES: readonly StepId[] = ["softmax", "attend", "cross"];

/** The upper left corner of what a step made; null for steps that make no matrix of the layer. */
export function miniOf(data: WalkData, id: StepId, head: number, what: WhatIf): Mini | null {
  const matrixOf = MADE[id];
  if (!matrixOf) return null;
  const made = matrixOf(attention(data, partOf(data, id), head, what));
  const [rows, columns] = [Math.min(MOST, made.rows), Math.min(MOST, made.columns)];
  const values = Array.from({ length: rows * columns }, (_, i) => {
    const value = made.values[Math.floor(i / columns) * made.columns + (i % columns)];
    return Number.isFinite(value) ? value : 0; // what is masked is the ground
  });
  return { rows, columns, values, share: SHARES.includes(id) };
}

export function MiniView({ mini }: { mini: Mini }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useStore().theme.value;
  useLayoutEffect(() => {
    const { rows, columns, values, share } = mini;
    const top = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (share) heat(canvas.current!, values, rows, columns, top, false, theme);
    else signedHeat(canvas.current!, values, rows, columns, top, theme, false);
  });
  return <canvas ref={canvas} class="mini" aria-hidden="true" />;
}
