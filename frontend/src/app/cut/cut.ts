// What cutting looks changes: what the model says before and after, then the same for random lines of equal weight.

import { type Signal, signal } from "@preact/signals";
import type { Ask } from "../address";
import * as api from "../api";
import { Latest } from "../latest";
import type { Cut } from "../records";
import { patiently, type Server, type Trouble, troubleOf } from "../server";

const CONTROLS = 16; // random sets of lines that a cut is compared with
const KEPT = 64; // answers, so that going back asks nothing

export class Cuts {
  readonly found: Signal<Cut | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  readonly fresh: Signal<boolean> = signal(true); // whether what was found is what is asked
  readonly comparing: Signal<boolean> = signal(false); // whether random lines are still to come
  private readonly latest = new Latest();
  private readonly kept = new Map<string, Cut>();
  private last = "";

  constructor(private readonly server: Server) {}

  /** Ask again when the text, the looks or the token changed; `position` null leaves it to the model. */
  follow(ask: Ask, position: number | null): void {
    const { model, text, pair, target, chat, truncate, generate, cut, how, judged } = ask;
    const wanted = cut.length > 0 && text.trim() !== "";
    const key = wanted
      ? JSON.stringify([
          model,
          text,
          pair,
          target,
          chat,
          truncate,
          generate,
          cut,
          how,
          judged.token,
          position,
        ])
      : "";
    if (key === this.last) return;
    this.last = key;
    this.trouble.value = null;
    const known = this.kept.get(key);
    if (wanted && !known) {
      this.run(ask, position, key);
      return;
    }
    this.latest.stop();
    this.comparing.value = false;
    this.fresh.value = true;
    this.found.value = known ?? null;
  }

  /** Once more, after something went wrong. */
  again(ask: Ask, position: number | null): void {
    this.last = "";
    this.follow(ask, position);
  }

  private async run(ask: Ask, position: number | null, key: string): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble;
    };
    const question = this.server.question(ask);
    const asked = (controls: number, signal: AbortSignal) =>
      patiently(() => api.cut(question, ask, position, controls, signal), signal, tell);
    try {
      await this.latest.ask(async (signal) => {
        this.fresh.value = false;
        this.comparing.value = true;
        const first = await asked(0, signal); // the numbers at once, what they are compared with after them
        signal.throwIfAborted();
        tell(null);
        this.fresh.value = true;
        this.found.value = first;
        const whole = await asked(CONTROLS, signal);
        signal.throwIfAborted();
        this.comparing.value = false;
        this.found.value = whole;
        this.kept.set(key, whole);
        if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
      });
    } catch (error) {
      this.comparing.value = false;
      if (!this.fresh.peek()) this.found.value = null; // it was of something else
      tell(troubleOf(error));
    }
  }
}
