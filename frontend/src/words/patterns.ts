// What patterns, types of maps and measures are called; Python reads the same file.

import data from "../../../src/regard/patterns/patterns.json";

type Pair = readonly [english: string, chinese: string];

interface Entry {
  name: string;
  en?: string; // where the page says more than the name
  zh: string;
  short?: { en: string; zh: string };
  does?: { en: string; zh: string }; // what a head of this name does, after its number
}

export const PATTERNS: Record<`name_${string}` | `short_${string}` | `does_${string}`, Pair> =
  Object.fromEntries([...data.patterns, ...data.types, ...data.measures].flatMap(wordsOf));

/** A name, what is written in its place where there is little room, and what a head of that name does. */
function wordsOf({ name, en, zh, short, does }: Entry): [string, Pair][] {
  const found: [string, Pair][] = [[`name_${name}`, [en ?? name, zh]]];
  if (short) found.push([`short_${name}`, [short.en, short.zh]]);
  if (does) found.push([`does_${name}`, [does.en, does.zh]]);
  return found;
}
