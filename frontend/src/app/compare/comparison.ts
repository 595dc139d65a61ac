// What is shown, compared with another input, another model, or the same without switching off.

import { type Signal, signal } from "@preact/signals";
import { release } from "../../compute/attention";
import { decode } from "../../data/wire";
import type { Ask } from "../address";
import * as api from "../api";
import { Latest } from "../latest";
import type { Shown } from "../layers";
import type { Open } from "../records";
import { patiently, type Server, type Trouble, troubleOf } from "../server";

const TYPING = 150; // milliseconds without a key

export class Comparison {
  readonly other: Signal<Shown | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  private readonly latest = new Latest();
  private last = "";

  constructor(
    private readonly server: Server,
    private readonly part = "b", // tells its questions from others that are asked at the same time
    private readonly wantedOf: (ask: Ask, name: string) => Ask | null = otherOf,
  ) {}

  get working(): Signal<boolean> {
    return this.latest.working;
  }

  /** Ask for the other side when it changed. */
  follow(ask: Ask, open: Open): void {
    const wanted = this.wantedOf(ask, this.server.nameOf(ask));
    const key = wanted ? JSON.stringify({ ...wanted, other: null }) : "";
    if (key === this.last) return;
    this.last = key;
    this.trouble.value = null;
    if (wanted) this.run(wanted, open);
    else {
      this.latest.stop();
      this.put(null);
    }
  }

  private async run(wanted: Ask, open: Open): Promise<void> {
    const tell = (trouble: Trouble | null) => (this.trouble.value = trouble);
    try {
      const found = await this.latest.ask(async (signal): Promise<Shown> => {
        const model = await this.server.ready(this.server.nameOf(wanted), signal, tell);
        const ablate = wanted.off.length ? { heads: wanted.off, mode: wanted.mode } : null;
        const question = { ...this.server.question(wanted), generate: null, ablate, open };
        const answer = await patiently(() => api.trace(question, this.part, signal), signal, tell);
        return { id: answer.id, model, page: decode(answer.bytes) };
      }, TYPING);
      if (!found) return;
      this.put(found);
      tell(null);
    } catch (error) {
      tell(troubleOf(error));
    }
  }

  private put(next: Shown | null): void {
    const old = this.other.peek();
    this.other.value = next;
    if (old) release(old.page.sites);
  }

  stop(): void {
    this.latest.stop();
  }
}

/** What the other side asks for; null where there is nothing to compare with yet. */
export function otherOf(ask: Ask, name: string): Ask | null {
  const { other } = ask;
  if (other.with === "text")
    return other.text.trim() ? { ...ask, text: other.text, pair: other.pair, target: "", chat: "" } : null;
  if (other.with === "on") return ask.off.length ? { ...ask, off: [] } : null;
  return other.model && other.model !== name ? { ...ask, model: other.model, off: [], target: "" } : null;
}
