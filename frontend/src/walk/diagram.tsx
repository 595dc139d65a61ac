// The model as boxes, always in sight: the current one lit, a dot on the edge that leads to it.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSay } from "../frame/context";
import type { WalkData } from "./data";
import type { WhatIf } from "./layer";
import { lowered } from "./lowered";
import { MiniView, miniOf } from "./mini";
import { still } from "./motion";
import { type DECODER, keyOf, type StepId, wordsOf } from "./order";

const [LEAST, MOST] = [34, 52]; // pixels from box to box: as many as there is room for
const TOP = 32;
const BELOW = 46; // for which layer it is
const SHORT = 10; // letters that leave room for a picture in the box of one of two stacks
const TIME = 220; // milliseconds of the dot's way

interface Box {
  id: StepId;
  x: number;
  y: number;
  width: number;
  high: number;
  pitch: number; // to the next one
}

// Rows of the decoder's boxes: they stand beside the encoder's, cross attention where E can reach it.
const BESIDE: Record<(typeof DECODER)[number], number> = {
  target: 0,
  mask: 2,
  attend: 3.5,
  cross: 5,
  dfeed: 6.5,
  predict: 9,
  loss: 10.5,
};

const isBeside = (id: StepId): id is keyof typeof BESIDE => id in BESIDE;

/** Where the boxes stand in so much height: one stack in the middle, or two side by side. */
export function boxesOf(steps: readonly StepId[], room = 0): Box[] {
  const two = steps.includes("cross");
  const width = two ? 112 : 176;
  const left = two ? 12 : 20;
  const rows = steps.map((id, row) => (two && isBeside(id) ? BESIDE[id] : row));
  const pitch = Math.max(LEAST, Math.min(MOST, Math.floor((room - TOP - BELOW) / (Math.max(...rows) + 1))));
  const high = Math.round(0.62 * pitch);
  return steps.map((id, i) => {
    const x = two && isBeside(id) ? left + width + 22 : left;
    return { id, x, y: TOP + pitch * rows[i], width, high, pitch };
  });
}

type Point = [number, number];

const entry = (box: Box): Point => [box.x + box.width / 2, box.y - (box.pitch - box.high) / 2];

/** The way of the dot to a box: down its stack, or through the space between the two. */
export function wayTo(from: Box, to: Box): Point[] {
  const [a, b] = [entry(from), entry(to)];
  if (a[0] === b[0]) return [a, b];
  const between = Math.max(from.x, to.x) - 11;
  return [a, [between, a[1]], [between, b[1]], b];
}

interface Props {
  data: WalkData;
  steps: readonly StepId[];
  at: number;
  head: number;
  what: WhatIf;
  go: (step: number) => void;
}

export function Diagram({ data, steps, at, head, what, go }: Props) {
  const tell = useSay();
  const room = useSignal(0);
  const boxes = boxesOf(steps, room.value);
  const nav = useRef<HTMLElement>(null);
  const dot = useRef<SVGCircleElement>(null);
  const left = useRef<number | null>(null);
  useLayoutEffect(() => {
    const look = () => {
      room.value = nav.current!.clientHeight;
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(nav.current!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const from = left.current;
    left.current = at;
    const [whole, lit] = [nav.current!, nav.current!.querySelector("[aria-current]")!].map((one) =>
      one.getBoundingClientRect(),
    );
    if (nav.current!.scrollWidth > nav.current!.clientWidth + 1)
      nav.current!.scrollLeft += lit.left + lit.width / 2 - whole.left - whole.width / 2;
    if (from === null || from === at || still()) return;
    const way = wayTo(boxes[from], boxes[at]).map(([x, y]) => ({ transform: `translate(${x}px, ${y}px)` }));
    dot.current!.animate(way, { duration: TIME, easing: "ease-in-out" });
  }, [at]);
  const high = Math.max(...boxes.map((box) => box.y + box.high)) + 10;
  const layers = data.blocks(`${data.reader}.states`) - 1;
  const [x, y] = entry(boxes[at]);
  return (
    <nav class={data.translates ? "steps two" : "steps"} ref={nav} aria-label={tell("walk_model")}>
      <div class="diagram" style={`--high: ${high}px`}>
        <svg width="100%" height={high} aria-hidden="true">
          <Edges boxes={boxes} at={at} />
          <circle ref={dot} r="4" class="dot" style={{ transform: `translate(${x}px, ${y}px)` }} />
        </svg>
        <span class="stack-name" style={{ left: `${boxes[0].x}px`, width: `${boxes[0].width}px` }}>
          {tell(`walk_${data.reader}`)}
        </span>
        {data.translates && (
          <span class="stack-name" style={{ left: `${boxes.at(-1)!.x}px`, width: `${boxes[0].width}px` }}>
            {tell("walk_decoder")}
          </span>
        )}
        <ol>
          {steps.map((step, i) => {
            const label = tell(keyOf(data, `box_${step}`)!);
            const roomy = !data.translates || label.length <= SHORT;
            const mini = i < at && roomy ? miniOf(data, step, head, what) : null;
            return (
              <li key={step}>
                <button
                  type="button"
                  data-step={step}
                  title={wordsOf(tell, data, step).title}
                  aria-current={i === at ? "step" : undefined}
                  class={i < at ? "passed" : ""}
                  style={`--x: ${boxes[i].x}px; --y: ${boxes[i].y}px; --w: ${boxes[i].width}px; --h: ${boxes[i].high}px`}
                  onClick={() => go(i)}
                >
                  {lowered(label)}
                  {mini && <MiniView mini={mini} />}
                </button>
              </li>
            );
          })}
        </ol>
      </div>
      <p class="quiet opened">{tell("walk_opened", { layer: data.header.layer, last: layers - 1 })}</p>
    </nav>
  );
}

/** Lines from box to box, a frame around each layer, and E on its way to cross attention. */
function Edges({ boxes, at }: { boxes: Box[]; at: number }) {
  const find = (id: StepId) => boxes.find((one) => one.id === id);
  const box = (id: StepId) => find(id)!;
  const frame = (first: Box, last: Box) => (
    <rect
      x={first.x - 8}
      y={first.y - 6}
      width={first.width + 16}
      height={last.y + last.high - first.y + 12}
      rx="6"
      class="layer"
    />
  );
  const [stack, cross] = [box("stack"), find("cross")];
  const between = cross ? cross.x - 11 : 0;
  return (
    <>
      {frame(find("norm") ?? box("project"), box("feed"))}
      {cross && frame(box("mask"), box("dfeed"))}
      {boxes.slice(1).map((to, i) => {
        const from = boxes[i];
        if (from.x !== to.x) return null;
        const middle = to.x + to.width / 2;
        const ink = i + 1 === at ? "edge now" : "edge";
        return <line key={to.id} x1={middle} x2={middle} y1={from.y + from.high} y2={to.y} class={ink} />;
      })}
      {cross && (
        <path
          class={boxes[at].id === "cross" ? "edge now" : "edge"}
          d={`M ${stack.x + stack.width} ${stack.y + stack.high / 2} H ${between} V ${cross.y + cross.high / 2} H ${cross.x}`}
        />
      )}
    </>
  );
}
