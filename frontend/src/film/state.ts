// What is chosen in a film: the moment, the pattern, the head; whether it plays.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { isResting } from "../data/report";
import type { Theme } from "../marks/scales";
import { type Key, type Language, say, type Values } from "../words";
import type { Birth, Film, Frame } from "./data";

const LENGTH = 9000; // milliseconds of the whole film
const [FASTEST, SLOWEST] = [40, 400]; // milliseconds of a frame

/** The pattern with the highest lift. */
function strongest({ heads }: Frame): string | undefined {
  const all = heads.flatMap(({ lifts }) => Object.entries(lifts));
  return all.sort(([, [one]], [, [other]]) => other - one)[0]?.[0];
}

export class Projector {
  readonly at: Signal<number>;
  readonly pattern: Signal<string>;
  readonly kind: Signal<string>;
  readonly head: Signal<number>; // its place among the heads of a frame
  readonly playing = signal(false);
  readonly frame: ReadonlySignal<Frame>;
  readonly patterns: string[];
  readonly kinds: string[];
  private timer = 0;

  constructor(
    readonly film: Film,
    readonly theme: Signal<Theme>,
    readonly language: Signal<Language>,
  ) {
    const { frames } = film;
    const { heads } = frames[0];
    const born = this.born[0];
    this.kinds = [...new Set(heads.map(({ kind }) => kind))];
    this.patterns = [...new Set(frames.at(-1)!.heads.flatMap(({ lifts }) => Object.keys(lifts)))];
    this.at = signal(frames.length - 1);
    this.pattern = signal(born?.name ?? strongest(frames.at(-1)!) ?? "");
    this.kind = signal(born?.kind ?? this.kinds[0]);
    this.head = signal(born ? this.place(born) : 0);
    this.frame = computed(() => frames[this.at.value]);
  }

  /** Names that heads got in training and kept, of each the head that does it most. */
  get born(): Birth[] {
    const all = this.film.births.filter(
      ({ step, name, lift }) => step !== null && lift[0] !== null && !isResting(name),
    );
    return all.filter((one, place) => all.findIndex(({ name }) => name === one.name) === place);
  }

  readonly tell = (key: Key, values?: Values): string => say(this.language.value, key, values);

  /** Where a head stands among those of a frame. */
  place(one: { kind: string; layer: number; head: number }): number {
    const { heads } = this.film.frames[0];
    return heads.findIndex((h) => h.kind === one.kind && h.layer === one.layer && h.head === one.head);
  }

  go(place: number): void {
    this.at.value = Math.max(0, Math.min(this.film.frames.length - 1, place));
  }

  /** Play from here, or from the beginning if this is the end; or stop. */
  toggle(): void {
    clearInterval(this.timer);
    this.playing.value = !this.playing.value;
    if (!this.playing.value) return;
    const last = this.film.frames.length - 1;
    if (this.at.value === last) this.at.value = 0;
    const pause = Math.max(FASTEST, Math.min(SLOWEST, LENGTH / (last + 1)));
    this.timer = window.setInterval(() => {
      if (this.at.value < last) this.at.value++;
      else this.toggle();
    }, pause);
  }
}
