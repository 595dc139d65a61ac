// From step to step. Cross attention begins with the head that pairs the words best, unless the reader has chosen one.

import { coverage, mostAligning } from "../compute/aligning";
import type { Store } from "../state/store";
import type { WalkData } from "./data";
import { attention, MODEL } from "./layer";
import { stepsOf } from "./order";

export function goTo(store: Store, data: WalkData, step: number): void {
  const crossing = stepsOf(data)[step] === "cross";
  store.set({ step, ...(crossing && untouched(store) && { heads: [aligning(data)] }) });
}

/** Whether the heads are still those that the page opened with. */
const untouched = ({ selection, page }: Store): boolean =>
  String(selection.peek().heads) === String(page.selection.heads);

export function aligning(data: WalkData): number {
  const heads = Array.from({ length: data.header.heads }, (_, head) => head);
  return mostAligning(heads, (head) => {
    const { weights } = attention(data, "cross", head, MODEL);
    return coverage(weights.values, weights.columns);
  });
}
