// What the head view shows: layer, heads, segments, and how faint a line may be.

import { useSay, useStore } from "../../frame/context";
import { Choice, HeadPatches, Kinds, Layers, Level, Segments, Special } from "../../frame/controls";
import { Folds } from "../../frame/folds";
import { isVision } from "../../frame/pictured";
import { figure } from "../../marks/scales";
import { formOf } from "../../state/store";

export function Controls() {
  return (
    <>
      <FormChoice />
      <Kinds />
      <Layers />
      <HeadPatches />
      <Segments />
      <Folds />
      <Level />
      <Special />
      <Threshold />
    </>
  );
}

/** Columns or a sentence. */
function FormChoice() {
  const store = useStore();
  const tell = useSay();
  if (isVision(store)) return null;
  const options = [["columns", tell("columns")] as const, ["sentence", tell("sentence")] as const];
  return (
    <Choice
      label={tell("form")}
      value={formOf(store)}
      options={options}
      choose={(form) => store.set({ form })}
    />
  );
}

const STEPS = 100;

/** A slider that is fine near zero, where most weights are. */
function Threshold() {
  const store = useStore();
  const tell = useSay();
  if (isVision(store)) return null; // there are no lines
  const { threshold } = store.selection.value;
  const value = Math.round(Math.cbrt(Math.min(1, threshold)) * STEPS);
  return (
    <label class="slider">
      {tell("threshold")}{" "}
      <input
        type="range"
        min="0"
        max={STEPS}
        value={value}
        data-control="threshold"
        onInput={(event) =>
          store.set({ threshold: Number(((Number(event.currentTarget.value) / STEPS) ** 3).toPrecision(3)) })
        }
      />{" "}
      <output>{figure(threshold, 2)}</output>
    </label>
  );
}
