// The selection in the page's address: a reload, or a friend, sees the same.

import { effect } from "@preact/signals";
import { Memory, Trail } from "./history";
import type { Form, Selection } from "./selection";
import type { Store } from "./store";

const FORMS: readonly Form[] = ["columns", "sentence"];

const numbers = (text: string | null): number[] =>
  text ? text.split(",").map(Number).filter(Number.isInteger) : [];

/** The selection as the part of an address after #. */
export function toHash(s: Selection): string {
  const parts = new URLSearchParams({
    view: s.view,
    kind: s.kind,
    layer: String(s.layer),
    heads: s.heads.join(","),
  });
  if (s.part) parts.set("part", String(s.part));
  if (s.queries.length) parts.set("queries", s.queries.join(","));
  if (s.keys.length) parts.set("keys", s.keys.join(","));
  if (s.pairs.length) parts.set("pairs", s.pairs.flat().join(","));
  if (s.contributions) parts.set("contributions", s.relative ? "shares" : "1");
  if (s.worth) parts.set("worth", "1");
  if (s.level !== "tokens") parts.set("level", s.level);
  if (!s.special) parts.set("special", "0");
  if (s.threshold) parts.set("threshold", String(s.threshold));
  if (s.from !== null && s.to !== null) parts.set("segments", `${s.from},${s.to}`);
  if (s.log) parts.set("log", "1");
  if (s.form !== "auto") parts.set("form", s.form);
  if (s.folded.length) parts.set("folded", s.folded.join(","));
  if (s.averaged) parts.set("averaged", "1");
  if (s.step) parts.set("step", String(s.step));
  return parts.toString().replace(/%2C/g, ",");
}

/** What an address says of the selection; anything unreadable is left out. */
export function fromHash(hash: string): Partial<Selection> {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  if (!parts.has("view") && !parts.has("layer")) return {};
  const segments = numbers(parts.get("segments"));
  const pairs = numbers(parts.get("pairs"));
  const contributions = parts.get("contributions");
  const change: Partial<Selection> = {
    part: Number(parts.get("part") ?? 0),
    queries: numbers(parts.get("queries")),
    keys: numbers(parts.get("keys")),
    pairs: pairs.flatMap((q, i) => (i % 2 ? [] : [[q, pairs[i + 1] ?? -1] as [number, number]])),
    contributions: contributions !== null,
    relative: contributions === "shares",
    worth: parts.get("worth") === "1",
    level: parts.get("level") === "words" ? "words" : "tokens",
    special: parts.get("special") !== "0",
    threshold: Math.max(0, Number(parts.get("threshold") ?? 0)) || 0,
    from: segments.length === 2 ? segments[0] : null,
    to: segments.length === 2 ? segments[1] : null,
    log: parts.get("log") === "1",
    folded: parts.get("folded")?.split(",") ?? [],
    averaged: parts.get("averaged") === "1",
    form: FORMS.find((form) => form === parts.get("form")) ?? "auto",
    step: Math.max(0, Math.trunc(Number(parts.get("step") ?? 0))) || 0,
  };
  if (parts.get("view")) change.view = parts.get("view")!;
  if (parts.get("kind")) change.kind = parts.get("kind")!;
  if (parts.has("layer") && Number.isInteger(Number(parts.get("layer"))))
    change.layer = Number(parts.get("layer"));
  if (parts.has("heads")) change.heads = numbers(parts.get("heads"));
  return change;
}

/** Remember what was chosen, so that it can be undone, where there is no address to keep it. */
export function keepChoices(store: Store, signal: AbortSignal): void {
  const past = new Memory(store.selection.peek(), (state) => store.set(state));
  store.past = past;
  signal.addEventListener(
    "abort",
    effect(() => past.note(store.selection.value, performance.now())),
  );
}

/** Follow what the page around this one asks for: a theme, a head. */
export function followParent(store: Store, signal: AbortSignal): void {
  const read = ({ source, data }: MessageEvent) => {
    if (source !== window.parent || typeof data !== "string") return;
    const theme = new URLSearchParams(data).get("theme");
    if (theme === "light" || theme === "dark") store.theme.value = theme;
    store.set(fromHash(data));
  };
  window.addEventListener("message", read, { signal });
  window.parent.postMessage("ready", "*"); // a page without an origin knows no other address
}

/** Keep the address and the selection the same. */
export function syncAddress(store: Store, signal: AbortSignal): void {
  const trail = new Trail();
  store.past = trail;
  store.set(fromHash(location.hash));
  const stop = effect(() => trail.write(`#${toHash(store.selection.value)}`));
  signal.addEventListener("abort", stop);
  const read = () => {
    trail.moved();
    store.set(fromHash(location.hash));
  };
  window.addEventListener("hashchange", read, { signal });
}
