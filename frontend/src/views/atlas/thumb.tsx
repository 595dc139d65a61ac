// One head of the atlas as a small map, labelled with what the head does.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Digest } from "../../compute/digest";
import { isCausal } from "../../compute/rest";
import { type Cell, colourOf, NONE, nameOf, namesOf, restOf, type Tint } from "../../data/report";
import { type Say, useSay, useStore } from "../../frame/context";
import { shortFor, wordFor } from "../../frame/report";
import { paint } from "../../frame/small";
import { brief, changeShades, figure, shades } from "../../marks/scales";
import { samePlace } from "../../state/selection";
import type { Store } from "../../state/store";
import { ghost, glimpseOf } from "./ghost";

const TICKED = 0.03; // share of resting from which a tick is more than a dot

interface ThumbProps {
  cell: Cell;
  digest: Digest | undefined;
  shared: number | null;
  enlarges: boolean; // whether a click shows the head over the atlas
  still?: boolean; // whether it cannot change
}

/** The map of one head, with a label of what it does. */
export function Thumb({ cell, digest: found, shared, enlarges, still = false }: ThumbProps) {
  const store = useStore();
  const tell = useSay();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = store.theme.value;
  const glimpse = glimpseOf(store, cell);
  useLayoutEffect(() => {
    if (found && glimpse) ghost(canvas.current!, store, cell, glimpse);
    else if (found) paint(canvas.current!, found, cell.site, store, shared);
  }, [found, theme, shared, glimpse?.image, glimpse?.query, store.look.value]);
  const { site, head } = cell;
  const label = labelOf(store, cell);
  const off = isOff(store, cell);
  const absent = !store.reaches(site);
  const rest = restOf(cell, store.look.value.contributions);
  const shade = shadeOf(store, cell);
  const choose = (enlarge: boolean) => {
    if (absent) return;
    store.set({ layer: site.layer, part: site.part, heads: [head] });
    store.enlarged.value = enlarge;
  };
  return (
    <button
      type="button"
      class={classOf({
        dimmed: label.dimmed,
        off,
        still,
        causal: isCausal(site),
        change: store.shading !== null,
      })}
      style={styleOf(store, label.name, shade)}
      data-cell={`${site.layer}-${head}`}
      data-label={label.name}
      data-changed={store.shading === "change" ? shade : null}
      data-lift={store.shading === "rule" ? shade : null}
      aria-label={spokenOf(store, cell, shade, tell)}
      aria-pressed={isChosen(store, cell)}
      aria-disabled={absent}
      onClick={() => choose(enlarges)}
      onDblClick={() => {
        choose(false);
        if (!absent) store.set({ view: "heads" });
      }}
      onPointerEnter={() => (store.pointed.value = cell)}
      onPointerLeave={() => (store.pointed.value = null)}
      onFocus={() => (store.pointed.value = cell)}
      onBlur={() => (store.pointed.value = null)}
    >
      {rest !== null && !glimpse && rest.share >= TICKED && (
        <span class="rest" aria-hidden="true">
          <i style={{ height: `${100 * rest.share}%` }} />
        </span>
      )}
      <span class={glimpse ? "map seen" : "map"}>
        <canvas ref={canvas} aria-hidden="true" />
        {label.names.length > 1 && !store.shading && <Chips names={label.names} tint={store.tint.value} />}
      </span>
      <span class="label" aria-hidden="true">
        {store.shading ? shadeText(store, shade, off) : label.name !== NONE && shortFor(tell, label.name)}
      </span>
    </button>
  );
}

const classOf = (flags: Record<string, boolean>): string =>
  ["thumb", ...Object.keys(flags).filter((name) => flags[name])].join(" ");

const isOff = (store: Store, { site, head }: Cell): boolean =>
  store.off.value.some((one) => samePlace(one, { kind: site.kind, layer: site.layer, head }));

/** Whether a head is the one that is chosen. */
function isChosen(store: Store, { site, head }: Cell): boolean {
  const { kind, layer, part, heads } = store.selection.value;
  const here = kind === site.kind && layer === site.layer && part === site.part;
  return here && heads.length === 1 && heads[0] === head;
}

/** A cell in words: its head, what it does, how much rests, and what its colour says. */
function spokenOf(store: Store, cell: Cell, shade: number | null, tell: Say): string {
  const { site, head } = cell;
  const rest = restOf(cell, store.look.value.contributions);
  const place = tell("cellName", { layer: site.layer, head });
  const named = labelOf(store, cell)
    .names.filter((one) => one !== NONE)
    .map((one) => wordFor(tell, one));
  return [
    named.length ? [place, named.join(tell("comma"))].join(tell("colon")) : place,
    ...(rest ? [tell("restsFor", { share: figure(rest.share, 2) })] : []),
    ...(isOff(store, cell) ? [tell("isOff")] : []),
    ...(store.reaches(site) ? [] : [tell("pictureOnly")]),
    ...(shade === null ? [] : [toldOf(store, shade, tell)]),
  ].join(tell("comma"));
}

const FAINT = 0.05; // lift below which a cell goes without its number

/** How far a head follows the rule, or how much it changes, where the atlas shows that; null where it is not known. */
function shadeOf(store: Store, cell: Cell): number | null {
  const name = nameOf(cell);
  if (store.shading === "rule") return store.followed.value!.lifts.get(`${cell.site.kind} ${name}`) ?? null;
  return store.shading ? (store.changes.value?.get(name) ?? null) : null;
}

function toldOf(store: Store, value: number, tell: Say): string {
  if (store.shading === "rule") return tell("followsBy", { value: figure(value, 2) });
  return tell(value ? "changedBy" : "unchanged", { value: figure(value, 2) });
}

function shadeText(store: Store, value: number | null, off: boolean): string {
  if (value === null) return "";
  if (store.shading === "rule") return value >= FAINT ? brief(value) : "";
  if (off) return "";
  return value ? brief(value) : ""; // white, as the legend says
}

/** Colours of a cell: that of its name around it, or that of a number all over it. */
function styleOf(store: Store, name: string, value: number | null): Record<string, string> {
  if (!store.shading)
    return name === NONE ? {} : { "--name": colourOf(store.page, store.tint.value, name, store.theme.value) };
  if (value === null) return {};
  const theme = store.theme.value;
  if (store.shading === "rule") return { "--change": shades(theme)(value) };
  const top = Math.max(1e-9, ...(store.changes.value?.values() ?? []));
  return { "--change": changeShades(theme)(value / top) };
}

/** The colours of several names, up to three. */
function Chips({ names, tint }: { names: string[]; tint: Tint }) {
  const { page, theme } = useStore();
  return (
    <span class="chips" aria-hidden="true">
      {names.slice(0, 3).map((name) => (
        <i key={name} style={{ background: colourOf(page, tint, name, theme.value) }} />
      ))}
    </span>
  );
}

/** The name a head is labelled with, and whether the legend leaves it out. */
function labelOf(store: Store, cell: Cell): { name: string; names: string[]; dimmed: boolean } {
  const names = namesOf(store.page, cell, store.tint.value, store.look.value.contributions);
  const glanced = store.glanced.value;
  const wanted = glanced === null ? store.wanted.value : [glanced];
  if (!wanted.length) return { name: names[0], names, dimmed: false };
  const chosen = names.find((name) => wanted.includes(name));
  return { name: chosen ?? names[0], names, dimmed: chosen === undefined };
}
