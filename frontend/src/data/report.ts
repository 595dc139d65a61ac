// What is known of each head: names, colours and counts of what heads do. Enters: a page's records. Leaves: plain values.

import data from "../../../src/regard/patterns/patterns.json";
import type { Found, Page, Rest, Site } from "./wire";

export interface Cell {
  site: Site;
  head: number;
}

/** A name for a head among those of one kind. */
export const nameOf = ({ site, head }: Cell): string => `${site.layer} ${site.part} ${head}`;

/** The head with the largest of some numbers, as every page calls it, and that number. */
export function largest(found: ReadonlyMap<string, number>): { head: string; value: number } {
  const [[name, value]] = [...found].sort(([, a], [, b]) => b - a);
  const [layer, , head] = name.split(" ");
  return { head: `${layer}.${head}`, value };
}

/** How heads are told apart: by what they do, or by the type of their map. */
export type Tint = "pattern" | "type";

export const NONE = ""; // of heads that do nothing that has a name

const PATTERNS = coloursOf(data.patterns);
const TYPES = coloursOf(data.types);
export const COLOURS = { pattern: PATTERNS, type: TYPES };
const OTHER = "#A6761D"; // of names that somebody else gave

function coloursOf(entries: { name: string; colour?: string }[]): Record<string, string> {
  return Object.fromEntries(entries.flatMap(({ name, colour }) => (colour ? [[name, colour]] : [])));
}

const DARK = coloursOf(
  data.patterns.map(({ name, ...entry }) => ({ name, colour: "dark" in entry ? entry.dark : undefined })),
);

const BRIGHT = 0.2; // luminance that is plain to see on a dark ground

/** The colour of the name of a pattern. */
export const knownColour = (name: string, theme: "light" | "dark"): string =>
  (theme === "dark" ? DARK[name] : PATTERNS[name]) ?? OTHER;

/**
 * The colour of a name: its own on either ground, or that which a page brings for a rule that somebody saved; on a dark
 * ground such a one, if it is dark, is mixed with white until it is plain to see.
 */
export function colourOf(page: Page, tint: Tint, name: string, theme: "light" | "dark" = "light"): string {
  if (theme === "dark" && tint === "pattern" && Object.hasOwn(DARK, name)) return DARK[name];
  const own = Object.hasOwn(COLOURS[tint], name) ? COLOURS[tint][name] : brought(page).get(name);
  const colour = own ?? OTHER;
  if (theme === "light") return colour;
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  for (let white = 0; ; white += 0.05) {
    const mixed = parts.map((part) => Math.round(part + white * (255 - part)));
    if (luminance(mixed) >= BRIGHT)
      return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }
}

