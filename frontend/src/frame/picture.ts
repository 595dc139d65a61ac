// Pictures that leave the page: SVG of what a view shows, with where it comes from in small print.

import { SvgPen, shifted } from "../marks/pen";
import { palette } from "../marks/scales";
import type { Store } from "../state/store";
import { sayIn } from "./context";
import { agreement, judgedWhat } from "./worth";

const WIDTH = 860;
const MARGIN = 24;
const SMALL = 11;
const TITLE = 34; // height of the title and the space below it

/** Where a picture comes from: model, view, layer, heads, version. */
function smallPrint(store: Store): string {
  const { kind, layer, heads, contributions, relative } = store.selection.peek();
  const tell = sayIn(store);
  const model = String(store.page.facts.model ?? tell("printMaps"));
  const few = heads.length <= 8;
  const numbers = few
    ? tell("printHead", { list: heads.map((head) => `${layer}.${head}`).join(", ") })
    : tell("printHeads", { layer, count: heads.length });
  const { judged } = store;
  const what =
    judged && store.look.peek().worth
      ? tell("printWorth", { what: judgedWhat(store, judged), agreement: agreement(store, judged) })
      : tell(!contributions ? "printWeights" : relative ? "printShares" : "printContributions");
  const place = store.view.heads === "all" ? tell("printAll") : tell("printPlace", { kind, heads: numbers });
  return tell("print", { model, place, what, version: store.page.made });
}

/** What a picture shows, above it; a view that takes the whole width has its own heading. */
function titleOf(store: Store): string | null {
  const { layer, heads } = store.selection.peek();
  const tell = sayIn(store);
  const { titled, wide, heads: shown } = store.view;
  const place = `${layer}.${store.lead}`;
  if (wide) return null;
  if (titled && !store.enlarged.peek()) return tell(titled, { place });
  const many = shown === "some" && heads.length > 1;
  const { contributions, worth } = store.look.peek();
  if (worth && many) return tell("titleManyWorth", { layer, count: heads.length });
  if (worth) return tell("titleWorth", { place });
  if (many) return tell(contributions ? "titleManyArrive" : "titleManyLook", { layer, count: heads.length });
  return tell(contributions ? "titleArrives" : "titleLooks", { place });
}

/** The current view as SVG; null where it cannot be drawn. */
export function svgOf(store: Store): string | null {
  const colours = palette(store.theme.peek());
  const pen = new SvgPen();
  const title = titleOf(store);
  const above = MARGIN + (title === null ? 0 : TITLE);
  const height = store.view.picture?.(shifted(pen, MARGIN, above), store, WIDTH - 2 * MARGIN) ?? null;
  if (height === null) return null;
  if (title !== null)
    pen.text(MARGIN, MARGIN + 4, title, { colour: colours.ink, size: 16, mono: false, bold: true });
  const y = above + height + 20;
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
