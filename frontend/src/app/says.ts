// What the model says of the text that is shown, after the last token or the one that is pointed at; or of a file.

import { type Signal, signal } from "@preact/signals";
import type { Ask } from "./address";
import * as api from "./api";
import { Latest } from "./latest";
import type { Said } from "./records";
import { patiently, type Server } from "./server";

const POINTING = 120; // milliseconds for which a pointer rests, or nobody types
const KEPT = 64; // answers, so that going back to a token asks nothing

export class Says {
  readonly found: Signal<Said | null> = signal(null);
  readonly awaited: Signal<boolean> = signal(true); // whether an answer is on its way, or will be
  private readonly latest = new Latest();
  private readonly kept = new Map<string, Said>();
  private last = "";

  constructor(private readonly server: Server) {}

  get working(): Signal<boolean> {
    return this.latest.working;
  }

  /** Ask again when text, file, heads or token changed; `position` null is the last one. Of a file all of it is asked. */
  follow(ask: Ask, pointed: number | null, file: File | null = null): void {
    const position = file ? null : pointed;
    const { model, text, pair, target, chat, truncate, generate, off, mode } = ask;
    const about = this.server.record(this.server.nameOf(ask))?.about;
    const empty = text.trim() === "" && !file;
    const wanted = !empty && about != null;
    const key = wanted
      ? JSON.stringify([
          model,
          text,
          pair,
          target,
          chat,
          truncate,
          generate,
          off,
          mode,
          position,
          nameOf(file),
        ])
      : "";
    if (key === this.last) return;
    this.last = key;
    const known = this.kept.get(key);
    if (!wanted || known) {
      this.latest.stop();
      this.awaited.value = !empty && !known; // until the model is there
      this.found.value = known ?? null;
    } else this.run(ask, position, file, key);
  }

  private async run(ask: Ask, position: number | null, file: File | null, key: string): Promise<void> {
    this.awaited.value = true;
    const quiet = () => {}; // the picture's own question tells what is wrong
    try {
      const found = await this.latest.ask(
        (signal) => patiently(() => this.said(ask, position, file, signal), signal, quiet),
        POINTING,
      );
      if (!found) return; // another question took its place
      this.kept.set(key, found);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
      this.found.value = found;
    } catch {
      this.found.value = null;
    }
    this.awaited.value = false;
  }

  private said(ask: Ask, position: number | null, file: File | null, signal: AbortSignal): Promise<Said> {
    const question = this.server.question(ask);
    if (!file) return api.says(question, ask, position, signal);
    const reads = this.server.record(this.server.nameOf(ask))?.about?.text !== false;
    return api.saysOfMedium(file, reads ? question : { ...question, text: "" }, ask, signal);
  }
}

/** What tells one file from another. */
const nameOf = (file: File | null) => file && [file.name, file.size, file.lastModified];
