// Pictures that leave the page: SVG of what a view shows, with where it comes from in small print.

import { type Pen, SvgPen } from "../marks/pen";
import { palette } from "../marks/scales";
import type { Store } from "../state/store";
import { sayIn } from "./context";

const WIDTH = 860;
const MARGIN = 24;
const SMALL = 11;

/** Where a picture comes from: model, view, layer, heads, version. */
function smallPrint(store: Store): string {
  const { kind, layer, heads, contributions, relative } = store.selection.peek();
  const tell = sayIn(store);
  const model = String(store.page.facts.model ?? tell("printMaps"));
  const few = heads.length <= 8;
  const numbers = few
    ? tell("printHead", { list: heads.map((head) => `${layer}.${head}`).join(", ") })
    : tell("printHeads", { layer, count: heads.length });
  const what = tell(!contributions ? "printWeights" : relative ? "printShares" : "printContributions");
  const place = store.view.heads === "all" ? tell("printAll") : tell("printPlace", { kind, heads: numbers });
  return tell("print", { model, place, what, version: store.page.made });
}

/** The current view as SVG; null where it cannot be drawn. */
export function svgOf(store: Store): string | null {
  const colours = palette(store.theme.peek());
  const pen = new SvgPen();
  const height = store.view.picture?.(shifted(pen, MARGIN, MARGIN), store, WIDTH - 2 * MARGIN) ?? null;
  if (height === null) return null;
  const y = MARGIN + height + 20;
  pen.text(MARGIN, y, smallPrint(store), { colour: colours.quiet, size: SMALL, mono: false });
  return pen.document(WIDTH, Math.ceil(y + MARGIN), colours.ground);
}

/** Offer something as a file. */
export function download(name: string, content: Blob, doc: Document): void {
  const link = doc.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What the file of the current view is called. */
export function pictureName(store: Store): string {
  const { view, layer, heads } = store.selection.peek();
  const place =
    store.view.heads === "all" ? "" : `-layer${layer}${heads.length === 1 ? `-head${heads[0]}` : ""}`;
  return `regard-${view}${place}`;
}

/** Save the current view. */
export function savePicture(store: Store, doc: Document): void {
  const svg = svgOf(store);
  if (svg) download(`${pictureName(store)}.svg`, new Blob([svg], { type: "image/svg+xml" }), doc);
}

function shifted(pen: Pen, dx: number, dy: number): Pen {
  return {
    lines(segments, count, width, ink) {
      const moved = Float32Array.from({ length: 4 * count }, (_, i) => segments[i] + (i % 2 ? dy : dx));
      pen.lines(moved, count, width, ink);
    },
    curve: (points, width, ink) =>
      pen.curve?.(
        points.map((value, i) => value + (i % 2 ? dy : dx)),
        width,
        ink,
      ),
    rect: (x, y, width, height, ink) => pen.rect(x + dx, y + dy, width, height, ink),
    text: (x, y, text, lettering) => pen.text(x + dx, y + dy, text, lettering),
    image: (source, x, y, width, height) => pen.image(source, x + dx, y + dy, width, height),
  };
}
