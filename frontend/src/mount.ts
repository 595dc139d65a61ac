// Mounts views of a payload into an element, and into a saved page itself.

import type { Signal } from "@preact/signals";
import { h, render } from "preact";
import { release } from "./compute/attention";
import { opening } from "./data/opening";
import { inline, type Transport } from "./data/transport";
import { decode, PayloadError } from "./data/wire";
import { StoreContext } from "./frame/context";
import { firstDrawn } from "./frame/drawn";
import { Notice } from "./frame/notice";
import { svgOf } from "./frame/picture";
import { Shell } from "./frame/shell";
import type { Theme } from "./marks/scales";
import { followParent, keepChoices, syncAddress } from "./state/address";
import { remember, rememberedLanguage, rememberedTheme } from "./state/remember";
import type { Selection } from "./state/selection";
import { Store } from "./state/store";
import type { View } from "./state/view";
import { type Language, preferred, say } from "./words";

export interface Options {
  frame?: boolean; // with the page's header, and the keyboard of the whole page; a notebook cell goes without
  address?: boolean; // keep the selection in the page's address
  inside?: boolean; // part of a study's report: no story of its own, and the report's links choose heads
  theme?: Theme;
  language?: Language;
}

export interface Handle {
  /** What is chosen: read it, set it, subscribe to it. */
  selection: Signal<Selection>;
  /** Change some of the selection; what does not exist is put right. */
  select(change: Partial<Selection>): void;
  /** The current view as SVG. */
  picture(): string | null;
  dispose(): void;
}

/** Show some views of a payload in an element. Errors become a sentence in the element, and reject. */
export async function mountViews(
  views: readonly View[],
  el: HTMLElement,
  transport: Transport,
  options: Options = {},
): Promise<Handle> {
  const abort = new AbortController();
  const language = options.language ?? rememberedLanguage() ?? preferred(navigator.languages);
  try {
    if (!el.ownerDocument.createElement("canvas").getContext("2d")) throw new NoCanvasError();
    const coming = transport.arriving && (await opening(transport.arriving));
    const page = coming?.page ?? decode(await transport.load(abort.signal));
    const theme = options.theme ?? (options.frame ? rememberedTheme() : undefined) ?? themeOf(el);
    const store = new Store(page, theme, language, views, coming && { fetch: coming.fetch });
    if (options.address) syncAddress(store, abort.signal);
    else keepChoices(store, abort.signal);
    if (options.inside) followParent(store, abort.signal);
    if (options.frame) abort.signal.addEventListener("abort", remember(store));
    render(
      h(
        StoreContext.Provider,
        { value: store },
        h(Shell, { frame: options.frame ?? false, story: !options.inside }),
      ),
      el,
    );
    const rest = async () => {
      await firstDrawn(); // the picture first
      if (await coming!.whole()) store.enrich({});
    };
    if (coming) rest().catch((error) => refuse(el, error, language)); // the page ends before its payload
    return {
      selection: store.selection,
      select: (change) => store.set(change),
      picture: () => svgOf(store),
      dispose() {
        abort.abort();
        render(null, el);
        release(store.page.sites);
      },
    };
  } catch (error) {
    refuse(el, error, language);
    throw error;
  }
}

/** A sentence in place of the views. */
function refuse(el: HTMLElement, error: unknown, language: Language): void {
  el.classList.add("regard");
  render(h(Notice, { text: sentence(error, language) }), el);
}

/** A browser without a drawing surface. */
class NoCanvasError extends Error {}

function sentence(error: unknown, language: Language): string {
  if (error instanceof PayloadError) return say(language, error.code, { detail: error.message });
  if (error instanceof NoCanvasError) return say(language, "canvas");
  return say(language, "failed", { detail: error instanceof Error ? error.message : String(error) });
}

function themeOf(el: HTMLElement): Theme {
  return el.ownerDocument.defaultView?.matchMedia?.("(prefers-color-scheme: dark)").matches
    ? "dark"
    : "light";
}

/** Show a saved page in itself; elsewhere nothing happens. */
export function mountPage(views: readonly View[]): void {
  const root = document.getElementById("regard");
  if (!root?.dataset.bytes) return;
  root.textContent = "";
  // The sentence in the page says what is wrong; the console need not repeat it.
  const inside = location.protocol === "about:"; // such a page has no address of its own
  mountViews(views, root, inline(document, Number(root.dataset.bytes)), {
    frame: !inside,
    address: !inside,
    inside,
  }).catch(() => {});
}
