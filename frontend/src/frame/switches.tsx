// Two buttons that stand above everything: the language and the theme.

import type { Signal } from "@preact/signals";
import type { Language } from "../words";
import type { Say } from "./context";

interface Switched {
  language: Signal<Language>;
  theme: Signal<"light" | "dark">;
  tell: Say;
}

export function Switches({ language, theme, tell }: Switched) {
  return (
    <>
      <button
        type="button"
        class="plain"
        data-tool="language"
        onClick={() => (language.value = language.value === "en" ? "zh" : "en")}
      >
        {tell("language")}
      </button>
      <button
        type="button"
        class="plain"
        data-tool="theme"
        title={tell("theme")}
        onClick={() => (theme.value = theme.value === "light" ? "dark" : "light")}
      >
        {tell(theme.value === "light" ? "toDark" : "toLight")}
      </button>
    </>
  );
}
