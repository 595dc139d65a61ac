// Rules that somebody types: which heads of the text that is shown follow one, and those that are saved as patterns.

import { effect, type Signal, signal } from "@preact/signals";
import { decode } from "../data/wire";
import type { Store } from "../state/store";
import * as api from "./api";
import { Latest } from "./latest";
import { merged, type Shown } from "./layers";
import type { Followed, SavedRule } from "./records";
import { type Trouble, troubleOf } from "./server";

export class Rules {
  readonly asked: Signal<string> = signal(""); // the rule that is looked for; empty for none
  readonly found: Signal<Followed | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  readonly saved: Signal<SavedRule[]> = signal([]);
  private readonly latest = new Latest();

  get working(): Signal<boolean> {
    return this.latest.working;
  }

  /** Keep what a store shows up to date with the rule and with the text that is shown. */
  follow(store: Store, shown: Signal<Shown | null>): void {
    this.read(() => api.rules());
    effect(() => {
      const [rule, id] = [this.asked.value, shown.value?.id];
      this.found.value = null;
      this.trouble.value = null;
      if (rule && id) this.ask(rule, id);
      else this.latest.stop();
    });
    effect(() => {
      const found = this.found.value;
      store.followed.value = found && {
        rule: found.rule,
        lifts: new Map(
          found.heads.map((one) => [`${one.kind} ${one.layer} ${one.part} ${one.head}`, one.lift]),
        ),
      };
    });
  }

  private async ask(rule: string, id: string): Promise<void> {
    try {
      const found = await this.latest.ask((signal) => api.follow(id, rule, signal));
      if (found) this.found.value = found;
    } catch (error) {
      this.trouble.value = troubleOf(error);
    }
  }

  /** Save the rule that is looked for under a name; the heads that follow it are named at once. */
  async save(name: string, store: Store, shown: Shown | null): Promise<boolean> {
    const kept = await this.read(() => api.saveRule(name, this.asked.peek()));
    if (kept) await this.rename(store, shown);
    return kept;
  }

  async forget(name: string, store: Store, shown: Shown | null): Promise<void> {
    if (await this.read(() => api.forgetRule(name))) await this.rename(store, shown);
  }

  private async read(job: () => Promise<SavedRule[]>): Promise<boolean> {
    try {
      this.saved.value = await job();
      this.trouble.value = null;
      return true;
    } catch (error) {
      this.trouble.value = troubleOf(error);
      return false;
    }
  }

  /** What the heads do, once more, with the rules that are saved now. */
  private async rename(store: Store, shown: Shown | null): Promise<void> {
    if (!shown) return;
    try {
      const told = decode(await api.report(shown.id, new AbortController().signal));
      if (store.page === shown.page) store.enrich(merged(shown.page, told));
    } catch (error) {
      this.trouble.value = troubleOf(error);
    }
  }
}
