// How much each head changes when others are switched off: asked for only while the atlas is coloured by it.

import { effect, type Signal } from "@preact/signals";
import { run, superseded } from "../compute/jobs";
import type { Page } from "../data/wire";
import type { Store } from "../state/store";
import type { Ask } from "./address";
import { Comparison } from "./compare/comparison";
import { distances } from "./compare/distances";
import type { Open } from "./records";
import type { Server } from "./server";

/** The same question with all heads on; null where they are. */
export const withAllOn = (ask: Ask): Ask | null => (ask.off.length ? { ...ask, off: [] } : null);

/** Whether two pages are of one model and the same tokens. */
function alikeIn(page: Page, other: Page): boolean {
  const tokensOf = ({ facts, sides }: Page) =>
    JSON.stringify([facts.model, [...sides.values()].map(({ text }) => text)]);
  return tokensOf(page) === tokensOf(other);
}

export class Changes {
  private readonly before: Comparison;

  constructor(server: Server) {
    this.before = new Comparison(server, "before", withAllOn);
  }

  /** Keep the changes of a store up to date with what is asked and shown. */
  follow(store: Store, ask: Signal<Ask>, open: (ask: Ask) => Open): void {
    effect(() => {
      if (store.byChange) this.before.follow(ask.value, open(ask.value));
    });
    effect(() => {
      const other = this.before.other.value;
      const { page } = store;
      const { kind } = store.selection.value;
      // Answers come one after the other: until both are of one text, there is nothing to compare.
      const alike = other !== null && alikeIn(page, other.page);
      store.changes.value = other && !alike && ask.value.generate ? new Map() : null;
      if (!store.byChange || !alike) return undefined;
      const abort = new AbortController();
      run(distances(page, other.page, kind), abort.signal, 8).then(
        (found) => {
          store.changes.value = found;
        },
        (error) => {
          if (!superseded(error)) throw error;
        },
      );
      return () => abort.abort();
    });
    effect(() => {
      store.changesFailed.value = this.before.trouble.value?.message ?? null;
    });
  }
}
