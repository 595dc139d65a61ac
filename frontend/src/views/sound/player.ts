// The sound itself: the bytes of the page in an audio element, played from any moment.

import { type Signal, signal } from "@preact/signals";
import type { Medium } from "../../data/wire";

export class Player {
  readonly at: Signal<number | null> = signal(null); // seconds while it plays
  readonly failed = signal(false);
  private readonly url: string;
  private readonly audio: HTMLAudioElement;
  private frame = 0;

  constructor(medium: Medium) {
    // A copy: the page may still be arriving, and a buffer that grows cannot be handed on.
    this.url = URL.createObjectURL(new Blob([medium.data.raw().slice()], { type: medium.mime }));
    this.audio = new Audio(this.url);
    this.audio.preload = "auto";
    this.audio.addEventListener("ended", () => this.stop());
    this.audio.addEventListener("error", () => {
      this.failed.value = true;
      this.stop();
    });
  }

  /** Play from so many seconds on. */
  play(from = 0): void {
    this.audio.currentTime = from;
    this.audio.play().then(
      () => this.follow(),
      () => {
        this.failed.value = this.audio.error !== null;
      },
    );
    this.at.value = from;
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.audio.pause();
    this.at.value = null;
  }

  close(): void {
    this.stop();
    URL.revokeObjectURL(this.url);
  }

  private follow(): void {
    cancelAnimationFrame(this.frame);
    const tick = () => {
      if (this.audio.paused) return;
      this.at.value = this.audio.currentTime;
      this.frame = requestAnimationFrame(tick);
    };
    tick();
  }
}
