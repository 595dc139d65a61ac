// The one selection that all views share, and what is derived from it.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Active, activity, merged } from "../compute/active";
import { release } from "../compute/attention";
import type { Axis } from "../compute/axis";
import { type Lens, Lenses, type Look } from "../compute/lens";
import { hasWorth } from "../compute/worth";
import type { Tint } from "../data/report";
import { isHere, type Page, type Site } from "../data/wire";
import { type Judged, judgedOf } from "../data/worth";
import type { Theme } from "../marks/scales";
import type { Language } from "../words";
import type { Edges } from "./edges";
import { foldsOf, segmentOf } from "./folds";
import { type Hover, initial, NOTHING, type Place, type Selection } from "./selection";
import type { View } from "./view";

const USUAL = "heads"; // the view that is open where none is named
const POSITIONS = ["kind", "level", "folded"] as const; // choices with which positions become others

/** The form of the head view that is shown. */
export const formOf = ({ selection, narrow }: Store): "columns" | "sentence" => {
  const { form } = selection.value;
  return form !== "auto" ? form : narrow.value ? "sentence" : "columns";
};

/** The choices before this one, and those that were undone. */
export interface Past {
  undo: () => void;
  redo: () => void;
}

/** A rule, and the lift of each head for it, by kind, layer, part and head. */
export interface Followed {
  rule: string;
  lifts: ReadonlyMap<string, number>;
}

/** What only a page with a model behind it can do. */
export interface Powers {
  walks?: () => boolean; // whether a walk can be asked for
  switching?: (place: Place) => void;
  judges?: () => boolean; // whether what lines are worth can be asked for
  /** The site with its weights; `keep` puts them into the page. */
  fetch?: (site: Site, keep: boolean, signal?: AbortSignal) => Promise<Site>;
  /** Put small pictures of the heads of a site into the page. */
  picture?: (site: Site, signal: AbortSignal) => Promise<void>;
}

export class Store {
  readonly selection: Signal<Selection>;
  readonly narrow = signal(false); // whether the frame is as narrow as a phone
  readonly hover = signal<Hover>(NOTHING);
  readonly pointed = signal<{ site: Site; head: number } | null>(null); // the head under the pointer, in the atlas
  readonly neuron = signal<number | null>(null); // the neuron under the pointer
  readonly ordered = signal(true); // whether neurons are ordered by the size of q x k
  readonly order = signal("grid"); // what the atlas is sorted by
  readonly tint = signal<Tint>("pattern"); // what the atlas is coloured by
  readonly wanted = signal<string[]>([]); // names chosen in the atlas's legend; none means all
  readonly glanced = signal<string | null>(null); // the name under the pointer, in that legend
  readonly panel = signal(0); // how wide the inspector is where the atlas has its large map in it; 0: as usual
  readonly enlarged = signal(false); // whether the atlas shows one head large
  readonly off = signal<Place[]>([]); // heads that are switched off in the model
  readonly cut = signal<readonly Edges[]>([]); // looks that are cut in the model
  readonly changing = signal(false); // whether the atlas is to be coloured by what switching off changes
  readonly changes = signal<ReadonlyMap<string, number> | null>(null); // of each head; null until they are known
  readonly changesFailed = signal<string | null>(null); // why they are not
  readonly checking = signal(false); // whether lines are being cut to see how far estimates of their worth agree
  readonly followed = signal<Followed | null>(null); // how far heads follow a rule that somebody asks for
  readonly theme: Signal<Theme>;
  readonly language: Signal<Language>;
  past: Past | null = null; // where choices are kept; a page with an address keeps them there
  private asked = 0; // changes asked for: a fetch that comes too late changes nothing
  private readonly shown: Signal<{ page: Page; edition: number; lenses: Lenses }>;
  readonly site: ReadonlySignal<Site>;
  readonly heads: ReadonlySignal<number[]>;
  readonly look: ReadonlySignal<Look>;
  readonly plain: ReadonlySignal<Look>; // weights or contributions, nothing folded: what heads are named by
  readonly rows: ReadonlySignal<Axis>;
  readonly columns: ReadonlySignal<Axis>;
  readonly active: ReadonlySignal<Active>;

