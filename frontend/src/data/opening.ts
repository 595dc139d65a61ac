// A page that is shown before all of it is here. Enters: an arriving payload. Leaves: a Page whose first layer can be
// looked at, and the others as they come.

import type { Arriving } from "./pieces";
import { decode, extents, headerOf, isHere, type Page, type Site } from "./wire";

export interface Opened {
  page: Page;
  /** A site, once its arrays are here. */
  fetch: (site: Site) => Promise<Site>;
  /** Read all of it: whether any had to be waited for. */
  whole: () => Promise<boolean>;
}

/** Open a page as soon as what it opens with is here. */
export async function opening(arriving: Arriving): Promise<Opened> {
  await arriving.until(8);
  const length = Number(new DataView(arriving.bytes.buffer).getBigUint64(0, true));
  await arriving.until(Math.min(8 + length, arriving.bytes.length));
  const header = headerOf(arriving.bytes); // it may be long: read once
  const { first, ends } = extents(arriving.bytes, header);
  await arriving.until(ends[first]);
  const page = decode(arriving.bytes, arriving.here, header);
  const late = !page.sites.every(isHere);
  const fill = () => {
    if (page.sites.every(isHere)) return;
    const now = decode(arriving.bytes, arriving.here, header).sites;
    page.sites.forEach((site, i) => {
      if (!isHere(site)) Object.assign(site, now[i]);
    });
  };
  return {
    page,
    async fetch(site) {
      await arriving.until(ends[page.sites.indexOf(site)]);
      fill();
      return site;
    },
    async whole() {
      await arriving.until();
      fill();
      return late;
    },
  };
}
