// What the palette finds: heads, patterns, tokens, views and commands. Enters: a store. Leaves: entries, best first.

import { tokenIn } from "../compute/axis";
import { foundOf } from "../data/report";
import type { Site } from "../data/wire";
import type { Store } from "../state/store";
import { isKey } from "../words";
import type { Say } from "./context";

export type Sort = "head" | "pattern" | "token" | "view" | "command";

/** Something that can be found, and what happens when it is chosen. */
export interface Entry {
  sort: Sort;
  label: string;
  detail?: string;
  words?: string; // further words by which it is found
  run: () => void;
}

const MOST = 60; // entries that are listed

/** What a name of Python's is called here. */
const nameIn = (tell: Say, name: string): string => {
  const key = `name_${name}`;
  return isKey(key) ? tell(key) : name;
};

/** A view that shows one head, where the open one does not. */
const looking = (store: Store): { view?: string } => (store.view.wide ? { view: store.pinning } : {});

const small = (number: number): string =>
  String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

export function entriesOf(store: Store, tell: Say, help: () => void, more: readonly Entry[]): Entry[] {
  return [
    ...heads(store, tell),
    ...patterns(store, tell),
    ...tokens(store, tell),
    ...views(store, tell),
    ...more,
    ...commands(store, tell, help),
  ];
}

function open(store: Store, site: Site, head: number): void {
  const { kind, layer, part } = site;
  store.enlarged.value = false;
  store.set({ kind, layer, part, heads: [head], ...looking(store) });
}

const placed = (store: Store, { kind, layer }: Site, head: number, tell: Say): string => {
  const name = `${layer}.${head}`;
  return store.kinds.length > 1 ? `${name} ${isKey(kind) ? tell(kind) : kind}` : name;
};

function heads(store: Store, tell: Say): Entry[] {
  return store.page.sites
    .filter((site) => store.reaches(site))
    .flatMap((site) =>
      site.heads.map((head): Entry => {
        const found = foundOf({ site, head });
        return {
          sort: "head",
          label: placed(store, site, head, tell),
          detail: found.map(({ name }) => nameIn(tell, name)).join(tell("comma")),
          words: found.map(({ name }) => name).join(" "),
          run: () => open(store, site, head),
        };
      }),
    );
}

function patterns(store: Store, tell: Say): Entry[] {
  const cells = store.page.sites.flatMap((site) => site.heads.map((head) => ({ site, head })));
  const byName = new Map<string, { site: Site; head: number; score: number }[]>();
  for (const cell of cells)
    for (const { name, score } of foundOf(cell))
      byName.set(name, [...(byName.get(name) ?? []), { ...cell, score }]);
  return [...byName].map(([name, all]) => {
    const best = all.reduce((a, b) => (b.score > a.score ? b : a));
    return {
      sort: "pattern",
      label: nameIn(tell, name),
      detail: tell("paletteBest", { count: all.length, best: placed(store, best.site, best.head, tell) }),
      words: name,
      run: () => {
        store.tint.value = "pattern";
        store.wanted.value = store.view.heads === "all" ? [name] : store.wanted.peek();
        open(store, best.site, best.head);
      },
    };
  });
}

function tokens(store: Store, tell: Say): Entry[] {
  const { query, key } = store.site.value;
  const sides = query === key ? [query] : [query, key];
  return sides.flatMap((name) => {
    const side = store.page.sides.get(name)!;
    const text = side.text.map((_, i) => tokenIn(side, i));
    const once = new Set<string>();
    const seen = new Set(text.filter((one) => once.size === once.add(one).size)); // those that come twice
    const pin = (i: number) => (name === query ? { queries: [i], keys: [] } : { queries: [], keys: [i] });
    return text.map((one, i): Entry => {
      const view = store.view.heads === "all" || store.view.wide ? { view: store.pinning } : {};
      return {
        sort: "token",
        label: one + (seen.has(one) ? small(i) : ""),
        detail: isKey(name) && sides.length > 1 ? tell(name) : "",
        words: side.text[i],
        run: () => store.set({ ...pin(i), pairs: [], ...view }),
      };
    });
  });
}

const views = (store: Store, tell: Say): Entry[] =>
  store.views.map(({ id, title }) => ({
    sort: "view",
    label: tell(title),
    words: id,
    run: () => store.set({ view: id }),
  }));

function commands(store: Store, tell: Say, help: () => void): Entry[] {
  const { contributions, level } = store.selection.value;
  const { theme, language, past } = store;
  const { switching } = store.powers;
  const { layer, head } = store.place;
  const all: (Omit<Entry, "sort"> | false)[] = [
    store.site.value.norms !== null && {
      label: tell(contributions ? "weights" : "contributions"),
      words: "weights contributions",
      run: () => store.set({ contributions: !contributions, worth: false }),
    },
    store.judges && {
      label: tell("worth"),
      words: "worth cut effect",
      run: () => store.set({ worth: true }),
    },
    {
      label: tell(level === "tokens" ? "paletteWords" : "paletteTokens"),
      run: () => store.set({ level: level === "tokens" ? "words" : "tokens" }),
    },
    switching !== undefined && {
      label: tell("paletteSwitch", { place: `${layer}.${head}` }),
      words: "switch off on ablate",
      run: () => switching(store.place),
    },
    { label: tell("paletteClear"), run: () => store.set({ queries: [], keys: [], pairs: [] }) },
    past !== null && { label: tell("paletteUndo"), words: "undo back", run: () => past.undo() },
    past !== null && { label: tell("paletteRedo"), words: "redo forward", run: () => past.redo() },
    {
      label: tell("theme"),
      words: "theme dark light",
      run: () => (theme.value = theme.peek() === "light" ? "dark" : "light"),
    },
    {
      label: tell("paletteLanguage"),
      words: "language english chinese",
      run: () => (language.value = language.peek() === "en" ? "zh" : "en"),
    },
    { label: tell("keys"), words: "help keys", run: help },
  ];
  return all.flatMap((one) => (one ? [{ sort: "command" as const, ...one }] : []));
}

/** How well an entry answers a question; smaller is better, null not at all. */
function distance({ label, detail = "", words = "" }: Entry, query: string): number | null {
  const own = label.toLowerCase();
  if (own === query || own.replace(/[₀-₉]+$|^##/g, "") === query) return 0;
  if (own.startsWith(query)) return /^\d/.test(query) && /^\d/.test(own.slice(query.length)) ? 3 : 1;
  const all = `${own} ${words} ${detail}`.toLowerCase();
  if (!query.split(/\s+/).every((word) => all.includes(word))) return null;
  return own.includes(query) ? 2 : 4;
}

/** The entries that answer a question, best first; without one, those that a reader may not know of. */
export function search(entries: readonly Entry[], question: string): Entry[] {
  const query = question.trim().toLowerCase();
  if (!query) return entries.filter(({ sort }) => sort !== "head" && sort !== "token").slice(0, MOST);
  return entries
    .map((entry) => ({ entry, far: distance(entry, query) }))
    .filter(({ far }) => far !== null)
    .sort((a, b) => a.far! - b.far!)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}
