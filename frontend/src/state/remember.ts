// What a reader chose once and wants to find again: language and theme. A browser that keeps nothing is no trouble.

import { effect } from "@preact/signals";
import type { Theme } from "../marks/scales";
import type { Language } from "../words";
import type { Store } from "./store";

function remembered<T extends string>(name: string, allowed: readonly T[]): T | undefined {
  try {
    const value = localStorage.getItem(`regard-${name}`);
    return allowed.find((one) => one === value);
  } catch {
    return undefined;
  }
}

export const rememberedTheme = (): Theme | undefined => remembered("theme", ["light", "dark"]);
export const rememberedLanguage = (): Language | undefined => remembered("language", ["en", "zh"]);

/** Keep language and theme whenever the reader changes them. */
export function remember({ theme, language }: Pick<Store, "theme" | "language">): () => void {
  const before = { theme: theme.peek() as string, language: language.peek() as string };
  return effect(() => {
    const now = { theme: theme.value as string, language: language.value as string };
    for (const name of ["theme", "language"] as const) {
      if (now[name] === before[name]) continue;
      before[name] = now[name];
      try {
        localStorage.setItem(`regard-${name}`, now[name]);
      } catch {
        // nothing is kept here
      }
    }
  });
}
