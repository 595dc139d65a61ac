// Every sentence of the interface, in English and Chinese: one table. {names} are filled in by `say`.

import type { APP } from "./app";
import { PAGE } from "./page";
import { PATTERNS } from "./patterns";
import { SENTENCES } from "./sentences";
import { STEPS } from "./steps";
import { WALK } from "./walk";

export type Language = "en" | "zh";
type Pair = readonly [english: string, chinese: string];
export type Key =
  | keyof typeof PAGE
  | keyof typeof PATTERNS
  | keyof typeof WALK
  | keyof typeof STEPS
  | keyof typeof SENTENCES
  | keyof typeof APP;
export type Values = Record<string, string | number>;

const TABLE: Partial<Record<Key, Pair>> = { ...PAGE, ...PATTERNS, ...WALK, ...STEPS, ...SENTENCES };

/** Put in the app's words, which saved pages do not carry. */
export function add(words: typeof APP): void {
  Object.assign(TABLE, words);
}

/** A sentence in a language, its {names} filled in. */
export const say = (language: Language, key: Key, values: Values = {}): string =>
  fill(TABLE[key]![language === "zh" ? 1 : 0], values);

/** A sentence with its {names} filled in. */
export const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

/** Whether a text is the name of a sentence. */
export const isKey = (text: string): text is Key => Object.hasOwn(TABLE, text);

/** The language a browser asks for. */
export function preferred(languages: readonly string[]): Language {
  return languages[0]?.toLowerCase().startsWith("zh") ? "zh" : "en";
}
