// The layers of a page, ready to be multiplied: or the reason why they cannot be.

import { release } from "../../compute/attention";
import type { Axis } from "../../compute/axis";
import { run } from "../../compute/jobs";
import { evenStep, layerStep, rolledOut } from "../../compute/rollout";
import { isHere, type Site } from "../../data/wire";
import { sayIn } from "../../frame/context";
import { told } from "../../frame/report";
import type { Store } from "../../state/store";

export const MOST = 512; // tokens: each layer takes as many numbers as tokens times tokens

/** The steps of all layers, first to last, and those of layers that look evenly, where these are known. */
export interface Steps {
  axis: Axis; // the tokens of both ends
  site: Site; // the last layer
  layers: readonly Float32Array[];
  even: readonly Float32Array[] | null;
}

const sitesOf = (store: Store): Site[] =>
  store.page.sites.filter(({ kind }) => kind === store.selection.value.kind);

/** Why there is no roll-out, as a sentence; null where there is one. */
export function reasonAgainst(store: Store): string | null {
  const tell = sayIn(store);
  const sites = sitesOf(store);
  const side = store.page.sides.get(sites[0].query)!;
  const tokens = side.text.length;
  if (sites.some(({ query, key }) => query !== key)) return tell("rolloutCross");
  if (sites.some(({ part }) => part > 0)) return tell("rolloutParts");
  if (side.medium?.kind === "picture") return tell("rolloutImage");
  if (sites.some(({ layer }, i) => layer !== i)) return tell("rolloutLayers");
  if (tokens > MOST) return tell("rolloutLong", { tokens, most: MOST });
  const bare = store.look.value.contributions && sites.find((site) => isHere(site) && !site.norms);
  return bare ? tell("rolloutNorms", { layer: bare.layer, why: whyBare(store, bare) }) : null;
}

function whyBare(store: Store, { why }: Site): string {
  const tell = sayIn(store);
  return why.text ? told(tell, "reason", why) : tell("reason_unrecorded");
}

/** What the steps depend on. */
export const stepsKey = (store: Store): string =>
  `${store.edition} ${store.selection.value.kind} ${store.look.value.contributions}`;

/** Compute the steps; layers that are not here are fetched one after the other, and let go. */
export async function stepsOf(store: Store, signal: AbortSignal): Promise<Steps> {
  const { lenses } = store;
  const { contributions } = store.look.value;
  const sites = sitesOf(store);
  const layers: Float32Array[] = [];
  for (const site of sites) {
    const here = isHere(site) ? site : await store.powers.fetch!(site, false, signal);
    if (contributions && !here.norms) throw new Error(whyBare(store, here));
    layers.push(await run(layerStep(lenses, here, contributions), signal));
    if (here !== site) release([here]);
  }
  const tokens = Math.sqrt(layers[0].length);
  const even = sites.map((site) => evenStep(site, tokens));
  return {
    axis: lenses.axis(sites[0].query, "tokens"),
    site: sites[sites.length - 1],
    layers,
    even: even.every((step) => step !== null) ? (even as Float32Array[]) : null,
  };
}

/** What a token consists of after so many layers; the parts are 1 together. */
export interface Mixture {
  layers: number;
  itself: number;
  others: number;
  rests: number;
}

const ROWS = 10; // more layers than that are not all shown

/** What one position consists of after the first layers, of more and more of them. */
export function mixedOf(steps: Steps, position: number, rests: (key: number) => boolean): Mixture[] {
  const count = steps.layers.length;
  const shown = Math.min(count, ROWS);
  return Array.from({ length: shown }, (_, i) => {
    const layers = Math.round(((i + 1) * count) / shown);
    const found = { layers, itself: 0, others: 0, rests: 0 };
    rolledOut(steps.layers.slice(0, layers), position).forEach((share, p) => {
      found[rests(p) ? "rests" : p === position ? "itself" : "others"] += share;
    });
    return found;
  });
}
