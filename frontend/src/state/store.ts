// The one selection that all views share, what is derived from it, and its form in the page's address.

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Active, activity, merged } from "../compute/active";
import { release } from "../compute/attention";
import type { Axis, Level } from "../compute/axis";
import { type Carry, type Lens, Lenses, type Look } from "../compute/lens";
import type { Tint } from "../data/report";
import { isHere, type Page, type Site } from "../data/wire";
import type { Theme } from "../marks/scales";
import type { Language } from "../words/page";

export const VIEWS = ["atlas", "heads", "matrix", "neurons", "walk", "compare", "studies"] as const;
export type View = (typeof VIEWS)[number];

export interface Selection {
  view: View;
  kind: string;
  layer: number;
  part: number;
  heads: number[]; // numbers, as in the model
  queries: number[]; // pinned token positions
  keys: number[];
  pairs: [number, number][]; // pinned query-key pairs
  carry: Carry;
  relative: boolean;
  level: Level;
  special: boolean; // whether special tokens are shown
  threshold: number;
  from: number | null; // segment of the queries shown
  to: number | null; // segment of the keys shown
  log: boolean;
  step: number; // of the walk
}

export interface Hover {
  query: number | null; // display positions
  key: number | null;
}

export const NOTHING: Hover = { query: null, key: null };

/** A head by its place in the model. */
export interface Place {
  kind: string;
  layer: number;
  head: number;
}

export const samePlace = (a: Place, b: Place): boolean =>
  a.kind === b.kind && a.layer === b.layer && a.head === b.head;

const OWN = ["atlas", "heads", "matrix", "neurons", "walk"] as const; // views of a page alone

/** What only a page with a model behind it can do. */
export interface Powers {
  views?: readonly View[];
  walks?: () => boolean; // whether a walk can be asked for
  switching?: (place: Place) => void;
  /** The site with its weights; `keep` puts them into the page. */
  fetch?: (site: Site, keep: boolean, signal?: AbortSignal) => Promise<Site>;
}

export class Store {
  readonly selection: Signal<Selection>;
  readonly hover = signal<Hover>(NOTHING);
  readonly pointed = signal<{ site: Site; head: number } | null>(null); // the head under the pointer, in the atlas
  readonly neuron = signal<number | null>(null); // the neuron under the pointer
  readonly ordered = signal(false); // whether neurons are ordered by contribution
  readonly order = signal("grid"); // what the atlas is sorted by
  readonly tint = signal<Tint>("pattern"); // what the atlas is coloured by
  readonly wanted = signal<string[]>([]); // names chosen in the atlas's legend; none means all
  readonly enlarged = signal(false); // whether the atlas shows one head large
  readonly off = signal<Place[]>([]); // heads that are switched off in the model
  readonly theme: Signal<Theme>;
  readonly language: Signal<Language>;
  private asked = 0; // changes asked for: a fetch that comes too late changes nothing
  private readonly shown: Signal<{ page: Page; edition: number; lenses: Lenses }>;
  readonly site: ReadonlySignal<Site>;
  readonly heads: ReadonlySignal<number[]>;
  readonly look: ReadonlySignal<Look>;
  readonly rows: ReadonlySignal<Axis>;
  readonly columns: ReadonlySignal<Axis>;
  readonly active: ReadonlySignal<Active>;

  constructor(
    page: Page,
    theme: Theme,
    language: Language,
    readonly powers: Powers = {},
  ) {
    this.shown = signal({ page, edition: 0, lenses: new Lenses(page) });
    this.theme = signal(theme);
    this.language = signal(language);
    this.selection = signal(this.repaired({ ...initial(page) }));
    this.site = computed(() => this.find(this.selection.value)!);
    this.heads = computed(() => this.selection.value.heads);
    this.look = computed(() => {
      const { level, carry, relative } = this.selection.value;
      return { level, carry: this.site.value.norms ? carry : "weights", relative };
    });
    this.rows = computed(() => this.lenses.axis(this.site.value.query, this.look.value.level));
    this.columns = computed(() => this.lenses.axis(this.site.value.key, this.look.value.level));
    this.active = computed(() => {
      const { heads, queries, keys } = this.selection.value;
      const { query, key } = this.hover.value;
      const lenses = heads.map((head) => this.lens(head));
      return activity(lenses, merged(this.rows.value, queries, query), merged(this.columns.value, keys, key));
    });
  }

