// The server and its models, as the page knows them; waiting for a model that is being loaded.

import { type Signal, signal } from "@preact/signals";
import { PayloadError } from "../data/wire";
import type { Values } from "../words";
import { type Ask, toldOf } from "./address";
import * as api from "./api";
import { ApiError } from "./api";
import { pause } from "./latest";
import type { ModelRecord, Question, ServerState } from "./records";

const POLL = 500; // milliseconds between two looks at a model that is being loaded
const RETRY = 2000; // milliseconds until a server that does not answer is tried again
const PATIENCE = 8; // seconds between two tries at most, while the server is busy

/** What went wrong: a code, and a sentence. */
export interface Trouble {
  code: string;
  message: string;
  values?: Values;
}

export type TellTrouble = (trouble: Trouble | null) => void;

export function troubleOf(error: unknown): Trouble {
  if (error instanceof ApiError) return { code: error.code, message: error.message, values: error.values };
  if (error instanceof PayloadError) return { code: error.code, message: error.message };
  return { code: "failed", message: error instanceof Error ? error.message : String(error) };
}

export class Server {
  readonly state: Signal<ServerState | null> = signal(null);
  readonly loading: Signal<ModelRecord | null> = signal(null); // the model that is on its way

  /** Ask the server what it has, until it answers. */
  async connect(tell: TellTrouble): Promise<ServerState> {
    for (;;) {
      try {
        const state = await api.state();
        this.state.value = state;
        tell(null);
        return state;
      } catch (error) {
        tell(troubleOf(error));
        await pause(RETRY, new AbortController().signal);
      }
    }
  }

  /** The name of the model that is asked. */
  nameOf({ model }: Pick<Ask, "model">): string {
    return model ?? this.state.value?.default ?? "";
  }

  record(name: string): ModelRecord | null {
    return this.state.value?.models.find((one) => one.name === name) ?? null;
  }

  /** What is asked about a text, without what the model does not take. */
  question(ask: Ask): Question {
    const { text, pair, target, truncate } = ask;
    const model = this.nameOf(ask);
    const told = toldOf(ask.chat);
    if (told) {
      const said = told.messages ? { messages: told.messages } : { text };
      return { ...said, model, truncate: false, pair: null, target: told.ids };
    }
    const about = this.record(model)?.about ?? null;
    return {
      text,
      model,
      truncate,
      pair: about?.pair !== false && pair.trim() ? pair : null,
      target: about?.target !== false && target.trim() ? target : null,
    };
  }

  /** Wait until a model is loaded; one that is not is loaded first. Its name, as the server calls it. */
  async ready(wanted: string, signal: AbortSignal, tell: TellTrouble): Promise<string> {
    if (this.record(wanted)?.state === "ready") return wanted;
    try {
      let record: ModelRecord | null = await patiently(() => api.load(wanted), signal, tell);
      const { name } = record;
      tell(null);
      while (record?.state === "loading") {
        this.loading.value = record;
        await pause(POLL, signal);
        await patiently(() => this.refresh(), signal, tell);
        record = this.record(name);
      }
      await patiently(() => this.refresh(), signal, tell);
      if (record?.state === "failed")
        throw new ApiError(record.code || "failed", record.message ?? "", null, record.values);
      return name;
    } finally {
      this.loading.value = null;
    }
  }

  private async refresh(): Promise<void> {
    const models = await api.models();
    const state = this.state.peek();
    if (state) this.state.value = { ...state, models };
  }
}

/** Try again by itself as long as the server is busy, or does not answer. */
export async function patiently<T>(
  job: () => Promise<T>,
  signal: AbortSignal,
  tell: TellTrouble,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof ApiError) || !["busy", "gone"].includes(error.code)) throw error;
      const busy = error.code === "busy";
      tell({ code: busy ? "busyAgain" : "gone", message: error.message });
      await pause(busy ? 1000 * Math.min((error.after ?? 1) * 1.3 ** tries, PATIENCE) : RETRY, signal);
    }
  }
}
