// Why a head looks where it looks: asked on request, look by look; answers of one text are kept.

import { batch, computed, type Signal, signal } from "@preact/signals";
import { type Look, sameLook } from "../../state/edges";
import { type Ask, LOOKS, lookName } from "../address";
import * as api from "../api";
import { Latest } from "../latest";
import type { Why } from "../records";
import { patiently, type Server, type Trouble, troubleOf } from "../server";
import { askedAfter, type Line, linesOf } from "./chain";

const KEPT = 2 * LOOKS; // answers: those of all looks that can be asked about, and as many for going back

export class Reasons {
  readonly answers: Signal<ReadonlyMap<string, Why>> = signal(new Map());
  readonly asked: Signal<readonly Look[]> = signal([]);
  readonly pending: Signal<Look | null> = signal(null);
  readonly trouble: Signal<(Trouble & { look: Look }) | null> = signal(null);
  readonly checking: Signal<Look | null> = signal(null);
  readonly lines = computed<Line[]>(() => linesOf(this.asked.value, this.answers.value));
  private readonly latest = new Latest();
  private readonly checks = new Latest();
  private text = ""; // what the answers are about

  constructor(private readonly server: Server) {}

  answer(look: Look): Why | null {
    return this.answers.value.get(lookName(look)) ?? null;
  }

  /** What is asked when one more look is. */
  after(look: Look): Look[] {
    return [...askedAfter(this.asked.peek(), look, this.answers.peek())].slice(-LOOKS);
  }

  /** Ask what has not been answered yet; another text begins anew. */
  follow(ask: Ask): void {
    const { model, text, pair, target, chat, generate, truncate } = ask;
    const about = JSON.stringify([model, text, pair, target, chat, generate, truncate]);
    batch(() => {
      if (about !== this.text) {
        this.answers.value = new Map();
        this.checks.stop();
        this.checking.value = null;
        this.stop();
      }
      this.text = about;
      this.asked.value = ask.why;
    });
    const next = ask.why.find((look) => !this.answers.peek().has(lookName(look)));
    if (!next) this.stop();
    else if (!this.pending.peek() || !sameLook(this.pending.peek()!, next)) this.run(ask, next);
  }

  /** Once more, after something went wrong. */
  again(ask: Ask): void {
    this.stop();
    this.follow(ask);
  }

  private stop(): void {
    this.latest.stop();
    this.pending.value = null;
    this.trouble.value = null;
  }

  private async run(ask: Ask, look: Look): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble && { ...trouble, look };
    };
    this.pending.value = look;
    tell(null);
    try {
      const found = await this.latest.ask((signal) =>
        patiently(() => api.why(this.server.question(ask), look, ask.generate, false, signal), signal, tell),
      );
      if (!found) return;
      this.keep(look, found);
      this.pending.value = null;
      this.follow(ask);
    } catch (error) {
      tell(troubleOf(error)); // `pending` stays: the same is not asked again by itself
    }
  }

  private keep(look: Look, found: Why): void {
    const answers = new Map(this.answers.peek()).set(lookName(look), found);
    if (answers.size > KEPT) answers.delete(answers.keys().next().value!);
    this.answers.value = answers;
  }

  /** Remove parts for real, and see whether that ranks them alike. */
  async check(ask: Ask, look: Look): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble && { ...trouble, look };
    };
    this.checking.value = look;
    tell(null);
    try {
      const found = await this.checks.ask((signal) =>
        patiently(() => api.why(this.server.question(ask), look, ask.generate, true, signal), signal, tell),
      );
      if (found) this.keep(look, found);
    } catch (error) {
      tell(troubleOf(error));
    }
    if (this.checking.peek() === look) this.checking.value = null;
  }
}
