// One head that looks at a picture, large: the picture, lit where a token looks, and that look in words.

import { useLayoutEffect, useRef } from "preact/hooks";
import { activity, strongest } from "../../compute/active";
import type { Cell } from "../../data/report";
import { type Say, sayIn, useSay, useStore } from "../../frame/context";
import { framedMost, lookOf, spotOf } from "../../frame/pictured";
import { seenPicture } from "../../frame/picturing";
import { useSeen } from "../../frame/scroller";
import { GUTTER } from "../../marks/framed";
import { type Canvas, placesOf } from "../../marks/patches";
import { canvasPen, prepare } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { type Glimpse, glimpseOf, mapShape } from "./ghost";

/** The token whose looks the pictures show, in words. */
export function lookerOf(store: Store, tell: Say): string {
  const seen = glimpseOf(store, { site: store.site.value, head: store.lead });
  return seen ? spotOf(store.rows.value, seen.query, tell) : "";
}

/** Where a token looks by one head: all positions, strongest first. */
function looksOf(store: Store, { site, head }: Cell, { query }: Glimpse) {
  const { level } = store.look.value;
  const [rows, columns] = [site.query, site.key].map((side) => store.lenses.axis(side, level));
  const shown = activity([store.lens(head, site)], [query], []);
  return {
    rows,
    columns,
    shown,
    all: strongest(shown.toKeys, new Uint8Array(columns.count).fill(1), columns.count),
  };
}

export function Seen({ cell }: { cell: Cell }) {
  const store = useStore();
  const tell = useSay();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const room = useSeen(box);
  const { width, height } = room.value;
  const theme = store.theme.value;
  const glimpse = glimpseOf(store, cell);
  useLayoutEffect(() => {
    if (!canvas.current || !width || !glimpse) return;
    const { aspect } = mapShape(store);
    const wide = Math.round(Math.min(width - GUTTER.left, ((height || width) - GUTTER.top) * aspect));
    const at = { x: GUTTER.left, y: GUTTER.top, width: wide, height: Math.round(wide / aspect) };
    drawSeen(canvas.current, store, cell, glimpse, at);
  }, [cell, width, height, theme, glimpse?.image, glimpse?.query, store.look.value]);
  if (!glimpse) return null;
  const { all } = looksOf(store, cell, glimpse);
  const look = lookOf(store, cell.site, glimpse.query, all, tell);
  return (
    <>
      <p data-seen="">
        {look[0].toUpperCase() + look.slice(1)}
        {tell("stop")}
      </p>
      <div class="seen-large" ref={box}>
        <canvas ref={canvas} aria-hidden="true" />
      </div>
    </>
  );
}

function drawSeen(canvas: HTMLCanvasElement, store: Store, cell: Cell, glimpse: Glimpse, at: Canvas): void {
  const { rows, columns, shown, all } = looksOf(store, cell, glimpse);
  const places = placesOf(columns)!;
  const pen = canvasPen(prepare(canvas, at.x + at.width, at.y + at.height));
  const framed = framedMost(store, places, all);
  const looker = { position: glimpse.query, label: sayIn(store)("headingQueries") };
  if (rows === columns && looker.position !== framed[0]?.position) framed.push({ ...looker, lit: false });
  seenPicture(pen, columns, places, shown.toKeys, framed, at, palette(store.theme.value));
}
