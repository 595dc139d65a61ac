// One reader at work: what was asked, what came, and what went wrong. Everything the app shows hangs on this.
// Long on purpose: what is asked, what comes and what is shown change together.

import { computed, effect, type Signal, signal } from "@preact/signals";
import { decode, type Page, type Site } from "../data/wire";
import type { Theme } from "../marks/scales";
import { fromHash, toHash } from "../state/address";
import { type Edges, type Look, sameEdges } from "../state/edges";
import { Trail } from "../state/history";
import { type Place, type Selection, samePlace } from "../state/selection";
import { Store } from "../state/store";
import type { View } from "../state/view";
import type { Language } from "../words";
import {
  type Ask,
  asked,
  fromAddress,
  modelIn,
  NOT_JUDGED,
  NOTHING_ASKED,
  type Other,
  placeName,
  toAddress,
} from "./address";
import * as api from "./api";
import { ApiError } from "./api";
import { Changes } from "./changes";
import { Chat } from "./chat/chat";
import { Comparison } from "./compare/comparison";
import { Cuts } from "./cut/cut";
import { EvidenceAnswers } from "./evidence/evidence";
import { hides, Judge, judgingOf } from "./judge";
import { Latest, pause } from "./latest";
import { Layers, merged, type Shown } from "./layers";
import { LensAnswers } from "./lens/lens";
import { judgedAt, spokenAt } from "./places";
import type { Judging, ModelRecord, Open } from "./records";
import { Rules } from "./rules";
import { Says } from "./says";
import { patiently, Server, type Trouble, troubleOf } from "./server";
import { Portraits } from "./studies/portraits";
import { Reasons } from "./why/why";
import { Worth } from "./worth";

const TYPING = 120; // milliseconds without a key before the model is asked
const TYPING_LONG = 700; // the same for texts that take seconds
const LONG = 4000; // letters
const REPORT = 220; // milliseconds a picture waits for what its heads do, so that both come at once
const TEXTS = ["model", "text", "pair", "target", "chat", "truncate"] as const;
const WRITING = 60; // milliseconds after which the address follows

export class Session {
  readonly server = new Server();
  readonly worth = new Worth(this.server);
  readonly says = new Says(this.server);
  readonly lens = new LensAnswers(this.server);
  readonly evidence = new EvidenceAnswers(this.server);
  readonly comparison = new Comparison(this.server);
  readonly portraits = new Portraits();
  readonly judge = new Judge();
  readonly why = new Reasons(this.server);
  readonly cuts = new Cuts(this.server);
  readonly rules = new Rules();
  readonly chat = new Chat(this);
  private readonly changes = new Changes(this.server);
  readonly ask: Signal<Ask>;
  readonly store: Signal<Store | null> = signal(null);
  readonly shown: Signal<Shown | null> = signal(null);
  readonly saved: Signal<string | null> = signal(null); // the text of the saved example, while nothing else is there
  readonly trouble: Signal<Trouble | null> = signal(null);
  readonly medium: Signal<File | null> = signal(null); // a picture or a sound; the server keeps none, so no address has it
  readonly example: Signal<string | null> = signal(null); // the one whose hint is shown
  private readonly main = new Latest();
  private readonly layers = new Layers();
  private untouched: Selection | null = null; // as the page set it while an answer is awaited
  private begun: Partial<Selection>; // what is to be chosen when the next page comes
  private telling: boolean; // whether the report may choose the head
  private suggested: string | null = null; // the head that the page chose by itself
  private filed = false; // whether the next page is the first of a file
  private last = ""; // what was asked last
  private missed: Trouble | null = null; // why an address was not opened: said beside what is shown instead
  private writing = 0;
  private returning = false; // an address is being gone back to: the page must not write over it
  private readonly trail = new Trail();

  constructor(
    readonly theme: Signal<Theme>,
    readonly language: Signal<Language>,
    private readonly views: readonly View[],
  ) {
    this.begun = fromHash(location.hash);
    this.telling = this.begun.layer === undefined;
    this.ask = signal(fromAddress(location.hash) ?? { ...NOTHING_ASKED, model: modelIn(location.hash) });
  }

