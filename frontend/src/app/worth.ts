// What the heads that are switched off were worth: what the model says with and without them.

import { type Signal, signal } from "@preact/signals";
import type { Ask } from "./address";
import * as api from "./api";
import { Latest } from "./latest";
import type { Effect } from "./records";
import { patiently, type Server, type Trouble, troubleOf } from "./server";

const TYPING = 150; // milliseconds without a key

export class Worth {
  readonly found: Signal<Effect | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  private readonly latest = new Latest();
  private last = "";

  constructor(private readonly server: Server) {}

  get working(): Signal<boolean> {
    return this.latest.working;
  }

  /** Measure again when text or heads changed. */
  follow(ask: Ask): void {
    const { model, text, pair, target, chat, truncate, off } = ask;
    const wanted = off.length > 0 && text.trim() !== "";
    const key = wanted ? JSON.stringify([model, text, pair, target, chat, truncate, off]) : "";
    if (key === this.last) return;
    this.last = key;
    this.trouble.value = null;
    if (wanted) this.run(ask);
    else {
      this.latest.stop();
      this.found.value = null;
    }
  }

  private async run(ask: Ask): Promise<void> {
    const tell = (trouble: Trouble | null) => (this.trouble.value = trouble);
    try {
      const found = await this.latest.ask(
        (signal) => patiently(() => api.effect(this.server.question(ask), ask.off, signal), signal, tell),
        TYPING,
      );
      if (!found) return;
      this.found.value = found;
      tell(null);
    } catch (error) {
      tell(troubleOf(error));
    }
  }

  stop(): void {
    this.latest.stop();
  }
}
