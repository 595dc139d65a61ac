// A conversation in this tab: what was said, what is being said, and what each token looked at. The server keeps nothing of
// it: every request has the whole conversation.

import { computed, type Signal, signal } from "@preact/signals";
import { asked, type Message, toldOf } from "../address";
import * as api from "../api";
import type { Glance, Shares } from "../records";
import { type Trouble, troubleOf } from "../server";
import type { Session } from "../session";
import { tintsOf } from "./tints";

export interface Word {
  id: number;
  text: string;
  shares: Shares | null; // where all its attention was; null if it was not seen
  looks: Glance[]; // the strongest first
}

export interface Turn extends Message {
  words?: Word[]; // of an answer that came here
  cut?: boolean; // it was as long as is allowed
}

const plain = ({ role, content }: Turn): Message => ({ role, content });

export class Chat {
  readonly turns: Signal<Turn[]> = signal([]);
  readonly draft = signal("");
  readonly temperature = signal(0);
  readonly seed = signal(0);
  readonly trouble: Signal<Trouble | null> = signal(null);
  readonly pointed: Signal<Word | null> = signal(null);
  private readonly abort: Signal<AbortController | null> = signal(null);
  readonly speaking = computed(() => this.abort.value !== null);

  constructor(private readonly session: Session) {}

  /** The word whose looks are shown: pointed at, or the last one that is no mark. */
  readonly word = computed<Word | null>(
    () =>
      this.pointed.value ??
      this.turns.value
        .at(-1)
        ?.words?.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
        .at(-1) ??
      null,
  );

  /** What of the conversation is tinted, by turn: that at which this word looked. */
  readonly tints = computed(() => tintsOf(this.word.value));

  /** The largest share of the attention that one of these has. */
  readonly most = computed(() => this.word.value?.looks[0]?.[2] ?? 0);

  /** Say what was typed, and hear the answer. */
  async send(): Promise<void> {
    const content = this.draft.peek().trim();
    if (!content || this.speaking.peek()) return;
    this.draft.value = "";
    this.turns.value = [...this.turns.peek(), { role: "user", content }];
    await this.answer();
  }

  /** What the user said differently: the conversation goes on from there. */
  edit(at: number): void {
    this.stop();
    this.draft.value = this.turns.peek()[at].content;
    this.turns.value = this.turns.peek().slice(0, at);
  }

  /** Another answer to the last message. */
  async again(): Promise<void> {
    this.seed.value += 1;
    if (this.temperature.peek() === 0) this.temperature.value = 1;
    this.turns.value = this.turns.peek().slice(0, -1);
    await this.answer();
  }

  clear(): void {
    this.stop();
    this.turns.value = [];
    this.trouble.value = null;
  }

  stop(): void {
    this.abort.peek()?.abort();
  }

  /** Go on with the conversation that is shown. */
  take(): void {
    const told = toldOf(this.session.ask.peek().chat);
    if (!told?.messages || this.turns.peek().length) return;
    const { messages, answer } = told;
    this.turns.value = [...messages, ...(answer ? [{ role: "assistant", content: answer }] : [])];
  }

  private async answer(): Promise<void> {
    const own = new AbortController();
    const before = this.turns.peek();
    const words: Word[] = [];
    let told = "";
    this.abort.value = own;
    this.trouble.value = null;
    this.pointed.value = null;
    const show = (more: Partial<Turn> = {}) => {
      const content = told + (more.content ?? "");
      this.turns.value = [...before, { role: "assistant", words: words.slice(), ...more, content }];
    };
    try {
      const model = await this.session.server.ready(
        this.session.server.nameOf(this.session.ask.peek()),
        own.signal,
        (trouble) => (this.trouble.value = trouble),
      );
      const settings = { temperature: this.temperature.peek(), seed: this.seed.peek() };
      for await (const event of api.chat({ messages: before.map(plain), model, ...settings }, own.signal)) {
        if (event.error) throw new api.ApiError(event.error, event.message ?? "");
        if (event.id !== undefined) {
          const { id, text = "", shares = null, looks = [] } = event;
          words.push({ id, text, shares, looks });
          told += event.text ?? "";
        }
        show(event.end ? { content: event.text, cut: event.end === "length" } : {});
      }
    } catch (error) {
      if (!own.signal.aborted) this.trouble.value = troubleOf(error);
    }
    if (this.abort.peek() === own) this.abort.value = null;
    if (this.turns.peek().length < before.length) return; // edited meanwhile
    const answer = this.turns.peek().at(-1)?.content;
    if (words.length)
      this.session.change(asked({ messages: before.map(plain), ids: words.map(({ id }) => id), answer }));
    else if (this.trouble.peek()) this.unsaid(before);
  }

  /** A message that was not answered goes back to where it was typed. */
  private unsaid(before: Turn[]): void {
    this.draft.value ||= before.at(-1)?.content ?? "";
    this.turns.value = before.slice(0, -1);
  }
}
