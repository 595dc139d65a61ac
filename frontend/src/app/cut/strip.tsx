// What this cut changes beside what random cuts change: a dot for each, on an axis with numbers.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { followWidth } from "../../frame/scroller";
import { roundTicks, signed } from "../../marks/scales";
import { isKey } from "../../words";
import { useTell } from "../context";
import type { Cut } from "../records";
import { points } from "../saying";

const EDGE = 28; // room for half a number
const RING = 6; // radius of a random cut's dot
const OWN = 7;
const LABEL = 22; // height of the words above
const BELOW = 40; // of the axis: numbers, and what they are
const NAME = 14; // letters of a word on the axis
const LEAST = 6; // rows of dots that there is room for

type Props = Pick<Cut, "change" | "control" | "said">;

export function Strip(props: Props) {
  const tell = useTell();
  const holder = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => followWidth(holder.current!, width), []);
  const own = props.change.after - props.change.before;
  const changes = props.control!.changes;
  const all = [0, own, ...changes];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (
    <figure class="app-strip">
      <figcaption class="app-note">
        <span>
          <svg width="14" height="14" aria-hidden="true">
            <circle class="other" cx="7" cy="7" r={RING} />
          </svg>
          {tell("cutStripOther")}
        </span>
        <span>
          <i class="as-much" />
          {tell("cutStripAsMuch")}
        </span>
      </figcaption>
      <div ref={holder}>
        {width.value > 0 && high > low && (
          <Dots {...{ own, changes, low, high, ...props }} width={width.value} />
        )}
      </div>
    </figure>
  );
}

interface Drawn extends Props {
  own: number;
  changes: readonly number[];
  low: number;
  high: number;
  width: number;
}

function Dots({ own, changes, low, high, width, said }: Drawn) {
  const tell = useTell();
  const x = (value: number) => EDGE + ((width - 2 * EDGE) * (value - low)) / (high - low);
  const rings = stacked(changes, x);
  const levels = Math.max(LEAST, 1 + Math.max(...rings.map(({ level }) => level)));
  const line = LABEL + 8 + levels * 2 * RING; // where the axis is
  const place = x(own);
  const anchor = place > 0.85 * width ? "end" : place < 0.15 * width ? "start" : "middle";
  const far = Math.abs(own);
  const unit = isShare(said) ? 100 : 1; // shares move by percentage points, as they do in the list beside
  const asMuch = [
    [0, x(-far)],
    [x(far), width],
  ].filter(([from, to]) => to > from);
  return (
    <svg
      width={width}
      height={line + BELOW}
      role="img"
      aria-label={tell("cutStrip", { count: changes.length })}
      data-strip
    >
      {asMuch.map(([from, to]) => (
        <rect key={from} class="as-much" x={from} y={LABEL - 4} width={to - from} height={line - LABEL + 4} />
      ))}
      <line x1={0} x2={width} y1={line} y2={line} class="axis" />
      <line x1={x(0)} x2={x(0)} y1={LABEL - 4} y2={line} class="zero" />
      {roundTicks(unit * low, unit * high).map(([value, text]) => (
        <g key={text} data-tick={value}>
          <line x1={x(value / unit)} x2={x(value / unit)} y1={line} y2={line + 4} class="axis" />
          <text x={x(value / unit)} y={line + 17} text-anchor="middle">
            {text}
          </text>
        </g>
      ))}
      <text x={width / 2} y={line + 35} text-anchor="middle" data-axis>
        {tell("cutAxis", { what: whatOf(said, tell) })}
      </text>
      {rings.map(({ value, level }, i) => (
        <circle
          key={i}
          class="other"
          cx={x(value)}
          cy={line - 4 - RING - level * 2 * RING}
          r={RING}
          data-other-cut={value}
        />
      ))}
      <line x1={place} x2={place} y1={LABEL - 4} y2={line} class="own" />
      <circle class="own" cx={place} cy={line - 4 - RING} r={OWN} data-own-cut={own} />
      <text class="own" x={place} y={LABEL - 9} text-anchor={anchor}>
        {tell("cutStripOwn", { value: unit > 1 ? points(own) : signed(own) })}
      </text>
    </svg>
  );
}

const isShare = (said: Cut["said"]): boolean => said[1]?.code.endsWith("_probability") ?? false;

/** What changes, as the axis names it: the probability of “on”, the score. */
export function whatOf(said: Cut["said"], tell: ReturnType<typeof useTell>): string {
  const { code = "", values = {} } = said[1] ?? {};
  const key = `cutAxis_${code.split("_").at(-1)}`;
  const name = String(values.name ?? "");
  const short = name.length > NAME ? `${name.slice(0, NAME - 1)}…` : name;
  return isKey(key) ? tell(key, { name: short }) : "";
}

/** Dots that would lie over each other, one above the other. */
function stacked(
  values: readonly number[],
  x: (value: number) => number,
): { value: number; level: number }[] {
  const ends: number[] = []; // where the last dot of each level ends
  return [...values]
    .sort((a, b) => a - b)
    .map((value) => {
      const from = x(value) - RING;
      const free = ends.findIndex((end) => end <= from);
      const level = free < 0 ? ends.length : free;
      ends[level] = x(value) + RING;
      return { value, level };
    });
}