  async start(): Promise<void> {
    this.showSaved();
    const { examples, default: standard } = await this.server.connect((trouble) => {
      this.trouble.value = trouble;
    });
    this.portraits.look();
    await this.openAnswer();
    const typed = this.ask.peek().text !== "";
    const named = this.ask.peek().model ?? standard ?? examples[0].model; // an address may name a model and no text
    const shown = typed || this.showFirst(named);
    effect(() => this.follow());
    effect(() => this.worth.follow(this.textual));
    effect(() => this.why.follow(this.textual));
    effect(() => {
      this.server.state.value; // what the model is, once it is there
      if (this.saved.value !== null || !this.store.value) return;
      const spoken = spokenAt(this.store.value, this.writes);
      this.says.follow(this.ask.value, spoken, this.medium.value);
      this.lens.follow(this.textual, spoken);
      this.evidence.follow(this.textual);
      // Where a cut is judged depends on what the model says: asked before that is known, it would be asked twice.
      if (this.says.found.value || !this.says.awaited.value) this.cuts.follow(this.textual, this.judged());
    });
    effect(() => {
      if (this.view === "compare" && !this.medium.value)
        this.comparison.follow(this.ask.value, this.open(this.ask.value));
    });
    effect(() => this.write());
    window.addEventListener("hashchange", () => this.read());
    if (!shown) await this.openSuited(named!);
  }

  /** The first example of a model, if it has one. */
  private showFirst(model: string | null): boolean {
    const first = this.server.state.peek()?.examples.find((one) => one.model === model);
    if (!first) return false;
    this.show(first.id, this.addressed);
    this.example.value = null; // the story says what to look for
    return true;
  }

  /** An answer that a program was given, by the link that came with it. */
  private async openAnswer(): Promise<void> {
    const id = new URLSearchParams(location.hash.replace(/^#/, "")).get("answer");
    if (!id) return;
    try {
      const { model, text, messages, target: ids, answer } = await api.givenAnswer(id);
      this.telling = true;
      this.ask.value = { ...NOTHING_ASKED, model, ...asked({ messages, ids, answer }, text) };
      this.begun = { view: "heads", ...this.begun };
    } catch (error) {
      this.missed = troubleOf(error);
    }
  }

  /** The view that an address without a text names. */
  private get addressed(): Partial<Selection> {
    const { view } = this.begun;
    return view === undefined ? {} : { view };
  }

  /** Something to look at before the server has loaded anything. */
  private async showSaved(): Promise<void> {
    try {
      const page = decode(await api.example());
      if (this.store.peek()) return; // the model was sooner
      const { view } = page.selection;
      this.saved.value = String(page.facts.text ?? "");
      this.store.value = this.opened(page, { view, ...this.begun });
      this.untouched = this.store.peek()!.selection.peek();
    } catch {
      // a package without it: there is a sentence instead
    }
  }

  /** The text that the picture is of, where it is not the one that was asked for; null where it is. */
  readonly stale = computed<string | null>(() => {
    const { text, pair } = this.ask.value;
    const shown = this.shown.value?.text;
    if (this.medium.value) return null;
    if (shown === undefined || shown === [text, pair].filter(Boolean).join(" · ")) return null;
    if (!text.trim() && !this.ask.value.chat) return shown;
    return this.main.working.value || this.trouble.value ? shown : null;
  });

  /** A sentence for a model that has no example of its own, once it is known what kind of model it is. */
  private async openSuited(name: string): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble;
    };
    try {
      await this.server.ready(name, new AbortController().signal, tell);
    } catch (error) {
      tell(troubleOf(error));
      return;
    }
    const about = this.server.record(name)?.about;
    if (about?.text === false) return; // it waits for a file
    const family = about?.family;
    const suited = this.server.state.peek()?.examples.find((one) => family && one.family === family);
    if (suited && !this.ask.peek().text) this.show(suited.id, this.addressed);
  }

  /** The record of the model in use; null until the server has told. */
  readonly model = computed<ModelRecord | null>(() => this.server.record(this.server.nameOf(this.ask.value)));

  get working(): Signal<boolean> {
    return this.main.working;
  }

  /** What is asked about a text; nothing beside a picture or a sound, which these questions do not reach. */
  private get textual(): Ask {
    return this.medium.value ? NOTHING_ASKED : this.ask.value;
  }

