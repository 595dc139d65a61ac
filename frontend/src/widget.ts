// The views in a notebook cell: what anywidget calls. Enters: a model with `payload` and `selection`. The payload is
// shown without the page's frame; the selection goes both ways.

import { effect } from "@preact/signals";
import { given, type Transport } from "./data/transport";
import type { Theme } from "./marks/scales";
import type { Handle, Options } from "./mount";
import type { Selection } from "./state/selection";

/** The part of a widget's model that is used here. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, handler: () => void): void;
  off(event: string, handler: () => void): void;
}

type Mount = (el: HTMLElement, transport: Transport, options: Options) => Promise<Handle>;

/** What a notebook's front end imports. */
export function widget(mount: Mount) {
  return {
    async render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
      el.classList.add("regard-cell");
      const free = keepKeys(el);
      try {
        const handle = await mount(el, given(model.get("payload") as DataView), { theme: themeOf(el) });
        const stop = follow(model, handle);
        return () => {
          free();
          stop();
          handle.dispose();
        };
      } catch {
        return free; // the cell says what is wrong
      }
    },
  };
}

/** Keys without Ctrl, Alt or Meta are the view's while it has the focus: "d d" must not delete its cell. */
export function keepKeys(el: HTMLElement): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const isOwn = (event: KeyboardEvent) => !event.ctrlKey && !event.metaKey && !event.altKey;
  // A control that goes away takes the focus with it; the next key would be the notebook's.
  let inside = false;
  const doc = el.ownerDocument;
  const enter = (event: Event) => {
    inside = el.contains(event.target as Node);
  };
  for (const name of ["focusin", "pointerdown"])
    doc.defaultView?.addEventListener(name, enter, { capture: true, signal });
  const isLost = () => inside && (doc.activeElement === null || doc.activeElement === doc.body);
  // JupyterLab takes its commands at the document, before the view sees a key; it leaves alone those whose target is
  // marked. A mark further up does not help: its commands are for whatever has the focus.
  el.ownerDocument.defaultView?.addEventListener(
    "keydown",
    (event) => {
      const target = event.target as HTMLElement;
      if (isOwn(event) && isLost()) {
        const view = el.querySelector<HTMLElement>(".regard") ?? el;
        event.stopImmediatePropagation();
        event.preventDefault();
        view.focus({ preventScroll: true });
        view.dispatchEvent(
          new KeyboardEvent("keydown", { key: event.key, shiftKey: event.shiftKey, bubbles: true }),
        );
        return;
      }
      if (el.contains(target)) target.toggleAttribute("data-lm-suppress-shortcuts", isOwn(event));
    },
    { capture: true, signal },
  );
  // Others hear keys on their way up.
  el.addEventListener("keydown", (event) => isOwn(event) && event.stopPropagation(), { signal });
  return () => abort.abort();
}

/** Keep the model's selection and the view's the same, without echoes: each side hears only what is new to it. */
export function follow(
  model: Model,
  { selection, select }: Pick<Handle, "selection" | "select">,
): () => void {
  let told = ""; // the whole selection as the model was last told, or as it was when the model told us
  let frame = 0;
  const tell = () => {
    frame = 0;
    const now = JSON.stringify(selection.peek());
    if (now === told) return;
    told = now;
    model.set("selection", JSON.parse(now));
    model.save_changes();
  };
  const hear = () => {
    const wanted = model.get("selection") as Partial<Selection>;
    if (JSON.stringify(wanted) === told) return;
    select(wanted);
    const now = selection.peek();
    // What is as the model chose is not told back: the echo would arrive after its next choice, and undo that.
    const taken = Object.entries(wanted).every(
      ([name, value]) => JSON.stringify(value) === JSON.stringify(now[name as keyof Selection]),
    );
    told = taken ? JSON.stringify(now) : "";
  };
  hear();
  const stop = effect(() => {
    selection.value;
    if (!frame) frame = requestAnimationFrame(tell);
  });
  model.on("change:selection", hear);
  return () => {
    model.off("change:selection", hear);
    cancelAnimationFrame(frame);
    stop();
  };
}

/** The notebook's theme where it says so, the reader's otherwise. */
function themeOf(el: HTMLElement): Theme | undefined {
  const { body } = el.ownerDocument;
  const lab = body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false" ? "dark" : "light";
  if (body.classList.contains("vscode-dark")) return "dark";
  return body.classList.contains("vscode-light") ? "light" : undefined;
}
