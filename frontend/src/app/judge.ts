// What lines are judged by, and how far their estimated worth agrees with exact cuts.

import { type Signal, signal } from "@preact/signals";
import type { Told } from "../data/wire";
import type { Store } from "../state/store";
import type { Ask } from "./address";
import * as api from "./api";
import { Latest } from "./latest";
import type { About, Judging, TraceQuestion } from "./records";
import { patiently, type Trouble } from "./server";

const MASK = /\[MASK\]|<mask>/;

/** Whether a model is asked for a word that is hidden from it. */
export const hides = (about: About | null | undefined): boolean =>
  about?.family === "encoder" && about.predictive;

/** What to judge lines by; null where a masked model has not been told which word to hide. */
export function judgingOf(
  { judged, how, text }: Ask,
  about: About | null | undefined,
  pinned: number | null,
): Judging | null {
  if (!hides(about) || judged.position !== null || MASK.test(text)) return { ...judged, how, check: 0 };
  return pinned === null ? null : { ...judged, how, position: pinned, check: 0 };
}

export class Judge {
  readonly trouble: Signal<Trouble | null> = signal(null); // why lines cannot be judged
  private readonly latest = new Latest();

  /** Lines are about to be judged, and then cut. */
  begin(store: Store | null): void {
    this.trouble.value = null;
    if (store) store.checking.value = true;
  }

  /** Cut some lines of the trace that is shown, and tell how far their estimates agree. */
  async check(store: Store, id: string, question: TraceQuestion): Promise<void> {
    const { page } = store;
    store.checking.value = true;
    try {
      const found = await this.latest.ask((signal) =>
        patiently(
          () => api.checkWorth(id, question, signal),
          signal,
          () => {},
        ),
      );
      if (!found || store.page !== page) return;
      const others = page.cautions.filter(({ code }) => !code?.startsWith("worth_"));
      const doubts: Told[] = (found.coded ?? [])
        .filter(({ code }) => code === "worth_unreliable")
        .map((one) => ({ ...one, text: "" }));
      store.enrich({ facts: { ...page.facts, worth: found }, cautions: [...others, ...doubts] });
    } catch {
      // the picture says that it was not compared
    } finally {
      if (store.page === page) store.checking.value = false;
    }
  }

  stop(): void {
    this.latest.stop();
  }
}
