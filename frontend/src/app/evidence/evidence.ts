// The sentences that an answer came from: asked on request, for the text that is shown; answers are kept.

import { type Signal, signal } from "@preact/signals";
import type { Ask } from "../address";
import * as api from "../api";
import { Latest } from "../latest";
import type { Evidence } from "../records";
import { patiently, type Server, type Trouble, troubleOf } from "../server";

const KEPT = 16; // answers, so that going back to a text asks nothing

export const MEASURES = ["worth", "contribution", "attention"] as const;
export type Measure = (typeof MEASURES)[number];

export class EvidenceAnswers {
  readonly open: Signal<boolean> = signal(false);
  readonly by: Signal<Measure> = signal("worth");
  readonly found: Signal<Evidence | null> = signal(null);
  readonly trouble: Signal<Trouble | null> = signal(null);
  private readonly latest = new Latest();
  private readonly kept = new Map<string, Evidence>();
  private last = "";

  constructor(private readonly server: Server) {}

  /** Ask again when it is open and the text or its answer changed. */
  follow(ask: Ask): void {
    const { model, text, target, chat, truncate, generate } = ask;
    const wanted = this.open.value && text.trim() !== "";
    const key = wanted ? JSON.stringify([model, text, target, chat, truncate, generate]) : "";
    if (key === this.last) return;
    this.last = key;
    this.trouble.value = null;
    this.latest.stop();
    this.found.value = this.kept.get(key) ?? null;
    if (wanted && !this.found.value) this.run(ask, key);
  }

  private async run(ask: Ask, key: string): Promise<void> {
    const tell = (trouble: Trouble | null) => {
      this.trouble.value = trouble;
    };
    try {
      const found = await this.latest.ask(
        (signal) =>
          patiently(() => api.evidence(this.server.question(ask), ask.generate, signal), signal, tell),
        0,
      );
      if (!found) return;
      this.kept.set(key, found);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
      tell(null);
      this.found.value = found;
    } catch (error) {
      if (key === this.last) tell(troubleOf(error));
    }
  }
}

/** The measures that there are: contributions and worth are not known of every model. */
export const measuresOf = ({ sentences: [first] }: Evidence): Measure[] =>
  MEASURES.filter((name) => first[name] !== null);

/** The sentences, best evidence first. */
export const ranked = ({ sentences }: Evidence, by: Measure): Evidence["sentences"] =>
  [...sentences].sort((a, b) => b[by]! - a[by]!);

export interface Piece {
  text: string;
  value: number | null; // of a token of a sentence, as a share of the largest; null for what is between tokens
  best: boolean; // whether it is in the best sentence
}

/** The prompt in pieces: its tokens with their scores, and what is between them. */
export function piecesOf({ prompt, tint, sentences }: Evidence, by: Measure): Piece[] {
  const most = Math.max(...tint.map((token) => Math.abs(token[by]!))) || 1;
  const best = sentences.reduce((a, b) => (b[by]! > a[by]! ? b : a));
  const letters = [...prompt]; // Python counts characters, JavaScript halves of some
  const text = (start: number, end: number) => letters.slice(start, end).join("");
  const found: Piece[] = [];
  let done = 0;
  for (const token of tint) {
    const start = Math.max(done, token.start);
    if (start > done) found.push({ text: text(done, start), value: null, best: false });
    const value = token[by]! / most;
    const inside = best.start < token.end && token.end <= best.end;
    if (token.end > start) found.push({ text: text(start, token.end), value, best: inside });
    else found.at(-1)!.value! += value; // several tokens of one character
    done = Math.max(done, token.end);
  }
  found.push({ text: text(done, letters.length), value: null, best: false });
  return found.filter(({ text }) => text !== "");
}
