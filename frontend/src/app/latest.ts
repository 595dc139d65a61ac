// Only the last question counts: it waits until nobody types, gives up the one before, and says when it takes long.

import { type Signal, signal } from "@preact/signals";

const PATIENCE = 150; // milliseconds after which a reader should see that something is going on

export class Latest {
  /** Whether an answer has been waited for so long that one should say so. */
  readonly working: Signal<boolean> = signal(false);
  private current: AbortController | null = null;

  /** Start `job` after `delay` ms, unless a newer one comes; resolves to undefined where one did. */
  async ask<T>(job: (signal: AbortSignal) => Promise<T>, delay = 0): Promise<T | undefined> {
    this.current?.abort();
    const mine = new AbortController();
    this.current = mine;
    const patience = setTimeout(() => {
      if (this.current === mine) this.working.value = true;
    }, delay + PATIENCE);
    try {
      if (delay) await pause(delay, mine.signal);
      const answer = await job(mine.signal);
      return mine.signal.aborted ? undefined : answer;
    } catch (error) {
      if (mine.signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(patience);
      if (this.current === mine) {
        this.current = null;
        this.working.value = false;
      }
    }
  }

  /** Give up what is under way. */
  stop(): void {
    this.current?.abort();
    this.current = null;
    this.working.value = false;
  }
}

/** Wait; rejects when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
