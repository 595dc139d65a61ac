// The small map of a head: coloured where it looks, grey where it rests.

import type { Digest } from "../compute/digest";
import { restingPixels, restsOf } from "../compute/rest";
import type { Site } from "../data/wire";
import { heat, signedHeat } from "../marks/heat";
import type { Store } from "../state/store";

const known = new WeakMap<Site, { key: string; pixels: Uint8Array }>(); // all heads of a site rest in the same places

/** Where the pixels of a head's small map rest. */
function restsIn(store: Store, site: Site, found: Digest): Uint8Array {
  const { level } = store.look.peek();
  const key = JSON.stringify([store.edition, level, found.size, found.pool]);
  const kept = known.get(site);
  if (kept?.key === key) return kept.pixels;
  const [rows, columns] = [site.query, site.key].map((side) => store.lenses.axis(side, level));
  const pixels = restingPixels(restsOf(site, rows, columns), found, columns.count);
  known.set(site, { key, pixels });
  return pixels;
}

/** A small map on its own scale, or, where it is of both signs, on one that all share. */
export function paint(
  canvas: HTMLCanvasElement,
  found: Digest,
  site: Site,
  store: Store,
  shared: number | null = null,
): void {
  const [rows, columns] = found.size;
  const theme = store.theme.peek();
  if (shared) {
    signedHeat(canvas, found.pixels, rows, columns, shared, theme, false);
    return;
  }
  const rests = restsIn(store, site, found);
  heat(canvas, found.pixels, rows, columns, found.top, false, theme, (i) => rests[i] === 1);
}