  /** Whether there is nothing to look at: neither text nor file. */
  get isEmpty(): boolean {
    return !this.medium.value && !this.ask.value.text.trim();
  }

  /** Look at a picture or a sound, or at none any more. */
  lookAt(file: File | null): void {
    if (this.store.peek()) this.begun = {}; // else an address may say what to look at in it
    this.telling = this.begun.layer === undefined;
    this.filed = file !== null;
    this.medium.value = file;
  }

  /** Change what is asked; looks, and what lines are judged by, belong to one text of one model. */
  change(change: Partial<Ask>): void {
    const before = this.ask.peek();
    const typed = ["text", "pair", "target"].some((name) => name in change) && !("chat" in change);
    const ask = { ...before, ...change, ...(typed && { chat: "" }) }; // another text is no conversation
    const same = TEXTS.every((name) => ask[name] === before[name]);
    const continued = same && ask.generate === before.generate; // the answer is a part of the text
    this.ask.value = {
      ...ask,
      ...(!continued && { why: [], cut: [], judged: change.judged ?? NOT_JUDGED }),
    };
  }

  changeOther(change: Partial<Other>): void {
    this.change({ other: { ...this.ask.peek().other, ...change } });
  }

  /** Another model; what was switched off and how, and which head was compared, belonged to the last one. */
  choose(model: string): void {
    const { other } = this.ask.peek();
    this.telling = true;
    this.change({
      model,
      off: [],
      mode: NOTHING_ASKED.mode,
      truncate: false,
      other: { ...other, layer: null, head: null },
    });
  }

  /** Load a model by name or folder, and use it. */
  async load(name: string): Promise<void> {
    const busy: (trouble: Trouble | null) => void = (trouble) => {
      this.trouble.value = trouble;
    };
    this.choose(await this.server.ready(name, new AbortController().signal, busy));
  }

  /** An example: its sentences, its model, and the head it is about; in the view that is kept, or its own. */
  show(id: string, kept: Partial<Selection> = {}): void {
    const one = this.server.state.peek()?.examples.find((example) => example.id === id);
    if (!one) return;
    const { text, pair, target, open } = one;
    const { other, model: current } = this.ask.peek();
    const model = one.model ?? current;
    this.example.value = id;
    this.telling = open.layer == null;
    this.begun = { ...selectionOf(open), ...kept };
    const { kind = "", layer = 0, heads = [] } = this.begun;
    this.suggested = heads.length ? placeName({ kind, layer, head: heads[0] }) : null;
    if (this.shown.peek()?.model === this.server.nameOf({ model })) this.store.peek()?.set(this.begun);
    this.ask.value = {
      ...NOTHING_ASKED,
      model,
      text,
      pair: pair ?? "",
      target: target ?? "",
      other: { ...other, layer: null, head: null },
    };
  }

  /** A head that a study's page names, in a view of the text that is here; of the study's model, if it is offered. */
  openHead(model: string | null, address: string): void {
    const wanted = fromHash(`#${address}`);
    const here = this.store.peek()?.page.facts.model === model;
    if (!here && model !== null && this.server.record(model) !== null) {
      this.choose(model);
      this.telling = false;
      this.begun = wanted;
      this.untouched = this.store.peek()?.selection.peek() ?? null;
    }
    this.store.peek()?.set(wanted);
  }

  /** Show a head where the one that is shown is nobody's choice: neither a reader's nor an address's. */
  suggest(place: Place): void {
    const store = this.store.peek()!;
    if (shownBy(store) !== this.suggested) return;
    this.suggested = placeName(place);
    this.byItself(() => store.set({ layer: place.layer, part: 0, heads: [place.head] }));
  }

  /** Switch a head off, or on again. */
  switching = (place: Place): void => {
    const { off } = this.ask.peek();
    const rest = off.filter((one) => !samePlace(one, place));
    this.change({ off: rest.length < off.length ? rest : [...off, place] });
  };

  /** Cut looks, or restore them. */
  cutting(edges: Edges): void {
    const { cut } = this.ask.peek();
    const rest = cut.filter((one) => !sameEdges(one, edges));
    this.change({ cut: rest.length < cut.length ? rest : [...cut, edges] });
  }

