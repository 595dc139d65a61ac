// Lines over the steps of training: the lift of every head, and the loss.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { figure, lineColour, ticks } from "../marks/scales";
import { type Head, nameOf } from "./data";
import type { Projector } from "./state";

const LEFT = 40;
const RIGHT = 34; // for the names of lines
const TOP = 8;
const BOTTOM = 22;
const APART = 12; // pixels between names
const HUES = 32;

interface Scale {
  x: (step: number) => number;
  y: (value: number) => number;
  width: number;
  height: number;
}

interface Drawn {
  film: Projector;
  height: number;
  low: number;
  top: number;
  label: string;
  lines: (scale: Scale) => preact.ComponentChildren;
}

/** The plane of a chart; a click or a drag chooses the nearest frame. */
function Plane({ film, height, low, top, label, lines }: Drawn) {
  const box = useRef<SVGSVGElement>(null);
  const width = useSignal(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => (width.value = element.clientWidth));
    width.value = element.clientWidth;
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const { frames } = film.film;
  const [first, last] = [frames[0].step, frames.at(-1)!.step];
  const right = Math.max(LEFT + 1, width.value - RIGHT);
  const scale: Scale = {
    x: (step) => LEFT + ((right - LEFT) * (step - first)) / Math.max(1, last - first),
    y: (value) => TOP + (height - TOP - BOTTOM) * (1 - (value - low) / (top - low || 1)),
    width: right,
    height: height - BOTTOM,
  };
  const choose = (event: PointerEvent) => {
    if (!event.buttons) return;
    const at = event.clientX - box.current!.getBoundingClientRect().left;
    const far = frames.map(({ step }) => Math.abs(scale.x(step) - at));
    film.go(far.indexOf(Math.min(...far)));
  };
  const now = scale.x(film.frame.value.step);
  return (
    <svg
      ref={box}
      class="film-chart"
      role="img"
      aria-label={label}
      style={{ height: `${height}px` }}
      onPointerDown={choose}
      onPointerMove={choose}
    >
      {width.value > 0 && (
        <>
          {ticks(top, false).map(([value]) => (
            <g key={value}>
              <line class="grid" x1={LEFT} x2={right} y1={scale.y(value)} y2={scale.y(value)} />
              <text x={LEFT - 6} y={scale.y(value) + 4} text-anchor="end">
                {figure(value, 2)}
              </text>
            </g>
          ))}
          {[first, last].map((step, end) => (
            <text key={step} x={scale.x(step)} y={height - 5} text-anchor={end ? "end" : "start"}>
              {step.toLocaleString("en")}
            </text>
          ))}
          {lines(scale)}
          <line class="now" x1={now} x2={now} y1={TOP} y2={height - BOTTOM} />
        </>
      )}
    </svg>
  );
}

const points = (values: (number | null)[], steps: number[], { x, y }: Scale): string =>
  values
    .flatMap((value, i) => (value === null ? [] : [`${x(steps[i]).toFixed(1)},${y(value).toFixed(1)}`]))
    .join(" ");

/** The lift of the chosen pattern, a line per head; those that have its name in the end stand out. */
export function Lifts({ film }: { film: Projector }) {
  const pattern = film.pattern.value;
  const { frames } = film.film;
  const steps = frames.map(({ step }) => step);
  const ends = frames.at(-1)!.heads;
  const mine = ends.flatMap((head, i) => (head.kind === film.kind.value && pattern in head.lifts ? [i] : []));
  const liftsOf = (i: number, part: 0 | 1 | 2) =>
    frames.map(({ heads }) => heads[i].lifts[pattern]?.[part] ?? null);
  const label = film.tell("filmLifts", { pattern: film.tell(`name_${pattern}`) });
  const chosen = film.head.value;
  const order = [...mine].sort((a, b) => rank(ends[a], a) - rank(ends[b], b)); // the chosen one last, on top
  function rank(head: Head, i: number): number {
    return i === chosen ? 2 : Number(head.names.includes(pattern));
  }
  const least = Math.min(0, ...mine.flatMap((i) => liftsOf(i, 0).map((value) => value ?? 0)));
  const from = film.film.about.thresholds[pattern];
  return (
    <figure>
      <figcaption>{label}</figcaption>
      <Plane
        film={film}
        height={220}
        low={Math.max(-1, least)}
        top={1}
        label={label}
        lines={(scale) => (
          <>
            {from !== undefined && (
              <line class="from" x1={LEFT} x2={scale.width} y1={scale.y(from)} y2={scale.y(from)} />
            )}
            {mine.includes(chosen) && (
              <Band low={liftsOf(chosen, 1)} high={liftsOf(chosen, 2)} {...{ steps, scale }} />
            )}
            {order.map((i) => (
              <polyline
                key={i}
                data-line={nameOf(ends[i])}
                class={rank(ends[i], i) ? (i === chosen ? "line chosen" : "line named") : "line"}
                points={points(liftsOf(i, 0), steps, scale)}
                style={rank(ends[i], i) ? { stroke: lineColour(i % HUES, film.theme.value) } : {}}
                onPointerDown={() => (film.head.value = i)}
              />
            ))}
            <Names
              at={order.filter((i) => rank(ends[i], i))}
              value={(i) => ends[i].lifts[pattern][0]}
              {...{ film, scale }}
            />
          </>
        )}
      />
      <p class="quiet">{film.tell("filmLiftsNote")}</p>
    </figure>
  );
}

/** The names of lines at their ends, not one on another. */
function Names(props: { at: number[]; value: (i: number) => number; film: Projector; scale: Scale }) {
  const { at, value, film, scale } = props;
  const ends = film.film.frames.at(-1)!.heads;
  let above = -APART;
  const placed = [...at]
    .sort((a, b) => value(b) - value(a))
    .map((i) => {
      above = Math.max(above + APART, scale.y(value(i)));
      return { i, y: above };
    })
    .filter(({ y }) => y < scale.height + APART);
  return (
    <>
      {placed.map(({ i, y }) => (
        <text
          key={i}
          x={scale.width + 5}
          y={y + 4}
          class={i === film.head.value ? "chosen" : ""}
          style={{ fill: lineColour(i % HUES, film.theme.value) }}
        >
          {nameOf(ends[i])}
        </text>
      ))}
    </>
  );
}

interface BandProps {
  low: (number | null)[];
  high: (number | null)[];
  steps: number[];
  scale: Scale;
}

function Band({ low, high, steps, scale }: BandProps) {
  const back = (values: (number | null)[]) => points([...values].reverse(), [...steps].reverse(), scale);
  return <polygon class="band" points={`${points(high, steps, scale)} ${back(low)}`} />;
}

/** The loss of training; nothing where it is not known. */
export function Losses({ film }: { film: Projector }) {
  const { frames } = film.film;
  const losses = frames.map(({ loss }) => loss);
  const known = losses.filter((loss) => loss !== null);
  if (known.length < 2) return null;
  const label = film.tell("filmLosses");
  return (
    <figure>
      <figcaption>{label}</figcaption>
      <Plane
        film={film}
        height={130}
        low={0}
        top={Math.max(...known)}
        label={label}
        lines={(scale) => (
          <polyline
            class="line loss"
            points={points(
              losses,
              frames.map(({ step }) => step),
              scale,
            )}
          />
        )}
      />
    </figure>
  );
}
