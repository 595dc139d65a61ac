// What patterns and types of maps are called; Python reads the same file.

import data from "../../../src/regard/patterns/patterns.json";

type Pair = readonly [english: string, chinese: string];

interface Entry {
  name: string;
  en?: string; // where the page says more than the name
  zh: string;
  short?: { en: string; zh: string };
}

export const PATTERNS: Record<`name_${string}` | `short_${string}`, Pair> = Object.fromEntries(
  [...data.patterns, ...data.types].flatMap(wordsOf),
);

/** A name, and what is written in its place where there is little room. */
function wordsOf({ name, en, zh, short }: Entry): [string, Pair][] {
  const whole: [string, Pair] = [`name_${name}`, [en ?? name, zh]];
  return short ? [whole, [`short_${name}`, [short.en, short.zh]]] : [whole];
}
