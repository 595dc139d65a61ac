// Folding the segments of a text: buttons above the picture and on its axes, and what is said of folded ones.

import type { CSSProperties } from "preact";
import type { Axis } from "../compute/axis";
import { isCausal } from "../compute/rest";
import type { Side } from "../data/wire";
import { foldId } from "../state/folds";
import type { Store } from "../state/store";
import { together } from "../words";
import { listedName } from "../words/quoted";
import { partNames, sayIn, useSay, useStore } from "./context";
import { Choice } from "./controls";

/** Sides of the current site whose segments can be folded. */
function foldable(store: Store): Side[] {
  const { query, key } = store.site.value;
  const sides = [...new Set([query, key])].map((name) => store.page.sides.get(name)!);
  return store.view.folds ? sides.filter(({ segments }) => segments.length > 1) : [];
}

function toggle(store: Store, id: string): void {
  const { folded } = store.selection.peek();
  store.set({ folded: folded.includes(id) ? folded.filter((one) => one !== id) : [...folded, id] });
}

const isPair = ({ segments }: Side): boolean => segments.every(({ name }) => name === "A" || name === "B");

/** A button for each segment, and what is shown of those that are folded; two sentences have theirs on the axes alone. */
export function Folds() {
  const store = useStore();
  const tell = useSay();
  const folds = store.selection.value.folded.length > 0;
  const sides = foldable(store).filter((side) => folds || !isPair(side));
  if (!sides.length) return null;
  const { averaged } = store.selection.value;
  const options = [["sum", tell("foldSum")] as const, ["mean", tell("foldMean")] as const];
  return (
    <>
      <fieldset class="folds">
        <legend class="unseen">{tell("foldParts")}</legend>
        {sides.map((side) =>
          side.segments.map((_, number) => (
            <FoldButton key={foldId(side.name, number)} {...{ side, number }} />
          )),
        )}
      </fieldset>
      {store.look.value.folds && !store.look.value.worth && (
        <Choice
          label={tell("foldedKeys")}
          title={tell("foldHint")}
          value={averaged ? "mean" : "sum"}
          options={options}
          choose={(value) => store.set({ averaged: value === "mean" })}
        />
      )}
    </>
  );
}

interface FoldProps {
  side: Side;
  number: number; // of the segment
  style?: CSSProperties; // where it stands on an axis
  short?: boolean; // whether only its triangle has room
}

/** Folds a segment, or unfolds it. */
export function FoldButton({ side, number, style, short = false }: FoldProps) {
  const store = useStore();
  const tell = useSay();
  const id = foldId(side.name, number);
  const { name, start, end } = side.segments[number];
  const folded = store.selection.value.folded.includes(id);
  const part = partNames(store)(name);
  const words = tell(folded ? "unfold" : "fold", { part, count: end - start });
  return (
    <button
      type="button"
      class={name === "answer" ? "fold answer" : "fold"}
      data-fold={id}
      aria-expanded={!folded}
      aria-label={words}
      title={words}
      style={style}
      onClick={() => toggle(store, id)}
    >
      <i aria-hidden="true">{folded ? "▸" : "▾"}</i>
      {!short && ` ${part}`}
    </button>
  );
}

/** Among these positions of an axis, those with which a segment begins that can be folded. */
export function headsOf(axis: Axis, list: readonly number[]): { at: number; number: number }[] {
  if (axis.side.segments.length < 2) return [];
  const { segment } = axis;
  return [...list.keys()]
    .filter((at) => at === 0 || segment[list[at]] !== segment[list[at - 1]])
    .map((at) => ({ at, number: segment[list[at]] }));
}

/** What a position is called on an axis: of a folded segment, with what is shown of its tokens. */
export function nameOn(store: Store, axis: Axis, position: number, role: "query" | "key"): string {
  const name = axis.names[position];
  const { averaged, worth } = store.look.value;
  if (!axis.folded[position]) return listedName(name);
  if (worth) return name;
  return `${name} · ${sayIn(store)(role === "query" || averaged ? "foldMean" : "foldSum")}`;
}

/** The names of all folded segments in both roles. */
export const foldedNames = (store: Store): string[] =>
  (["query", "key"] as const).flatMap((role) => {
    const axis = (role === "query" ? store.rows : store.columns).peek();
    return axis.names.flatMap((_, p) => (axis.folded[p] ? [nameOn(store, axis, p, role)] : []));
  });

/** What is shown of folded segments, and which of them hold places where heads rest; null where nothing is folded. */
export function foldSentence(store: Store): string | null {
  const { folds, averaged, worth } = store.look.value;
  const axes = [store.rows.value, store.columns.value];
  if (!folds || !axes.some(({ folded }) => folded.includes(true))) return null;
  const tell = sayIn(store);
  if (worth) return tell("legendFoldWorth");
  return together(tell(averaged ? "legendFoldMean" : "legendFoldSum"), restsWithin(store));
}

/** Folded segments whose tokens heads rest on: their sum has what rests in it. */
function restsWithin(store: Store): string | null {
  const tell = sayIn(store);
  const axis = store.columns.value;
  const { special, stand_ins, text, segments } = axis.side;
  const causal = isCausal(store.site.value);
  const parts: string[] = [];
  const places = new Set<string>();
  axis.folded.forEach((folded, p) => {
    if (!folded) return;
    const tokens = Array.from({ length: axis.starts[p + 1] - axis.starts[p] }, (_, i) => axis.starts[p] + i);
    const resting = tokens.filter((t) => (special[t] && !stand_ins?.includes(t)) || (causal && t === 0));
    if (resting.length) parts.push(partNames(store)(segments[axis.segment[p]].name));
    for (const token of resting) places.add(special[token] ? text[token] : tell("first"));
  });
  if (!parts.length) return null;
  return tell("legendFoldRests", {
    parts: parts.join(tell("listed")),
    places: [...places].slice(0, MOST).join(tell("listed")),
  });
}

const MOST = 3; // resting places that are named
