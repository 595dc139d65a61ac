// The keyboard: arrows move layer and head, Esc clears, digits choose views.

import type { Signal } from "@preact/signals";
import { NOTHING } from "../state/selection";
import type { Store } from "../state/store";

const WRITTEN = "textarea, input:not([type=checkbox], [type=range], [type=radio])"; // fields with an undo of their own

/** Handle a key, unless somebody is typing or a control needs it. */
export function onKey(
  event: KeyboardEvent,
  store: Store,
  help: Signal<boolean>,
  find?: Signal<boolean>,
): void {
  const target = event.target as HTMLElement;
  if (find && (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    event.stopPropagation();
    help.value = false;
    find.value = true;
    return;
  }
  if (undoes(event, store)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key !== "?")) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && event.key !== "Escape") return;
  const action = actions(store, help)[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** Ctrl-Z goes a choice back, Ctrl-Shift-Z or Ctrl-Y forth again; in a field they are the field's. */
function undoes(event: KeyboardEvent, { past }: Store): boolean {
  const target = event.target as HTMLElement;
  if (!past || !(event.ctrlKey || event.metaKey) || event.altKey || target.matches?.(WRITTEN)) return false;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return false;
  event.preventDefault();
  event.stopPropagation();
  if (key === "y" || event.shiftKey) past.redo();
  else past.undo();
  return true;
}

function actions(store: Store, help: Signal<boolean>): Record<string, () => void> {
  const views = store.views.map(({ id }, i) => [String(i + 1), () => store.set({ view: id })] as const);
  return {
    ...Object.fromEntries(views),
    ...(store.view.keys?.(store) ?? looking(store)),
    Escape: () => {
      help.value = false;
      store.enlarged.value = false;
      store.hover.value = NOTHING;
      store.set({ queries: [], keys: [] });
    },
    x: () => store.powers.switching?.(store.place),
    "?": () => {
      help.value = !help.value;
    },
    c: () => {
      if (store.site.peek().norms)
        store.set({ contributions: !store.selection.peek().contributions, worth: false });
    },
    v: () => {
      if (store.judges) store.set({ worth: !store.selection.peek().worth });
    },
    w: () => store.set({ level: store.selection.peek().level === "tokens" ? "words" : "tokens" }),
  };
}

/** Arrows where a view has no keys of its own. */
export const looking = (store: Store): Record<string, () => void> => ({
  ArrowUp: () => step(store, "layer", -1),
  ArrowDown: () => step(store, "layer", 1),
  ArrowLeft: () => step(store, "head", -1),
  ArrowRight: () => step(store, "head", 1),
});

/** Go to the next layer or head, or the one before. */
export function step(store: Store, what: "layer" | "head", by: number): void {
  const { layer } = store.selection.peek();
  const all = what === "layer" ? store.layers() : store.site.peek().heads;
  const next = all[all.indexOf(what === "layer" ? layer : store.lead) + by];
  if (next !== undefined) store.set(what === "layer" ? { layer: next } : { heads: [next] });
}