function luminance(parts: number[]): number {
  const [r, g, b] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const known = new WeakMap<object, ReadonlyMap<string, string>>();

/** Colours that came with the records of a page; only what is one. */
function brought({ sites }: Page): ReadonlyMap<string, string> {
  const key = sites[0].patterns ?? sites;
  let found = known.get(key);
  if (!found) {
    const all = sites.flatMap(({ patterns, arriving }) => [
      ...(patterns ?? []).flat(),
      ...(arriving ?? []).flatMap((one) => one?.patterns ?? []),
    ]);
    const own = all.filter(({ colour }) => /^#[0-9a-f]{6}$/i.test(colour ?? ""));
    found = new Map(own.map(({ name, colour }) => [name, colour!]));
    known.set(key, found);
  }
  return found;
}

/** Whether a name is that of a rule that somebody saved. */
export const isOwn = (page: Page, name: string): boolean => brought(page).has(name);

/** Whether anybody looked at what the heads do. */
export const isKnown = (page: Page): boolean => page.sites.some((site) => site.patterns !== null);
export const hasTypes = (page: Page): boolean => page.sites.some((site) => site.types !== null);

/** What a head does when awake, most specific first: by its weights, or by what arrives. */
export function foundOf({ site, head }: Cell, contributions = false): Found[] {
  const at = site.heads.indexOf(head);
  return (contributions ? site.arriving?.[at]?.patterns : site.patterns?.[at]) ?? [];
}

/** How much of a head's attention, or of what arrives, rests. */
export function restOf({ site, head }: Cell, contributions = false): Rest | null {
  const at = site.heads.indexOf(head);
  return (contributions ? site.arriving?.[at]?.rest : site.rest?.[at]) ?? null;
}

const BROAD = new Set(data.patterns.flatMap((one) => ("broad" in one ? [one.name] : [])));
const RANKS = new Map(data.patterns.map((one) => [one.name, "rank" in one ? one.rank : undefined]));
const RESTING = new Set(data.patterns.flatMap((one) => ("resting" in one ? [one.name] : [])));
export const isResting = (name: string): boolean => RESTING.has(name);

/** Names and their counts, the most specific name first; broad ones last, the most frequent of them first. */
export function bySpecific(counts: readonly [name: string, count: number][]): [string, number][] {
  const rank = (name: string) => RANKS.get(name) ?? 0; // a rule that somebody saved comes first
  return counts
    .map(([name, count]): [string, number] => [name, count])
    .sort(([a, x], [b, y]) => {
      const broad = Number(BROAD.has(a)) - Number(BROAD.has(b));
      return broad || (BROAD.has(a) ? y - x : rank(a) - rank(b) || y - x);
    });
}

/**
 * The most telling heads, each once: the strongest names first, broad ones later, resting ones never. Of the heads of one
 * name it is the one whose map shows it most: one that nearly always rests may follow its name and nobody sees it.
 */
export function telling(cells: Cell[], contributions: boolean, count = 3): { cell: Cell; found: Found }[] {
  const all = cells
    .flatMap((cell) => {
      const awake = 1 - (restOf(cell, contributions)?.share ?? 0);
      return foundOf(cell, contributions).map((found) => ({ cell, found, seen: found.score * awake }));
    })
    .filter(({ found }) => !isResting(found.name));
  const strongest = new Map<string, number>();
  for (const { found } of all)
    strongest.set(found.name, Math.max(found.score, strongest.get(found.name) ?? found.score));
  const order = ({ found }: { found: Found }) => strongest.get(found.name)!;
  all.sort(
    (a, b) =>
      Number(BROAD.has(a.found.name)) - Number(BROAD.has(b.found.name)) ||
      order(b) - order(a) ||
      b.seen - a.seen,
  );
  const chosen: typeof all = [];
  for (const distinct of [true, false])
    for (const one of all)
      if (
        !chosen.some(
          ({ cell, found }) =>
            (cell.site === one.cell.site && cell.head === one.cell.head) ||
            (distinct && found.name === one.found.name),
        )
      )
        chosen.push(one);
  return chosen.slice(0, count);
}

/** The type of a head's map, and its probability. */
export function typeOf(page: Page, { site, head }: Cell): { name: string; probability: number } | null {
  const row = site.types?.part(site.heads.indexOf(head));
  if (!row || Number.isNaN(row[0])) return null;
  const at = row.indexOf(Math.max(...row));
  return { name: page.types[at], probability: row[at] };
}

/** The names a head goes by under a tint: one, several or NONE. */
export function namesOf(page: Page, cell: Cell, tint: Tint, contributions = false): string[] {
  if (tint === "type") return [typeOf(page, cell)?.name ?? NONE];
  const names = foundOf(cell, contributions).map(({ name }) => name);
  return names.length ? names : [NONE];
}

/** How many heads have a name as their first, which colours them, and how many more have it besides another. */
export interface Count {
  first: number;
  also: number;
}

/** Names and how many of these heads go by each, in a fixed order; NONE last. All firsts are as many as the heads. */
export function counts(page: Page, cells: Cell[], tint: Tint, contributions = false): [string, Count][] {
  const total = new Map<string, Count>();
  for (const cell of cells)
    for (const [at, name] of namesOf(page, cell, tint, contributions).entries()) {
      const known = total.get(name) ?? { first: 0, also: 0 };
      known[at ? "also" : "first"]++;
      total.set(name, known);
    }
  const order = Object.keys(COLOURS[tint]);
  const place = (name: string) => {
    if (name === NONE) return 1001;
    if (isResting(name)) return 1000; // no name, either: the headline counts these heads with those of none
    return order.includes(name) ? order.indexOf(name) : isOwn(page, name) ? -1 : 999;
  };
  return [...total].sort(([a], [b]) => place(a) - place(b));
}

/** The heads of a name, and the one that shows it most, where that is known. */
export function headsOf(
  page: Page,
  cells: readonly Cell[],
  name: string,
  tint: Tint,
  contributions = false,
): { all: Cell[]; best: Cell | null } {
  const all = cells.filter((cell) => namesOf(page, cell, tint, contributions).includes(name));
  const score = (cell: Cell) =>
    foundOf(cell, contributions).find((found) => found.name === name)?.score ?? Number.NEGATIVE_INFINITY;
  const best = all.reduce((a, b) => (score(b) > score(a) ? b : a), all[0]);
  return { all, best: all.length && score(best) > Number.NEGATIVE_INFINITY ? best : null };
}

/** A measure of a head, or null where it is n/a. */
export function measureOf({ site, head }: Cell, name: string): number | null {
  const value = site.measures[name]?.all()[site.heads.indexOf(head)];
  return value === undefined || Number.isNaN(value) ? null : value;
}
