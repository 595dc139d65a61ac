// What a view has on the stage: for its saved picture, and for benchmarks and tests that wait for it.

import { effect, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Store } from "../state/store";

const LATEST = 1500; // milliseconds: a page in a hidden tab draws nothing
let tell: () => void;
const drawn = new Promise<void>((resolve) => {
  tell = resolve;
});

/** Something was drawn: benchmarks and tests wait for it, and so does what can be done later. */
export function mark(name: string): void {
  performance.clearMarks(name);
  performance.mark(name);
  tell();
}

/** When the first picture is drawn, or should have been. */
export const firstDrawn = (): Promise<void> =>
  Promise.race([drawn, new Promise<void>((resolve) => setTimeout(resolve, LATEST))]);

const HIDDEN = 35; // milliseconds without a frame: the tab is not in sight

function nextFrame(then: () => void): void {
  const once = () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    then();
  };
  const timer = setTimeout(once, HIDDEN);
  const frame = requestAnimationFrame(once);
}

/**
 * A hook: draw at once, before the browser paints, and again in the next frame after something that was read changes.
 * While a page is still being read, a frame more is long: its parser goes on in between.
 */
export function useDrawing(draw: () => ReturnType<Parameters<typeof effect>[0]>): void {
  const latest = useRef(draw);
  latest.current = draw;
  useLayoutEffect(() => {
    const frames = signal(0);
    let due = true;
    return effect(() => {
      frames.value;
      if (due) {
        due = false;
        return latest.current();
      }
      nextFrame(() => {
        due = true;
        frames.value++;
      });
      return undefined;
    });
  }, []);
}

/** A place for what is shown, from which a picture of it can be drawn as long as it is shown. */
export function stage<T>() {
  const shown = new WeakMap<Store, () => T>();
  return {
    of: (store: Store): T | null => shown.get(store)?.() ?? null,
    /** A hook: `read` gives what is shown now. */
    use(store: Store, read: () => T, inputs: readonly unknown[] = []): void {
      useEffect(() => {
        shown.set(store, read);
        return () => {
          if (shown.get(store) === read) shown.delete(store);
        };
      }, [store, ...inputs]);
    },
  };
}
