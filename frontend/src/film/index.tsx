// The page of a film: mounted in itself, in the theme of the page that shows it, or else of the reader.

import { signal } from "@preact/signals";
import { h, render } from "preact";
import "../frame/style.css";
import "../frame/controls.css";
import "../views/atlas/atlas.css";
import "./film.css";
import type { Theme } from "../marks/scales";
import { remember, rememberedLanguage, rememberedTheme } from "../state/remember";
import { add, type Language, preferred, say } from "../words";
import { read } from "./data";
import { FilmView } from "./film";
import { Projector } from "./state";
import { FILM } from "./words";

add(FILM);
const root = document.getElementById("film")!;
const dark = matchMedia("(prefers-color-scheme: dark)");

/** What the page that shows this one asks for in its address. */
function asked<T extends string>(name: string, allowed: readonly T[]): T | undefined {
  const value = new URLSearchParams(location.hash.slice(1)).get(name);
  return allowed.find((one) => one === value);
}

const themeNow = (): Theme =>
  asked("theme", ["light", "dark"]) ?? rememberedTheme() ?? (dark.matches ? "dark" : "light");
const languageNow = (): Language =>
  asked("language", ["en", "zh"]) ?? rememberedLanguage() ?? preferred(navigator.languages);

async function open(): Promise<void> {
  const [theme, language] = [signal(themeNow()), signal(languageNow())];
  try {
    const film = new Projector(await read(document.getElementById("frames")!.textContent), theme, language);
    remember(film);
    addEventListener("hashchange", () => {
      theme.value = themeNow();
      language.value = languageNow();
    });
    root.textContent = "";
    render(h(FilmView, { film }), root);
  } catch (error) {
    root.textContent = say(language.value, "filmFailed", { detail: String(error) });
  }
}

open();