  constructor(
    page: Page,
    theme: Theme,
    language: Language,
    private readonly registry: readonly View[],
    readonly powers: Powers = {},
  ) {
    this.shown = signal({ page, edition: 0, lenses: new Lenses(page) });
    this.theme = signal(theme);
    this.language = signal(language);
    this.selection = signal(this.repaired({ ...initial(page) }));
    this.site = computed(() => this.find(this.selection.value)!);
    this.heads = computed(() => this.selection.value.heads);
    this.look = computed(() => {
      const { level, contributions, relative, worth, averaged, folded } = this.selection.value;
      const folds = this.view.folds ? foldsOf(this.page, folded, this.language.value) : undefined;
      const joined = folds && { folds, averaged };
      const look = {
        level,
        relative,
        contributions: contributions && this.site.value.norms !== null,
        ...joined,
      };
      const cut = worth && this.view.signed && hasWorth(this.site.value) && this.judged?.how;
      return cut ? { ...look, contributions: false, worth: cut } : look;
    });
    this.plain = computed(() => ({
      ...this.look.value,
      worth: undefined,
      folds: undefined,
      averaged: undefined,
    }));
    const axis = (side: string) => this.lenses.axis(side, this.look.value.level, this.look.value.folds);
    this.rows = computed(() => axis(this.site.value.query));
    this.columns = computed(() => axis(this.site.value.key));
    this.active = computed(() => {
      const { queries, keys } = this.selection.value;
      const { query, key } = this.hover.value;
      const lenses = this.seen.map((head) => this.lens(head));
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
    return this.registry.filter((view) => view.here?.(this) ?? true);
  }

  /** The view that is open. */
  get view(): View {
    const { view } = this.selection.value;
    return this.registry.find(({ id }) => id === view)!;
  }

  /** What lines are judged by; null where they are not. */
  get judged(): Judged | null {
    return judgedOf(this.page);
  }

  /** Whether the view that is open can show what lines are worth, at once or when the model was asked. */
  get judges(): boolean {
    return this.view.signed === true && (this.judged !== null || (this.powers.judges?.() ?? false));
  }

  /** Whether the atlas is coloured by what switching off changes: only while something is off. */
  get byChange(): boolean {
    return this.changing.value && this.off.value.length > 0;
  }

  /** What the cells of the atlas are shaded by, in place of their maps; null where they show these. */
  get shading(): "rule" | "change" | null {
    return this.followed.value ? "rule" : this.byChange ? "change" : null;
  }

  /** The view in which tokens are pinned. */
  get pinning(): string | undefined {
    return this.views.find(({ heads }) => heads === "some")?.id;
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
      this.pointed.value = this.stillPointed();
      this.hover.value = NOTHING;
      next = this.repaired({ ...before, ...(same ? {} : other) });
      this.selection.value = isHere(this.find(next)!) ? next : this.repaired({ ...next, ...opened });
    });
    if (this.selection.peek() !== next) this.set(next); // it comes when its layer is here
    release(old.sites);
  }

  /** The head under the pointer, where the page that is shown now has it too: the pointer has not moved. */
  private stillPointed(): { site: Site; head: number } | null {
    const pointed = this.pointed.peek();
    const site = pointed && this.find(pointed.site);
    return site?.heads.includes(pointed!.head) ? { site, head: pointed!.head } : null;
  }

  /** More is known of the page that is shown: what its heads do. */
  enrich(more: Partial<Page>): void {
    const { page, edition, lenses } = this.shown.peek();
    this.shown.value = { page: Object.assign(page, more), edition, lenses };
  }

  /** Change some of the selection; what does not exist is put right, what is not here yet is fetched first. */
  set(change: Partial<Selection>): void {
    const before = this.selection.peek();
    const next = this.repaired({ ...before, ...change }, before.view);
    const site = this.find(next)!;
    const number = ++this.asked;
    if (!isHere(site) && this.powers.fetch) {
      const again = () => {
        if (number === this.asked) this.set(change);
      };
      this.powers.fetch(site, true).then(again, () => {}); // whoever fetches tells what went wrong
      return;
    }
    const refolded = next.folded.length > 0 && next.view !== before.view; // not every view folds
    if (refolded || POSITIONS.some((name) => change[name] !== undefined)) this.hover.value = NOTHING;
    if (next.view !== before.view) this.pointed.value = null; // what was pointed at is gone, and says nothing of it
    this.selection.value = next;
  }

  layers(kind = this.selection.value.kind): number[] {
    const sites = this.page.sites.filter((site) => site.kind === kind && this.reaches(site));
    return [...new Set(sites.map((site) => site.layer))];
  }

  /** Whether a site can be looked at: the page of a long text has some layers, and of the others pictures. */
  reaches(site: Site): boolean {
    const served = this.powers.picture !== undefined;
    return isHere(site) || (this.powers.fetch !== undefined && (served || !site.bare));
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

  /** The chosen heads that the open view shows. */
  get seen(): number[] {
    return this.view.heads === "one" ? [this.lead] : this.selection.value.heads;
  }

  /** The head that views of one head show. */
  get lead(): number {
    return this.selection.value.heads[0] ?? this.site.value.heads[0];
  }

  private find({ kind, layer, part }: { kind: string; layer: number; part: number }): Site | undefined {
    return this.page.sites.find((site) => site.kind === kind && site.layer === layer && site.part === part);
  }

  /** A selection that names only what is there. */
  private repaired(next: Selection, current = USUAL): Selection {
    const views = this.views.map(({ id }) => id);
    if (!views.includes(next.view)) next.view = views.includes(current) ? current : USUAL;
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
    next.folded = next.folded.filter((id) => segmentOf(this.page, id) !== null);
    next.pairs = next.pairs.filter(([q, k]) => within(site.query)(q) && within(site.key)(k));
    return next;
  }
}

function nearest(numbers: number[], wanted: number): number {
  return numbers.reduce((best, n) => (Math.abs(n - wanted) < Math.abs(best - wanted) ? n : best));
}
