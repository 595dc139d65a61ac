// The weights of a long trace, layer by layer: a few stay in memory, the others are fetched when somebody looks.

import { release } from "../compute/attention";
import { decode, type Page, type Site } from "../data/wire";
import * as api from "./api";

/** A trace of the server, as a page. */
export interface Shown {
  id: string;
  model: string; // as the server calls it
  page: Page;
  text?: string; // what was asked, for a reader
  predictive?: boolean; // whether the model was asked which words predict which
}

const HELD = 3;
const WEIGHTS = ["q", "k", "maps", "lse", "norms", "dots", "bias", "sink", "v", "g", "go"] as const;

export class Layers {
  private readonly held: Site[] = []; // the one fetched last comes last

  /** A site with its weights; `keep` puts them into the page, where `chosen` is what is looked at. */
  async weights(
    { id }: Shown,
    site: Site,
    keep: { chosen: Site | null } | null,
    signal?: AbortSignal,
  ): Promise<Site> {
    const bytes = await api.layer(id, site.kind, site.layer, signal);
    const found = decode(bytes).sites.find((one) => one.part === site.part)!;
    if (!keep) return found;
    Object.assign(site, Object.fromEntries(WEIGHTS.map((name) => [name, found[name]])));
    this.held.push(site);
    while (this.held.length > HELD) {
      const at = this.held.findIndex((one) => one !== keep.chosen && one !== site);
      const [gone] = this.held.splice(Math.max(0, at), 1);
      release([gone]);
      Object.assign(gone, { q: null, k: null, maps: null, lse: null, v: null, g: null, go: null });
    }
    return site;
  }

  /** Put small pictures of the heads of a site into the page. */
  async picture({ id }: Shown, site: Site, signal: AbortSignal): Promise<void> {
    const bytes = await api.pictures(id, site.kind, site.layer, signal);
    const { blocks, block } = decode(bytes).sites.find((one) => one.part === site.part)!;
    Object.assign(site, { blocks, block });
  }

  /** Another trace is shown. */
  clear(): void {
    this.held.length = 0;
  }
}

/** What the report adds to a page: its sites learn what their heads do. */
export function merged(page: Page, report: Page): Partial<Page> {
  page.sites.forEach((site, i) => {
    const { patterns, rest, arriving, types, measures, missing } = report.sites[i];
    Object.assign(site, { patterns, rest, arriving, types, measures, missing });
  });
  return { types: report.types, cautions: report.cautions };
}
