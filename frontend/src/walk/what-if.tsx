// What can be changed at a step of the walk, and what is said of numbers that are not the model's.

import type { Signal } from "@preact/signals";
import type { Say } from "../frame/context";
import { brief } from "../marks/scales";
import type { WalkData } from "./data";
import { differs, MODEL, type WhatIf } from "./layer";
import { attending, partOf, type StepId } from "./order";

const SWITCHES = [
  "scaling",
  "masking",
  "rotation",
  "bias",
  "symmetric",
  "single",
  "permuted",
  "positions",
] as const;

/** Steps whose numbers need the layers after the one that is opened. */
const BEYOND: readonly StepId[] = ["stack", "target", "predict", "loss"];

/** What is said of numbers while something is changed: that they are not the model's, or that it does not reach them. */
export function changedAt(id: StepId, what: WhatIf, tell: Say): string {
  if (!differs(what)) return "";
  const heated = (id === "predict" || id === "loss") && what.temperature !== 1;
  if (id === "tokens") return "";
  return tell(BEYOND.includes(id) && !heated ? "walk_beyond" : "walk_changed");
}

const insideLayer = (id: StepId): boolean => attending(id) || id === "feed" || id === "dfeed";

/** The switches that matter at a step. */
function offeredAt(data: WalkData, id: StepId) {
  const part = partOf(data, id);
  const inside = insideLayer(id);
  return SWITCHES.filter((name) => {
    if (name === "permuted" || name === "positions")
      return part === "encoder" && data.has("encoder.in.placeless") && (inside || id === "embed");
    if (name === "scaling") return inside && data.header.divided;
    if (name === "bias") return inside && data.relative && part !== "cross";
    if (name === "masking") return inside && part !== "encoder";
    if (name === "rotation") return inside && data.rotary;
    if (name === "single") return inside && !data.rotary && !data.relative; // what belongs to heads of their width
    return inside;
  });
}

/** Switches that change one thing; only those that matter at a step. */
export function WhatIfs(props: { data: WalkData; what: Signal<WhatIf>; id: StepId; tell: Say }) {
  const { data, what, id, tell } = props;
  const changed = changedAt(id, what.value, tell);
  const inside = insideLayer(id);
  const offered = offeredAt(data, id);
  const heated = inside || id === "predict" || id === "loss";
  if (!offered.length && !heated && !changed) return null;
  const set = (change: Partial<WhatIf>) => {
    what.value = { ...what.value, ...change };
  };
  return (
    <fieldset class="what-if">
      <legend>{tell("walk_whatIf")}</legend>
      {offered.map((name) => (
        <label
          key={name}
          class="check"
          title={name === "symmetric" ? tell("walk_hint_symmetric") : undefined}
        >
          <input
            type="checkbox"
            data-what={name}
            checked={what.value[name]}
            onChange={(event) => set({ [name]: event.currentTarget.checked })}
          />{" "}
          {tell(`walk_${name}`)}
        </label>
      ))}
      {heated && (
        <label class="check">
          {tell("walk_temperature")}{" "}
          <input
            type="range"
            data-what="temperature"
            min="-2"
            max="2"
            step="0.25"
            value={Math.log2(what.value.temperature)}
            onInput={(event) => set({ temperature: 2 ** Number(event.currentTarget.value) })}
          />{" "}
          {brief(what.value.temperature)}
        </label>
      )}
      {changed && (
        <span class="changed" data-changed>
          {changed}{" "}
          <button type="button" class="plain" data-what="reset" onClick={() => set(MODEL)}>
            {tell("walk_reset")}
          </button>
        </span>
      )}
      {inside && what.value.symmetric && <p class="quiet">{tell("walk_symmetricNote")}</p>}
      {offered.includes("permuted") && what.value.permuted && !what.value.positions && (
        <p class="quiet">{tell("walk_placelessNote")}</p>
      )}
    </fieldset>
  );
}
