// The two heads of a comparison.

import { type Lens, Lenses, type Look } from "../../compute/lens";
import type { Page, Site } from "../../data/wire";

export const LOOK: Look = { level: "tokens", contributions: false, relative: false };

/** The two heads that are looked at. */
export interface Heads {
  a: Lens;
  b: Lens;
}

/** A head as everywhere: `1.8`. */
export const headName = ({ site, index }: Lens): string => `${site.layer}.${site.heads[index]}`;

/** The site of a head in a page; where B has no such layer, its nearest. */
export function siteIn(page: Page, kind: string, layer: number): Site | undefined {
  const sites = page.sites.filter((site) => site.kind === kind);
  return sites.reduce<Site | undefined>(
    (best, site) => (!best || Math.abs(site.layer - layer) < Math.abs(best.layer - layer) ? site : best),
    undefined,
  );
}

const lenses = new WeakMap<Page, Lenses>();

/** The lenses of the page that something is compared with. */
function lensesOf(page: Page): Lenses {
  const known = lenses.get(page) ?? new Lenses(page);
  lenses.set(page, known);
  return known;
}

export const lensOf = (page: Page, site: Site, head: number): Lens =>
  lensesOf(page).of(site, Math.max(0, site.heads.indexOf(head)), LOOK);
