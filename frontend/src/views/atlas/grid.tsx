// The atlas as a grid: layers down and heads across, or turned where that makes larger maps on a phone.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Digest } from "../../compute/digest";
import { type Cell, nameOf } from "../../data/report";
import { type Say, useSay, useStore } from "../../frame/context";
import type { Store } from "../../state/store";
import type { Layout } from "./layout";
import { Thumb } from "./thumb";

interface GridProps {
  cells: Cell[];
  all: Cell[];
  digests: Map<string, Digest>;
  layers: { value: number[] };
  heads: { value: number[] };
  layout: Layout;
  shared: number | null; // where the colours of all maps end; null: each on its own scale
}

/** Scroll a box, and nothing around it, until an element is seen in its middle: a report around it stays in place. */
function reveal(element: Element, scroller: Element): void {
  const [inner, outer] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  if (inner.bottom > outer.bottom || inner.top < outer.top)
    scroller.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
  if (inner.right > outer.right || inner.left < outer.left)
    scroller.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}

/** The layers and the heads of some cells: rows and columns of their grid. */
export function sidesOf(cells: Cell[]): { rows: string[]; columns: number[] } {
  const rows = [...new Set(cells.map(({ site }) => `${site.layer} ${site.part}`))];
  return { rows, columns: [...new Set(cells.map(({ head }) => head))].sort((a, b) => a - b) };
}

/** Layers down, heads across; many layers in several columns side by side. */
export function GridOf({ layout, ...props }: GridProps) {
  const { rows, columns } = sidesOf(props.cells);
  const { size, blocks, turned } = layout;
  const box = useRef<HTMLFieldSetElement>(null);
  useLayoutEffect(() => {
    const chosen = box.current!.querySelector('.thumb[aria-pressed="true"]');
    if (chosen) reveal(chosen, box.current!.parentElement!);
  }, [size, blocks, rows.length, columns.length]);
  const high = Math.ceil(rows.length / blocks);
  return (
    <fieldset class="blocks" ref={box} onKeyDown={arrows(turned ? rows.length : columns.length)}>
      {Array.from({ length: blocks }, (_, block) => (
        <Block
          key={block}
          rows={rows.slice(block * high, (block + 1) * high)}
          {...{ columns, layout, ...props }}
        />
      ))}
    </fieldset>
  );
}

interface BlockProps extends GridProps {
  rows: string[];
  columns: number[];
}

/** One layer, or one head, at the edge of a grid. */
interface Edge {
  name: string;
  layer?: number;
  part?: number;
  head?: number;
}

/** Some layers, one below the other. */
function Block({ cells, all, digests: found, layout, shared, rows, columns, ...chosen }: BlockProps) {
  const store = useStore();
  const tell = useSay();
  const { size, small, beside, panel, blocks, turned } = layout;
  const windows = all.some(({ site }) => site.part > 0);
  const signs = turned
    ? ([tell("layerEdge"), tell("headEdge")] as const)
    : store.narrow.value
      ? ["L", "H"]
      : ["", ""];
  const [layerSign, headSign] = signs; // on a phone either may be across
  const ofLayers = rows.map((row): Edge => {
    const [layer, part] = row.split(" ").map(Number);
    return { name: `${layerSign}${windows ? `${layer}.${part}` : layer}`, layer, part };
  });
  const ofHeads = columns.map((head): Edge => ({ name: `${headSign}${head}`, head }));
  const [down, across] = turned ? [ofHeads, ofLayers] : [ofLayers, ofHeads];
  const style = { gridTemplateColumns: `auto repeat(${across.length}, ${size}px)` };
  return (
    <div class={["grid", small && "small", blocks > 1 && "many"].filter(Boolean).join(" ")} style={style}>
      <span class="corner" aria-hidden="true">
        {tell(turned ? "acrossLayers" : "acrossHeads")}
        <br />
        {tell(turned ? "downHeads" : "downLayers")}
      </span>
      {across.map((edge) => (
        <Only key={edge.name} {...{ edge, ...chosen }} />
      ))}
      {down.map((edge, row) => {
        const said = stillOf(store, cells, edge, tell);
        return [
          <Only key={edge.name} {...{ edge, ...chosen }} />,
          ...across.map((other) => {
            const cell = cellAt(cells, { ...edge, ...other });
            if (!cell) return <span key={`${edge.name} ${other.name}`} />;
            const name = nameOf(cell);
            const still = Boolean(turned ? stillOf(store, cells, other, tell) : said);
            const rest = { shared, still, enlarges: !beside && !panel };
            return <Thumb key={name} cell={cell} digest={found.get(name)} {...rest} />;
          }),
          said && !small && <Still key={`${edge.name} still`} at={row} said={said} />,
        ];
      })}
    </div>
  );
}

const cellAt = (cells: readonly Cell[], { layer, part, head }: Edge): Cell | undefined =>
  cells.find((cell) => cell.head === head && cell.site.layer === layer && cell.site.part === part);

/** Below a row that cannot change: why. It takes no room of its own. */
function Still({ at, said }: { at: number; said: string }) {
  return (
    <span class="cannot" style={{ gridRow: `${at + 2} / ${at + 3}` }} data-still>
      {said}
    </span>
  );
}

/** Why the heads of a layer cannot change: they come before what is switched off, or beside it. */
function stillOf(store: Store, cells: readonly Cell[], { layer }: Edge, tell: Say): string {
  const changes = store.changes.value;
  if (store.shading !== "change" || layer === undefined || !changes?.size) return "";
  const mine = cells.filter(({ site }) => site.layer === layer);
  const { kind } = store.selection.value;
  const off = store.off.value.filter((one) => one.kind === kind);
  const first = off.sort((a, b) => a.layer - b.layer)[0];
  if (!first || layer > first.layer || mine.some((cell) => changes.get(nameOf(cell)))) return "";
  return tell(layer < first.layer ? "stillBefore" : "stillBeside", { head: `${first.layer}.${first.head}` });
}

interface OnlyProps {
  edge: Edge;
  layers: { value: number[] };
  heads: { value: number[] };
}

/** Whether the chosen head is in this layer, or has this number. */
function hasChosen(store: Store, { layer, part, head }: Edge): boolean {
  const chosen = store.selection.value;
  if (layer === undefined) return chosen.heads.length === 1 && chosen.heads[0] === head;
  return chosen.layer === layer && chosen.part === part;
}

/** A number at the edge of the grid: only its layer, or its head, is shown, or all again. */
function Only({ edge, layers, heads }: OnlyProps): ComponentChildren {
  const store = useStore();
  const tell = useSay();
  const { name, layer, head } = edge;
  const chosen = layer === undefined ? heads : layers;
  const number = (layer ?? head)!;
  const list = chosen.value;
  const toggle = () => {
    chosen.value = list.includes(number) ? list.filter((one) => one !== number) : [...list, number];
  };
  return (
    <button
      type="button"
      class="plain"
      title={layer === undefined ? tell("onlyHead", { head: number }) : tell("onlyLayer", { layer })}
      aria-pressed={list.includes(number)}
      data-here={hasChosen(store, edge) ? "" : undefined}
      onClick={toggle}
      data-only-layer={layer}
      data-only-head={head}
    >
      {name}
    </button>
  );
}

/** Arrow keys move between the maps of a grid. */
const arrows = (columns: number) => (event: KeyboardEvent) => {
  const step = { ArrowUp: -columns, ArrowDown: columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".thumb")];
  const at = all.indexOf(event.target as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  all[at + step]?.focus();
};