  get page(): Page {
    return this.shown.value.page;
  }

  /** Counts up when another page takes the place of this one. */
  get edition(): number {
    return this.shown.value.edition;
  }

  get lenses(): Lenses {
    return this.shown.value.lenses;
  }

  get kinds(): string[] {
    return [...new Set(this.page.sites.map((site) => site.kind))];
  }

  /** The views there are. */
  get views(): View[] {
    const walks = this.page.walk !== null || (this.powers.walks?.() ?? false);
    const here = (view: View) => view !== "walk" || walks;
    return [...OWN.filter(here), ...(this.powers.views ?? [])];
  }

  /** Show another page. What is chosen stays where it can: other words in the same model move no layer and no head. */
  replace(page: Page): void {
    const { page: old, edition } = this.shown.peek();
    const before = this.selection.peek();
    const { kind, layer, part, heads } = page.selection;
    const opened = { kind, layer, part, heads: heads.slice() };
    const same = old.facts.model === page.facts.model;
    const other = { ...opened, queries: [], keys: [], pairs: [], from: null, to: null };
    this.asked++;
    let next = before;
    batch(() => {
      this.shown.value = { page, edition: edition + 1, lenses: new Lenses(page) };
      this.pointed.value = null;
      this.hover.value = NOTHING;
      next = this.repaired({ ...before, ...(same ? {} : other) });
      this.selection.value = isHere(this.find(next)!) ? next : this.repaired({ ...next, ...opened });
    });
    if (this.selection.peek() !== next) this.set(next); // it comes when its layer is here
    release(old.sites);
  }

  /** More is known of the page that is shown: what its heads do. */
  enrich(more: Partial<Page>): void {
    const { page, edition, lenses } = this.shown.peek();
    this.shown.value = { page: Object.assign(page, more), edition, lenses };
  }

  /** Change some of the selection; what does not exist is put right, what is not here yet is fetched first. */
  set(change: Partial<Selection>): void {
    const next = this.repaired({ ...this.selection.peek(), ...change });
    const site = this.find(next)!;
    const number = ++this.asked;
    if (!isHere(site) && this.powers.fetch) {
      const again = () => {
        if (number === this.asked) this.set(change);
      };
      this.powers.fetch(site, true).then(again, () => {}); // whoever fetches tells what went wrong
      return;
    }
    if (change.kind !== undefined || change.level !== undefined) this.hover.value = NOTHING;
    this.selection.value = next;
  }

  layers(kind = this.selection.value.kind): number[] {
    return [...new Set(this.page.sites.filter((site) => site.kind === kind).map((site) => site.layer))];
  }

  parts(): number[] {
    const { kind, layer } = this.selection.value;
    return this.page.sites
      .filter((site) => site.kind === kind && site.layer === layer)
      .map((site) => site.part);
  }

  lens(head: number, site = this.site.value): Lens {
    return this.lenses.of(site, site.heads.indexOf(head), this.look.value);
  }

  /** The head under the pointer, or else the one that views of one head show. */
  get place(): Place {
    const pointed = this.pointed.value;
    const { kind, layer } = pointed?.site ?? this.site.value;
    return { kind, layer, head: pointed?.head ?? this.lead };
  }

  /** The head that views of one head show. */
  get lead(): number {
    return this.selection.value.heads[0] ?? this.site.value.heads[0];
  }

  private find({ kind, layer, part }: { kind: string; layer: number; part: number }): Site | undefined {
    return this.page.sites.find((site) => site.kind === kind && site.layer === layer && site.part === part);
  }

  /** A selection that names only what is there. */
  private repaired(next: Selection): Selection {
    if (!this.views.includes(next.view)) next.view = "heads";
    if (!this.kinds.includes(next.kind)) next.kind = this.kinds[0];
    const layers = this.layers(next.kind);
    if (!layers.includes(next.layer)) next.layer = nearest(layers, next.layer);
    if (!this.find(next))
      next.part = this.page.sites.find((s) => s.kind === next.kind && s.layer === next.layer)!.part;
    const site = this.find(next)!;
    const known = next.heads.filter((head) => site.heads.includes(head));
    next.heads = next.heads.length && !known.length ? [site.heads[0]] : known;
    const within = (side: string) => (p: number) => p >= 0 && p < this.page.sides.get(side)!.text.length;
    next.queries = next.queries.filter(within(site.query));
    next.keys = next.keys.filter(within(site.key));
    next.pairs = next.pairs.filter(([q, k]) => within(site.query)(q) && within(site.key)(k));
    return next;
  }
}

