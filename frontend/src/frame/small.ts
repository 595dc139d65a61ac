// The small map of a head: coloured where it looks, up to its strongest look; grey where it rests.

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
  heat(canvas, found.pixels, rows, columns, awakeTop(found, rests), false, theme, (i) => rests[i] === 1);
}

const LEAST = 0.12; // of a token's attention: below it a look is not worth the strongest colour

const EVEN = 4; // times an even share: a head that looks everywhere alike stays pale
const HALF = 0.5; // of a token's attention, which is strong however few tokens there are

/** The strongest look of a map that does not rest, which has the strongest colour: beside a sink it would be pale. */
export function awakeTop({ pixels, top, size, pool }: Digest, rests: ArrayLike<number>): number {
  const most = pixels.reduce((most, value, i) => (rests[i] === 1 ? most : Math.max(most, value)), 0);
  const even = Math.min(HALF, EVEN / (size[1] * pool));
  return most > 0 ? Math.max(most, Math.min(top, LEAST), even) : top;
}