  /** Ask once more what the cut changes. */
  cutAgain(): void {
    this.cuts.again(this.ask.peek(), this.judged());
  }

  /** The token at which a cut is judged. */
  private judged(): number | null {
    return judgedAt(this.ask.value, this.store.value, this.says.found.value?.about, this.writes);
  }

  /** Whether the model in use writes with a decoder. */
  private get writes(): boolean {
    return this.model.value?.about?.target ?? false;
  }

  /** Ask why a head looks there; a look that led to one that was asked about goes on from it. */
  askWhy(look: Look): void {
    const { kind, layer, head, query, key } = look;
    this.change({ why: this.why.after({ kind, layer, head, query, key }) });
  }

  /** Show a head in a view, its look pinned. */
  openLook({ kind, layer, head, query, key }: Look): void {
    const store = this.store.peek()!;
    const { heads, wide } = store.view;
    const view = heads === "all" || wide ? { view: store.pinning } : {};
    store.set({ kind, layer, heads: [head], queries: [query], keys: [key], ...view });
  }

  /** Ask which words predict which, of the text that is shown; the next one is asked without. */
  predict(): void {
    this.run(this.ask.peek(), null, 0, true);
  }

  /** Ask once more, as it is. */
  again(): void {
    this.last = "";
    this.follow();
  }

  /** The view, before and after there is something to see. */
  private get view(): string {
    const chosen = this.store.value?.selection.value.view;
    return (this.saved.value === null ? chosen : this.begun.view) ?? chosen ?? "atlas";
  }

  /** What lines are to be judged by; null where nobody wants to know, or a word must be chosen first. */
  readonly judges = computed<Judging | null>(() => {
    const chosen = this.saved.value === null ? this.store.value?.selection.value : undefined;
    if (!(chosen ?? this.begun).worth || this.view === "walk") return null;
    const { queries = [], keys = [] } = chosen ?? {};
    return judgingOf(this.ask.value, this.model.value?.about, queries.at(-1) ?? keys.at(-1) ?? null);
  });

  /** Whenever what is asked changes, ask the model. */
  private follow(): void {
    const ask = this.ask.value;
    const { model, text, pair, target, chat, generate, truncate, off, mode } = ask;
    const walking = this.view === "walk" && (this.model.value?.about?.walk ?? true);
    const layer = walking ? (this.store.value?.selection.value.layer ?? this.begun.layer ?? 0) : null;
    const texts = JSON.stringify([text, pair, target, chat]);
    const judges = this.judges.value;
    const file = this.medium.value;
    const sent = file && [file.name, file.size, file.lastModified];
    const key = JSON.stringify([
      texts,
      sent,
      this.model.value?.about?.text,
      model,
      generate,
      truncate,
      off,
      mode,
      layer,
      judges,
    ]);
    if (key === this.last) return;
    // Lines that were judged can be looked at by weight, too; but a word that was hidden for it comes back.
    const before = this.last ? JSON.stringify([...JSON.parse(this.last).slice(0, -1), null]) : "";
    if (key === before && !hides(this.model.value?.about)) return;
    const typed = this.last !== "" && JSON.parse(this.last)[0] !== texts;
    this.last = key;
    const reads = this.model.value?.about?.text !== false;
    if (file || (reads && text.trim()))
      this.run(ask, layer, typed ? (texts.length > LONG ? TYPING_LONG : TYPING) : 0);
    else {
      this.main.stop();
      this.trouble.value = null;
      this.returning = false;
      if (!reads) this.store.value = this.saved.value = this.shown.value = this.untouched = null; // no text is on its way
    }
  }

