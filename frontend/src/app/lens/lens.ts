// The next word over the layers: asked on request, for the token that the model is asked about; answers are kept.

import { type Signal, signal } from "@preact/signals";
import type { Ask } from "../address";
import * as api from "../api";
import { Latest } from "../latest";
import type { Lens } from "../records";
import { patiently, type Server, type Trouble, troubleOf } from "../server";

const POINTING = 120; // milliseconds for which a pointer rests
const KEPT = 64; // answers, so that going back to a token asks nothing

export class LensAnswers {
  readonly open: Signal<boolean> = signal(false);
  readonly found: Signal<Lens | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  private readonly latest = new Latest();
  private readonly kept = new Map<string, Lens>();
  private last = "";

  constructor(private readonly server: Server) {}

  get working(): Signal<boolean> {
    return this.latest.working;
  }

  /** Ask again when it is open and the text or the token changed; `position` null is the last one. */
  follow(ask: Ask, position: number | null): void {
    const { model, text, target, truncate, generate } = ask;
    const wanted = this.open.value && text.trim() !== "";
    const key = wanted ? JSON.stringify([model, text, target, truncate, generate, position]) : "";
    if (key === this.last) return;
    this.last = key;
    const known = this.kept.get(key);
    this.trouble.value = null;
    if (!wanted || known) {
      this.latest.stop();
      this.found.value = known ?? null;
    } else this.run(ask, position, key);
  }

  private async run(ask: Ask, position: number | null, key: string): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble;
    };
    try {
      const found = await this.latest.ask(
        (signal) =>
          patiently(() => api.lens(this.server.question(ask), ask.generate, position, signal), signal, tell),
        POINTING,
      );
      if (!found) return;
      this.kept.set(key, found);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
      this.found.value = found;
    } catch (error) {
      if (key !== this.last) return;
      this.found.value = null;
      tell(troubleOf(error));
    }
  }
}
