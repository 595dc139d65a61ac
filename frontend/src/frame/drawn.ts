// What a view has on the stage: for its saved picture, and for benchmarks and tests that wait for it.

import { useEffect } from "preact/hooks";
import type { Store } from "../state/store";

/** Tell benchmarks and tests when something was drawn. */
export function mark(name: string): void {
  performance.clearMarks(name);
  performance.mark(name);
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
