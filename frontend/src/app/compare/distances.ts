// How much each head of a page differs from the same head of another.

import { nameOf } from "../../data/report";
import { isHere, type Page } from "../../data/wire";
import { distance, fits } from "./difference";
import { lensOf } from "./sides";

/** The distance of every head of a kind that both have, by its name; none where their sizes differ, or a layer is not here. */
export function* distances(page: Page, other: Page, kind: string): Generator<void, Map<string, number>> {
  const found = new Map<string, number>();
  for (const site of page.sites) {
    const twin = other.sites.find(
      (one) => one.kind === kind && one.layer === site.layer && one.part === site.part,
    );
    if (site.kind !== kind || !twin || !isHere(site) || !isHere(twin)) continue;
    for (const head of site.heads.filter((one) => twin.heads.includes(one))) {
      const [a, b] = [lensOf(page, site, head), lensOf(other, twin, head)];
      if (!fits(a, b)) return new Map();
      found.set(nameOf({ site, head }), yield* distance(a, b));
    }
  }
  return found;
}
