// The steps of the walk, in their order, and what each is about.

import type { Say } from "../frame/context";
import { isKey } from "../words";
import type { WalkData } from "./data";
import type { Part } from "./layer";

export const ENCODER = [
  "tokens",
  "embed",
  "project",
  "scores",
  "scale",
  "softmax",
  "mix",
  "join",
  "output",
  "residual",
  "feed",
  "stack",
] as const;
export const DECODER = ["target", "mask", "attend", "cross", "dfeed", "predict", "loss"] as const;
export type StepId = (typeof ENCODER)[number] | (typeof DECODER)[number];

/** What a step says; where something else is often said, that claim and what is right. */
export function wordsOf(tell: Say, id: StepId) {
  const [claim, note] = [`step_${id}_claim`, `step_${id}_note`];
  return {
    title: tell(`step_${id}_title`),
    formula: tell(`step_${id}_formula`),
    text: tell(`step_${id}_text`),
    mixUp: isKey(claim) && isKey(note) ? { claim: tell(claim), note: tell(note) } : null,
  };
}

export const stepsOf = (data: WalkData): StepId[] => (data.decodes ? [...ENCODER, ...DECODER] : [...ENCODER]);

/** The part of the layer that a step is about. */
export function partOf(id: StepId): Part {
  if (id === "cross") return "cross";
  return (DECODER as readonly string[]).includes(id) ? "decoder" : "encoder";
}

/** Whether a step is about attention. */
export const attending = (id: StepId): boolean =>
  !["tokens", "embed", "feed", "stack", "target", "dfeed", "predict", "loss"].includes(id);

/** The step to come back to from a kind of attention: the one that was left, or where its scores are made. */
export function stepFor(data: WalkData, kind: string, left: number): number {
  const steps = stepsOf(data);
  const id = steps[Math.min(left, steps.length - 1)];
  if (attending(id) && partOf(id) === kind) return left;
  return steps.indexOf(kind === "cross" ? "cross" : kind === "decoder" ? "mask" : "scores");
}
