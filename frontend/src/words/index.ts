// Every sentence of the interface, in English and Chinese: one table. {names} are filled in by `say`. A view's own
// sentences are in its module or folder; its registry puts them in.

import type { CUT } from "../app/cut/words";
import type { EVIDENCE } from "../app/evidence/words";
import type { LENS } from "../app/lens/words";
import type { APP_VIEW_MODULES } from "../app/views";
import type { WHY } from "../app/why/words";
import type { FILM } from "../film/words";
import type { VIEW_MODULES } from "../views";
import type { APP } from "./app";
import { HEADLINES } from "./headlines";
import { PAGE } from "./page";
import { PATTERNS } from "./patterns";
import { type REFUSALS, SENTENCES } from "./sentences";

export type Language = "en" | "zh";
export type Pair = readonly [english: string, chinese: string];
export type Words = Readonly<Record<string, Pair>>;
type KeyOf<Module> = Module extends { words: infer W } ? keyof W : never;
export type Key =
  | keyof typeof PAGE
  | keyof typeof HEADLINES
  | keyof typeof PATTERNS
  | keyof typeof SENTENCES
  | keyof typeof REFUSALS
  | keyof typeof APP
  | keyof typeof WHY
  | keyof typeof CUT
  | keyof typeof LENS
  | keyof typeof EVIDENCE
  | keyof typeof FILM
  | KeyOf<(typeof VIEW_MODULES)[number]>
  | KeyOf<(typeof APP_VIEW_MODULES)[number]>;
export type Values = Record<string, string | number>;

const TABLE: Partial<Record<Key, Pair>> = { ...PAGE, ...HEADLINES, ...PATTERNS, ...SENTENCES };

/** Put in the words of a view, or those of the app, which saved pages do not carry. */
export function add(words: Words): void {
  Object.assign(TABLE, words);
}

/** A sentence in a language, its {names} filled in. */
export const say = (language: Language, key: Key, values: Values = {}): string =>
  language === "zh" ? fill(spaced(TABLE[key]![1], values), values) : fill(TABLE[key]![0], values);

/** What came in both languages, in one of them. */
export const inLanguage = (language: Language, [english, chinese]: Pair): string =>
  language === "zh" ? chinese : english;

const HAN = "\\p{Script=Han}";
const LATIN = /^[\w[#]/;

/** A Chinese sentence with a space between its characters and a {name} that is filled in with Latin letters. */
const spaced = (text: string, values: Values): string =>
  Object.entries(values).reduce(
    (made, [name, value]) =>
      LATIN.test(String(value))
        ? made
            .replace(new RegExp(`(${HAN})(\\{${name}\\})`, "u"), "$1 $2")
            .replace(new RegExp(`(\\{${name}\\})(${HAN})`, "u"), "$1 $2")
        : made,
    text,
  );

/** A sentence with its {names} filled in; the position of a quoted token stands behind the quotation marks. */
export const fill = (text: string, values: Values): string =>
  text
    .replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))
    .replace(/(?<=“[^“”]*[^“”₀-₉])([₀-₉]+)”/g, "”$1");

/** Sentences one after the other; a Chinese full stop has its own room. */
export const together = (...sentences: (string | false | null | undefined)[]): string =>
  sentences
    .filter(Boolean)
    .join(" ")
    .replace(/(?<=[。！？]) /g, "");

/** What a part of a text is called: prompt, answer, or whose turn of a conversation it is ("user 2"). */
export function partName(language: Language, part: string): string {
  const [role, number] = part.split(" ");
  const key = `${role}Part`;
  return isKey(key) ? [say(language, key), number].filter(Boolean).join(" ") : part;
}

/** Whether a text is the name of a sentence. */
export const isKey = (text: string): text is Key => Object.hasOwn(TABLE, text);

/** The language a browser asks for. */
export function preferred(languages: readonly string[]): Language {
  return languages[0]?.toLowerCase().startsWith("zh") ? "zh" : "en";
}