  private async run(ask: Ask, walked: number | null, delay: number, predictive = false): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble;
    };
    const worth = walked === null ? this.judges.peek() : null;
    this.judge.stop();
    if (worth) this.judge.begin(this.store.peek());
    try {
      await this.main.ask(async (signal) => {
        const model = await this.server.ready(this.server.nameOf(ask), signal, tell);
        const asked = this.server.question(ask);
        const reads = this.server.record(model)?.about?.text !== false;
        const question = reads ? asked : { ...asked, text: "" };
        const ablate = ask.off.length ? { heads: ask.off, mode: ask.mode } : null;
        const more = { generate: ask.generate || null, ablate, predictive, worth, open: this.open(ask) };
        const file = this.medium.peek();
        if (!reads && !file) return; // a model that waits for a file
        const job = () =>
          file
            ? api.traceMedium(file, { ...question, ...more, worth: null }, "a", signal)
            : walked === null
              ? api.trace({ ...question, ...more }, "a", signal)
              : api.walk(question, more.generate, walked, signal);
        const answer = await patiently(job, signal, tell);
        signal.throwIfAborted();
        tell(this.missed);
        this.missed = null;
        const text = [ask.text, ask.pair].filter(Boolean).join(" · ");
        await this.put(answer, { model, text, predictive }, signal);
        if (worth) this.judge.check(this.store.peek()!, answer.id, { ...question, ...more });
      }, delay);
    } catch (error) {
      this.returning = false;
      if (worth && error instanceof ApiError && error.code !== "superseded") this.unjudged(troubleOf(error));
      else if (!(error instanceof ApiError && error.code === "superseded")) tell(troubleOf(error));
    }
  }

  /** Lines cannot be judged: the picture goes on without, and says why. */
  private unjudged(trouble: Trouble): void {
    this.judge.trouble.value = trouble;
    this.begun = { ...this.begun, worth: false };
    this.byItself(() => this.store.peek()?.set({ worth: false }));
    this.again();
  }

  /** The layer that is looked at, where the next page has it too. */
  private open(ask: Ask): Open {
    // What is chosen in the saved example says nothing about another model.
    const chosen = this.saved.peek() === null ? this.store.peek()?.selection.peek() : undefined;
    const { kind, layer } = chosen ?? this.begun;
    const shown = this.shown.peek();
    const known = !shown || shown.model === this.server.nameOf(ask);
    return known && kind !== undefined ? { kind, layer } : {};
  }

  /** Show an answer, with what its heads do if that comes soon. */
  private async put(
    answer: api.Answer,
    asked: Omit<Shown, "id" | "page">,
    signal: AbortSignal,
  ): Promise<void> {
    const page = decode(answer.bytes);
    const report = api.report(answer.id, signal).then(decode, (error) => {
      if (error instanceof ApiError && ["unmeasured", "memory"].includes(error.code))
        page.cautions.push({ text: error.message, code: error.code });
      return null;
    });
    const enough = () => null;
    const soon = await Promise.race([report, pause(REPORT, signal).then(enough, enough)]);
    if (soon) Object.assign(page, merged(page, soon));
    // Shown even where the next text is on its way: who types without a pause sees how the picture changes.
    this.byItself(() => this.place({ id: answer.id, page, ...asked }));
    signal.throwIfAborted();
    const told = soon ?? (await report);
    signal.throwIfAborted();
    const store = this.store.peek()!;
    if (!soon) store.enrich(told ? merged(page, told) : { cautions: page.cautions.slice() });
    if (told && this.telling && !page.walk) {
      const { kind, layer, part, heads } = told.selection;
      this.byItself(() => store.set({ kind, layer, part, heads }));
      this.suggested = shownBy(store);
    }
    this.telling = false;
  }

  private place(next: Shown): void {
    const store = this.store.peek();
    // What the reader chose meanwhile, in the saved example or on the way back, stays chosen.
    const touched = this.untouched !== null && store?.selection.peek() !== this.untouched;
    const begun = touched ? {} : this.filed ? { ...openingOf(next.page), ...this.begun } : this.begun;
    if (this.filed && heardIn(next.page)) this.telling = false; // it opens with what was listened for
    this.begun = {};
    this.filed = false;
    this.untouched = null;
    this.saved.value = null;
    this.returning = false;
    this.layers.clear();
    this.shown.value = next;
    if (!store) this.store.value = this.opened(next.page, begun);
    else {
      store.replace(next.page);
      if (Object.keys(begun).length) store.set(begun);
    }
  }

  private opened(page: Page, begun: Partial<Selection>): Store {
    const store = new Store(page, this.theme.peek(), this.language.peek(), this.views, {
      walks: () => this.model.value?.about?.walk ?? false,
      switching: this.switching,
      judges: () =>
        !this.medium.value && this.saved.value === null && (this.model.value?.about?.cuts.length ?? 0) > 0,
      fetch: (site, keep, signal) => this.weights(this.shown.peek()!, site, keep, signal),
      picture: (site, signal) => this.layers.picture(this.shown.peek()!, site, signal),
    });
    store.past = this.trail;
    store.set({ view: "atlas", ...begun });
    effect(() => {
      store.off.value = this.ask.value.off;
      store.cut.value = this.ask.value.cut;
    });
    this.changes.follow(store, this.ask, (ask) => this.open(ask));
    this.rules.follow(store, this.shown);
    effect(() => {
      this.theme.value = store.theme.value;
      this.language.value = store.language.value;
    });
    return store;
  }

  /** The weights of a layer of a long trace. */
  async weights(shown: Shown, site: Site, keep: boolean, signal?: AbortSignal): Promise<Site> {
    try {
      const chosen = this.store.peek()?.site.peek() ?? null;
      return await this.layers.weights(shown, site, keep ? { chosen } : null, signal);
    } catch (error) {
      if (!signal?.aborted) this.trouble.value = troubleOf(error);
      if (error instanceof ApiError && error.code === "missing") this.again(); // the server let go of it
      throw error;
    }
  }

  /** Keep what was asked and what is chosen in the address; not at every key. */
  private write(): void {
    this.ask.value;
    this.store.value?.selection.value;
    clearTimeout(this.writing);
    this.writing = window.setTimeout(() => this.flush(), WRITING);
  }

  private flush(own = false): void {
    const store = this.store.peek();
    clearTimeout(this.writing);
    if (!store || this.returning || this.saved.peek() !== null) return;
    const ask = this.ask.peek();
    const model = ask.text ? ask.model : this.server.nameOf(ask); // without a text, the name is all that is asked
    const parts = [toAddress({ ...ask, model }), toHash(store.selection.peek())];
    this.trail.write(`#${parts.filter(Boolean).join("&")}`, own);
  }

  /** A change that the page makes, not the reader: no choice to go back to. */
  private byItself(change: () => void): void {
    this.flush();
    change();
    this.flush(true);
  }

  /** Somebody wrote another address, or went back to one. */
  private read(): void {
    const chosen = fromHash(location.hash);
    const before = this.ask.peek();
    const ask = fromAddress(location.hash) ?? this.named(location.hash) ?? before;
    const same = JSON.stringify(pictured(ask)) === JSON.stringify(pictured(before));
    clearTimeout(this.writing);
    this.trail.moved();
    this.telling = false;
    if (!same || this.returning) {
      // Pins of that text may be beyond the end of this one: they come with its answer.
      this.returning = true;
      this.begun = chosen;
    }
    this.store.peek()?.set(chosen);
    if (this.returning) this.untouched = this.store.peek()?.selection.peek() ?? null;
    this.ask.value = ask;
    if (!same && !ask.text && !this.medium.peek() && !this.showFirst(ask.model)) this.openSuited(ask.model!);
  }

  /** What an address asks that names another model and no text. */
  private named(hash: string): Ask | null {
    const model = modelIn(hash);
    const other = model !== null && model !== this.server.nameOf(this.ask.peek());
    return other ? { ...NOTHING_ASKED, model } : null;
  }
}

/** The head that views of one head show. */
function shownBy(store: Store): string {
  const { kind, layer, heads } = store.selection.peek();
  return placeName({ kind, layer, head: heads[0] ?? store.site.peek().heads[0] });
}

/** Whether a page is of a sound. */
const heardIn = (page: Page): boolean =>
  [...page.sides.values()].some(({ medium }) => medium?.kind === "sound");

/** What the page of a file opens with: a sound with what was listened for. */
function openingOf(page: Page): Partial<Selection> {
  if (!heardIn(page)) return {};
  const { kind, layer, part, heads } = page.selection;
  return { view: "sound", kind, layer, part, heads };
}

/** What a picture depends on: neither on what it is compared with nor on what is asked about it. */
const pictured = (ask: Ask) => ({ ...ask, other: null, why: null, cut: null, how: null });

const selectionOf = ({ view, kind, layer, heads }: Open): Partial<Selection> => {
  const all = { view, kind, layer, heads, queries: [], keys: [], pairs: [] };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as Partial<Selection>;
};
