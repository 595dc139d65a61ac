// W_O in a sentence as people write it: what follows the line stands below it.

import type { ComponentChildren } from "preact";

const SYMBOL = /(?<![\p{L}\d])([A-Za-z])_([A-Za-z]|\d+)(?![\p{L}\d])/gu;

/** A text whose W_Q, b_1 and the like have their subscripts below the line. */
export function lowered(text: string): ComponentChildren[] {
  const parts = text.split(SYMBOL); // text, letter, subscript, text, …
  return parts.map((part, i) => (i % 3 === 2 ? <sub key={i}>{part}</sub> : part));
}
