// The steps of the walk, in their order, and what each is about.

import type { Say } from "../frame/context";
import { isKey } from "../words";
import type { WalkData } from "./data";
import type { Part } from "./layer";

/** The stack that reads the text, before and after the steps of attention that all have. */
const ATTENTION = ["softmax", "mix", "join", "output", "residual", "feed", "stack"] as const;
export const ENCODER = [
  "tokens",
  "embed",
  "norm",
  "project",
  "scores",
  "scale",
  "bias",
  ...ATTENTION,
] as const;
/** A decoder that reads an encoder. */
export const DECODER = ["target", "mask", "attend", "cross", "dfeed", "predict", "loss"] as const;
/** A decoder that is alone: GPT-2 and its successors. */
export const ALONE = [
  ...["tokens", "embed", "norm", "project", "group", "rotate", "scores", "scale", "mask"],
  ...ATTENTION,
  ...["predict", "cache", "loss"],
] as readonly StepId[];
export type StepId = (typeof ENCODER)[number] | (typeof DECODER)[number] | "group" | "rotate" | "cache";

/** Steps that only some models have. */
const ONLY: Partial<Record<StepId, (data: WalkData) => boolean>> = {
  norm: (data) => data.reader === "decoder" || data.relative, // elsewhere it is told where it is added
  scale: (data) => data.header.divided,
  bias: (data) => data.relative,
  group: (data) => data.header.groups > 0,
  rotate: (data) => data.rotary,
  predict: (data) => data.has("logits"),
  loss: (data) => data.has("logits") && data.header.targets.length > 0,
};

export function stepsOf(data: WalkData): StepId[] {
  const both = data.translates ? [...ENCODER, ...DECODER] : ENCODER;
  const all = data.reader === "decoder" ? ALONE : both;
  return all.filter((id) => ONLY[id]?.(data) ?? true);
}

/** Kinds of models for which a step may have words of its own, the closest first. */
function kindsOf(data: WalkData): string[] {
  if (data.relative) return [data.has("encoder.W_G") ? "gated" : "ungated", "t5", "rms"];
  if (data.reader === "encoder") return [];
  return [...(data.header.normed === "rms" ? ["llama", "rms"] : ["gpt2"]), "alone"];
}

/** What a model of this kind says by a name such as `step_feed_text`; `step_feed_llama_text` comes before it. */
export function keyOf(data: WalkData, start: string, end = "") {
  const kinds = kindsOf(data).map((kind) => `${start}_${kind}${end}`);
  return [...kinds, start + end].find(isKey);
}

/** What a step says; where something else is often said, that claim and what is right. */
export function wordsOf(tell: Say, data: WalkData, id: StepId) {
  const said = (part: string): string => {
    const key = keyOf(data, `step_${id}`, `_${part}`);
    return key ? tell(key) : "";
  };
  const [claim, note] = [said("claim"), said("note")];
  return {
    ...{ title: said("title"), formula: said("formula"), text: said("text") },
    mixUp: claim && note ? { claim, note } : null,
  };
}

/** The part of the layer that a step is about. */
export function partOf(data: WalkData, id: StepId): Part {
  if (id === "cross") return "cross";
  return (DECODER as readonly StepId[]).includes(id) ? "decoder" : data.reader;
}

/** Whether a step is about attention. */
export const attending = (id: StepId): boolean =>
  !["tokens", "embed", "norm", "feed", "stack", "target", "dfeed", "predict", "loss"].includes(id);

/** The step to come back to from a kind of attention: the one that was left, or where its scores are made. */
export function stepFor(data: WalkData, kind: string, left: number): number {
  const steps = stepsOf(data);
  const id = steps[Math.min(left, steps.length - 1)];
  if (attending(id) && partOf(data, id) === kind) return left;
  return steps.indexOf(kind === "cross" ? "cross" : kind === "decoder" ? "mask" : "scores");
}