function nearest(numbers: number[], wanted: number): number {
  return numbers.reduce((best, n) => (Math.abs(n - wanted) < Math.abs(best - wanted) ? n : best));
}

function initial(page: Page): Selection {
  const { view, kind, layer, part, heads } = page.selection;
  return {
    view: VIEWS.includes(view as View) ? (view as View) : "heads",
    kind,
    layer,
    part,
    heads: heads.slice(),
    queries: [],
    keys: [],
    pairs: [],
    carry: "weights",
    relative: false,
    level: "tokens",
    special: true,
    threshold: 0,
    from: null,
    to: null,
    log: false,
    step: 0,
  };
}

const numbers = (text: string | null): number[] =>
  text ? text.split(",").map(Number).filter(Number.isInteger) : [];

/** The selection as the part of an address after #. */
export function toHash(s: Selection): string {
  const parts = new URLSearchParams({
    view: s.view,
    kind: s.kind,
    layer: String(s.layer),
    heads: s.heads.join(","),
  });
  if (s.part) parts.set("part", String(s.part));
  if (s.queries.length) parts.set("queries", s.queries.join(","));
  if (s.keys.length) parts.set("keys", s.keys.join(","));
  if (s.pairs.length) parts.set("pairs", s.pairs.flat().join(","));
  if (s.carry !== "weights") parts.set("carry", s.relative ? "shares" : s.carry);
  if (s.level !== "tokens") parts.set("level", s.level);
  if (!s.special) parts.set("special", "0");
  if (s.threshold) parts.set("threshold", String(s.threshold));
  if (s.from !== null && s.to !== null) parts.set("segments", `${s.from},${s.to}`);
  if (s.log) parts.set("log", "1");
  if (s.step) parts.set("step", String(s.step));
  return parts.toString().replace(/%2C/g, ",");
}

/** What an address says of the selection; anything unreadable is left out. */
export function fromHash(hash: string): Partial<Selection> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  if (!parts.has("view") && !parts.has("layer")) return {};
  const segments = numbers(parts.get("segments"));
  const pairs = numbers(parts.get("pairs"));
  const carry = parts.get("carry");
  const change: Partial<Selection> = {
    part: Number(parts.get("part") ?? 0),
    queries: numbers(parts.get("queries")),
    keys: numbers(parts.get("keys")),
    pairs: pairs.flatMap((q, i) => (i % 2 ? [] : [[q, pairs[i + 1] ?? -1] as [number, number]])),
    carry: carry ? "contributions" : "weights",
    relative: carry === "shares",
    level: parts.get("level") === "words" ? "words" : "tokens",
    special: parts.get("special") !== "0",
    threshold: Math.max(0, Number(parts.get("threshold") ?? 0)) || 0,
    from: segments.length === 2 ? segments[0] : null,
    to: segments.length === 2 ? segments[1] : null,
    log: parts.get("log") === "1",
    step: Math.max(0, Math.trunc(Number(parts.get("step") ?? 0))) || 0,
  };
  const view = parts.get("view") as View;
  if (VIEWS.includes(view)) change.view = view;
  if (parts.get("kind")) change.kind = parts.get("kind")!;
  if (parts.has("layer") && Number.isInteger(Number(parts.get("layer"))))
    change.layer = Number(parts.get("layer"));
  if (parts.has("heads")) change.heads = numbers(parts.get("heads"));
  return change;
}

/** Keep the address and the selection the same. */
export function syncAddress(store: Store, signal: AbortSignal): void {
  if (location.protocol === "about:") return; // a page inside another one (a study's report) has no address of its own
  store.set(fromHash(location.hash));
  const stop = effect(() => {
    const hash = `#${toHash(store.selection.value)}`;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  });
  signal.addEventListener("abort", stop);
  window.addEventListener("hashchange", () => store.set(fromHash(location.hash)), { signal });
}
