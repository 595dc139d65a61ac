// From step to step. Cross attention begins with the head that pairs the words best, unless the reader has chosen one.

import { coverage, mostAligning } from "../compute/aligning";
import type { Store } from "../state/store";
import type { WalkData } from "./data";
import { attention, MODEL } from "./layer";
import { stepsOf } from "./order";

/** Go to a step; the head of cross attention that nobody chose is left behind with it. */
export function goTo(store: Store, data: WalkData, step: number): void {
  const steps = stepsOf(data);
  const { step: left, heads } = store.selection.peek();
  const opened = store.page.selection.heads;
  const own = (list: readonly number[]) => String(heads) === String(list);
  if (steps[step] === "cross" && own(opened)) store.set({ step, heads: [aligning(data)] });
  else if (steps[left] === "cross" && steps[step] !== "cross" && own([aligning(data)]))
    store.set({ step, heads: opened.slice() });
  else store.set({ step });
}

export function aligning(data: WalkData): number {
  const heads = Array.from({ length: data.header.heads }, (_, head) => head);
  return mostAligning(heads, (head) => {
    const { weights } = attention(data, "cross", head, MODEL);
    return coverage(weights.values, weights.columns);
  });
}
