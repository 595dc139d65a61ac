// The atlas as a grid: one small map for each head, labelled with what the head does.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Digest } from "../../compute/digest";
import { type Cell, colourOf, inkOn, NONE, namesOf, type Tint } from "../../data/report";
import { useSay, useStore } from "../../frame/context";
import { wordFor } from "../../frame/report";
import { heat } from "../../marks/heat";
import type { Theme } from "../../marks/scales";
import { type Store, samePlace } from "../../state/store";
import { isKey } from "../../words";

export const nameOf = (cell: Cell): string => `${cell.site.layer} ${cell.site.part} ${cell.head}`;

interface GridProps {
  cells: Cell[];
  all: Cell[];
  digests: Map<string, Digest>;
  layers: { value: number[] };
  heads: { value: number[] };
}

/** Layers down, heads across. */
export function GridOf({ cells, all, digests: found, layers, heads }: GridProps) {
  const tell = useSay();
  const rows = [...new Set(cells.map(({ site }) => `${site.layer} ${site.part}`))];
  const columns = [...new Set(cells.map(({ head }) => head))].sort((a, b) => a - b);
  const toggle = (list: { value: number[] }, n: number) => {
    list.value = list.value.includes(n) ? list.value.filter((x) => x !== n) : [...list.value, n];
  };
  const windows = all.some(({ site }) => site.part > 0);
  return (
    <fieldset
      class="grid"
      style={{ gridTemplateColumns: `auto repeat(${columns.length}, minmax(34px, 84px))` }}
      onKeyDown={arrows(columns.length)}
    >
      <span />
      {columns.map((head) => (
        <button
          key={head}
          type="button"
          class="plain"
          data-only-head={head}
          aria-pressed={heads.value.includes(head)}
          title={tell("onlyHead", { head })}
          onClick={() => toggle(heads, head)}
        >
          {head}
        </button>
      ))}
      {rows.map((row) => {
        const [layer, part] = row.split(" ").map(Number);
        return [
          <button
            key={row}
            type="button"
            class="plain"
            data-only-layer={layer}
            aria-pressed={layers.value.includes(layer)}
            title={tell("onlyLayer", { layer })}
            onClick={() => toggle(layers, layer)}
          >
            {windows ? `${layer}.${part}` : layer}
          </button>,
          ...columns.map((head) => {
            const cell = cells.find((c) => c.head === head && c.site.layer === layer && c.site.part === part);
            return cell ? (
              <Thumb key={nameOf(cell)} cell={cell} digest={found.get(nameOf(cell))} />
            ) : (
              <span key={`${row} ${head}`} />
            );
          }),
        ];
      })}
    </fieldset>
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

/** The map of one head, with a label of what it does. */
export function Thumb({ cell, digest: found }: { cell: Cell; digest: Digest | undefined }) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = store.theme.value;
  useLayoutEffect(() => {
    if (found) paint(canvas.current!, found, theme);
  }, [found, theme]);
  const { kind, layer, part, heads } = store.selection.value;
  const { site, head } = cell;
  const current =
    kind === site.kind &&
    layer === site.layer &&
    part === site.part &&
    heads.length === 1 &&
    heads[0] === head;
  const label = labelOf(store, cell);
  const off = store.off.value.some((one) => samePlace(one, { kind: site.kind, layer: site.layer, head }));
  const place = tell("cellName", { layer: site.layer, head });
  const name = [
    label.name === NONE ? place : [place, wordFor(tell, label.name)].join(tell("colon")),
    ...(off ? [tell("isOff")] : []),
  ].join(tell("comma"));
  const choose = (enlarge: boolean) => {
    store.set({ layer: site.layer, part: site.part, heads: [head] });
    store.enlarged.value = enlarge;
  };
  return (
    <button
      type="button"
      class={`thumb${label.dimmed ? " dimmed" : ""}${off ? " off" : ""}`}
      data-cell={`${site.layer}-${head}`}
      data-label={label.name}
      aria-label={name}
      title={name}
      aria-pressed={current}
      onClick={() => choose(true)}
      onDblClick={() => {
        choose(false);
        store.set({ view: "heads" });
      }}
      onPointerEnter={() => (store.pointed.value = cell)}
      onPointerLeave={() => (store.pointed.value = null)}
      onFocus={() => (store.pointed.value = cell)}
      onBlur={() => (store.pointed.value = null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {label.name !== NONE && <Label name={label.name} tint={store.tint.value} />}
    </button>
  );
}

/** A strip in the colour of a name, with the name where there is room for it. */
function Label({ name, tint }: { name: string; tint: Tint }) {
  const tell = useSay();
  const colour = colourOf(tint, name);
  const short = `short_${name}`;
  return (
    <span class="label" style={{ background: colour, color: inkOn(colour) }} aria-hidden="true">
      <span>{isKey(short) ? tell(short) : wordFor(tell, name)}</span>
    </span>
  );
}

/** The name a head is labelled with, and whether the legend leaves it out. */
function labelOf(store: Store, cell: Cell): { name: string; dimmed: boolean } {
  const names = namesOf(store.page, cell, store.tint.value);
  const wanted = store.wanted.value;
  if (!wanted.length) return { name: names[0], dimmed: false };
  const chosen = names.find((name) => wanted.includes(name));
  return { name: chosen ?? names[0], dimmed: chosen === undefined };
}

export function paint(canvas: HTMLCanvasElement, found: Digest, theme: Theme): void {
  heat(canvas, found.pixels, found.size[0], found.size[1], found.top, false, theme);
}
