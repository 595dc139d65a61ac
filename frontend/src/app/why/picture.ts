// What the drawing of lines back through the layers says and shows of a page, and the drawing as a file.

import { bare, visible } from "../../compute/axis";
import type { Say } from "../../frame/context";
import { download } from "../../frame/picture";
import { measure, SvgPen, shifted } from "../../marks/pen";
import { brief, figure, palette, withSign } from "../../marks/scales";
import type { Store } from "../../state/store";
import { isKey } from "../../words";
import type { Line } from "./chain";
import { chipAt, draw, type Lettered } from "./drawing";
import { type Layout, LETTERS, layoutOf, type Text } from "./layout";
import { placed } from "./sentences";

const GUTTER = 116;
const NARROW = 560; // pixels below which names of layers stand above their rows

export function layoutFor(store: Store, lines: readonly Line[], width: number): Layout {
  const sides = (kind: string) => store.page.sites.find((site) => site.kind === kind)!;
  const named = new Set(lines.flatMap(({ kind }) => [sides(kind).key, sides(kind).query]));
  const used = (side: string) =>
    lines.flatMap(({ kind, query, key }) => [
      ...(sides(kind).query === side ? [query] : []),
      ...(sides(kind).key === side ? [key] : []),
    ]);
  const texts = [...named].map((side): Text => ({ side, names: namesOf(store, side, new Set(used(side))) }));
  const wide = width >= NARROW;
  return layoutOf(lines, texts, sides, width, wide ? GUTTER : 0, (text) => measure(text, LETTERS) + 4);
}

/** Tokens without the spaces before them; those that look alike, or that sentences name, carry their position. */
function namesOf(store: Store, side: string, used: ReadonlySet<number>): string[] {
  const { text } = store.page.sides.get(side)!;
  const all = text.map(bare);
  const twice = (i: number) => all.indexOf(all[i]) !== i || all.lastIndexOf(all[i]) !== i;
  return text.map((token, i) => (used.has(i) || twice(i) ? placed(token, i) : visible(all[i])));
}

export function letteredBy(store: Store, tell: Say): Lettered {
  const several = store.kinds.length > 1;
  return {
    layer: (kind, layer) =>
      several
        ? tell("whyLayerOf", { kind: isKey(kind) ? tell(kind) : kind, layer })
        : tell("whyLayer", { layer }),
    between: (first, layer) => tell(first === layer ? "whyBetween" : "whyBetweenMany", { first, layer }),
    carries: (token) => tell("whyStem", { token }),
    hidden: (count) => tell("whyHidden", { count }),
  };
}

const HALF = 92; // of a name with its number and question

export const clamped = (x: number, width: number): number => Math.max(HALF, Math.min(width - HALF, x));

export const shareOf = ({ share, into }: Line): string =>
  share === null ? "" : into === null ? brief(share) : withSign(share);

/** The number of a line with what it is a number of. */
export function amountOf(line: Line, tell: Say): string {
  if (line.share === null) return "";
  const value = shareOf(line);
  if (line.into === null) return tell("whyWeight", { value });
  return line.of === null
    ? tell("whyAdds", { value })
    : tell("whyAddsOf", { value, all: figure(line.of, 2) });
}

export function valuesOf(store: Store, { kind, layer, head, query, key }: Line) {
  const site = store.page.sites.find((one) => one.kind === kind)!;
  const token = (side: string, at: number) => placed(store.page.sides.get(side)!.text[at] ?? "", at);
  return { head: `${layer}.${head}`, query: token(site.query, query), key: token(site.key, key) };
}

export function sentenceOf(store: Store, line: Line, tell: Say): string {
  const values = { ...valuesOf(store, line), value: shareOf(line) };
  return tell(line.into === null ? "whyTop" : "whyLine", values);
}

const MARGIN = 24;
const TITLE = 30;

/** The drawing as a file, with what it says above it and where it comes from below. */
export function save(store: Store, lines: readonly Line[], layout: Layout, tell: Say): void {
  const colours = palette(store.theme.peek());
  const pen = new SvgPen();
  const inner = shifted(pen, MARGIN, MARGIN + TITLE);
  draw(inner, layout, letteredBy(store, tell), colours);
  for (const arc of layout.arcs) {
    const line = lines[arc.line];
    const [x, y] = chipAt(arc);
    const text = `${line.layer}.${line.head}  ${amountOf(line, tell)}`;
    inner.text(clamped(x, layout.width), y, text, {
      colour: colours.ink,
      mono: false,
      bold: true,
      align: "middle",
    });
  }
  const [top] = lines;
  const title = sentenceOf(store, top, tell);
  pen.text(MARGIN, MARGIN + 4, title, { colour: colours.ink, size: 16, mono: false, bold: true });
  const y = MARGIN + TITLE + layout.height + 20;
  const print = `${String(store.page.facts.model ?? "")} · ${tell("whyFrozen")} · regard ${store.page.made}`;
  pen.text(MARGIN, y, print, { colour: colours.quiet, size: 11, mono: false });
  const svg = pen.document(layout.width + 2 * MARGIN, Math.ceil(y + MARGIN), colours.ground);
  const name = `regard-why-layer${top.layer}-head${top.head}.svg`;
  download(name, new Blob([svg], { type: "image/svg+xml" }), document);
}
