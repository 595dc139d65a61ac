// What the head view shows: layer, heads, segments, and how faint a line may be.

import { useSay, useStore } from "../../frame/context";
import { HeadPatches, Kinds, Layers, Level, Segments, Special } from "../../frame/controls";
import { figure } from "../../marks/scales";

export function Controls() {
  return (
    <>
      <Kinds />
      <Layers />
      <HeadPatches />
      <Segments />
      <Level />
      <Special />
      <Threshold />
    </>
  );
}

const STEPS = 100;

/** A slider that is fine near zero, where most weights are. */
function Threshold() {
  const store = useStore();
  const tell = useSay();
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
