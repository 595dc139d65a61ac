// What this cut changes beside what random lines change: one dot per cut, on one line.

import { signed } from "../../marks/scales";
import { useTell } from "../context";
import type { Cut } from "../records";

const WIDTH = 250;
const EDGE = 14; // room for half a label
const LETTERS = 110; // room for the words at an end and at 0
const LINE = 24; // where the dots stand

export function Strip({ change, control }: Pick<Cut, "change" | "control">) {
  const tell = useTell();
  if (!control?.changes.length) return null;
  const own = change.after - change.before;
  const all = [0, own, ...control.changes];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (!(high > low)) return null;
  const x = (value: number) => EDGE + ((WIDTH - 2 * EDGE) * (value - low)) / (high - low);
  const anchor = (value: number) =>
    x(value) > 0.8 * WIDTH ? "end" : x(value) < 0.2 * WIDTH ? "start" : "middle";
  return (
    <svg class="app-strip" viewBox={`0 0 ${WIDTH} 50`} role="img" aria-label={tell("cutStrip")} data-strip>
      <line x1={EDGE} x2={WIDTH - EDGE} y1={LINE} y2={LINE} class="axis" />
      <line x1={x(0)} x2={x(0)} y1={LINE - 7} y2={LINE + 7} class="axis" />
      <text x={x(0)} y={LINE + 20} text-anchor={anchor(0)}>
        {tell("cutStripZero")}
      </text>
      {x(0) > LETTERS && (
        <text x={EDGE} y={LINE + 20} text-anchor="start">
          {tell("cutStripLower")}
        </text>
      )}
      {x(0) < WIDTH - LETTERS && (
        <text x={WIDTH - EDGE} y={LINE + 20} text-anchor="end">
          {tell("cutStripHigher")}
        </text>
      )}
      {control.changes.map((value, i) => (
        <circle key={i} class="other" cx={x(value)} cy={LINE} r={3.5} data-other-cut={value} />
      ))}
      <circle class="own" cx={x(own)} cy={LINE} r={5.5} data-own-cut={own} />
      <text class="own" x={x(own)} y={LINE - 12} text-anchor={anchor(own)}>
        {tell("cutStripOwn", { value: signed(own) })}
      </text>
    </svg>
  );
}
