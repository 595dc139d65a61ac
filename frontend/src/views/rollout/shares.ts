// What one position of the last layer holds of every token of the input, and beside it what layers that look evenly would give.

import { type Axis, positionOf } from "../../compute/axis";
import { isCausal, restsOf } from "../../compute/rest";
import { rolledOut } from "../../compute/rollout";
import { percent } from "../../marks/scales";
import type { Store } from "../../state/store";
import type { Steps } from "./steps";

export interface Shares {
  axis: Axis;
  position: number; // of the last layer
  layers: number;
  values: Float64Array; // of every token; together 1
  even: Float64Array | null; // the same with layers that look evenly
  rests: (key: number) => boolean;
  order: number[]; // positions that are no resting places, the largest share first
  left: number; // what these have together
}

/** What is left for tokens that are no resting places. */
const leftIn = (values: Float64Array, order: readonly number[]): number =>
  order.reduce((sum, p) => sum + values[p], 0);

/** Shares of what is left: those of one token, and with layers that look evenly. */
export function ofLeft({ values, even, order, left }: Shares, p: number): [own: number, even: number | null] {
  return [values[p] / (left || 1), even && even[p] / (leftIn(even, order) || 1)];
}

export const LITTLE = 0.02; // of a token: less is too little to tell others apart

/** Tokens by how many times an even share they have, most first; none where that is not known. */
export function againstEven(shares: Shares): { p: number; times: number }[] {
  const times = shares.order.map((p) => {
    const [own, even] = ofLeft(shares, p);
    return { p, times: even ? own / even : Number.NaN };
  });
  if (times.some((one) => Number.isNaN(one.times))) return [];
  return times.sort((a, b) => b.times - a.times || a.p - b.p);
}

/** Resting places that are not the same token, in the order of the text. */
export function restingTokens({ axis, values, rests }: Shares): number[] {
  const places = [...values.keys()].filter(rests);
  return places.filter((p, i) => places.findIndex((other) => axis.labels[other] === axis.labels[p]) === i);
}

/** How much resting places would have if every layer looked evenly; null where that is not known. */
export const restingEvenly = ({ even, order }: Shares): number | null =>
  even && percent(1 - leftIn(even, order));

/** Whether layers that look evenly would leave a token more of itself than of any other. */
export const ownIsLargest = ({ even, order, position }: Shares): boolean =>
  even !== null && order.every((p) => p === position || even[p] < even[position]);

/** A share of a token: 15%, 4.2%, 0.3%. */
export function shareText(share: number): string {
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 0.1) return "<0.1%";
  return `${hundredths.toFixed(hundredths < 9.95 ? 1 : 0)}%`;
}

/** The position that is asked about: the one pinned, or else the last that says something. */
export function askedOf(store: Store, { site, axis }: Steps): number {
  const [pinned] = store.selection.value.queries;
  if (pinned !== undefined && pinned < axis.count) return positionOf(axis, pinned);
  if (isCausal(site)) return axis.count - 1; // from here the next word is said
  const words = axis.labels.map((label, p) => !axis.special[p] && /[\p{L}\p{N}]/u.test(label));
  return Math.max(0, words.lastIndexOf(true));
}

/** The shares of all tokens in one position. */
export function sharesOf(steps: Steps, position: number): Shares {
  const { axis } = steps;
  const values = rolledOut(steps.layers, position);
  const resting = restsOf(steps.site, axis, axis);
  const rests = (key: number) => resting(position, key);
  const order = [...values.keys()].filter((p) => !rests(p)).sort((a, b) => values[b] - values[a] || a - b);
  const left = leftIn(values, order);
  const even = left < LITTLE ? null : steps.even; // times next to nothing say nothing
  return {
    axis,
    position,
    layers: steps.layers.length,
    values,
    even: even && rolledOut(even, position),
    rests,
    order,
    left,
  };
}
