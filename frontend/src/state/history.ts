// The browser's history of what was chosen: Back, or Ctrl-Z, goes to what was chosen before.

const TYPED = ["text", "pair", "target", "otherText", "otherPair", "threshold", "step"]; // changed bit by bit
const PAUSE = 1000; // milliseconds without a change, after which the next one is a choice of its own
const HELD = 150; // the same for all else, so that a key held down is one choice
const KEPT = 200; // choices kept in memory

/** Which parts of an address differ. */
function changed(before: string, after: string): string[] {
  const [a, b] = [before, after].map((hash) => new URLSearchParams(hash.replace(/^#/, "")));
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name)).sort();
}

/** Keeps addresses, each choice as a place that one can go back to. */
export class Trail {
  private last = ""; // what changed last
  private at = Number.NEGATIVE_INFINITY;
  private fresh = true; // nothing has been written yet: what a page opens with is no choice

  /** Whether a change begins a new choice, rather than going on with the last one. */
  begins(before: string, after: string, now: number): boolean {
    const names = changed(before, after);
    const what = names.join();
    const pause = names.every((name) => TYPED.includes(name)) ? PAUSE : HELD;
    const goesOn = what === this.last && now - this.at < pause;
    this.last = what;
    this.at = now;
    return !goesOn;
  }

  /** Write an address; `own` is a change that the page made by itself, which nobody wants to undo. */
  write(hash: string, own = false): void {
    const { fresh } = this;
    this.fresh = false;
    if (hash === location.hash) return;
    const begins = !own && this.begins(location.hash, hash, performance.now());
    const depth = depthOf(history.state);
    if (fresh || !begins) history.replaceState({ regard: depth }, "", hash);
    else history.pushState({ regard: depth + 1 }, "", hash);
  }

  /** The reader went back or forth: what comes next is a choice of its own. */
  moved(): void {
    this.last = "";
    this.fresh = false;
  }

  /** Go one choice back, but never out of the page. */
  readonly undo = (): void => {
    if (depthOf(history.state) > 0) history.back();
  };

  readonly redo = (): void => history.forward();
}

const depthOf = (state: unknown): number => Number((state as { regard?: number } | null)?.regard ?? 0);

/** The same without an address, as in a notebook cell: states are kept in memory. */
export class Memory<T> {
  private readonly before: T[] = [];
  private readonly after: T[] = [];
  private at = Number.NEGATIVE_INFINITY;

  constructor(
    private current: T,
    private readonly put: (state: T) => void,
  ) {}

  /** Something was chosen; what follows within a moment belongs to it. */
  note(state: T, now: number): void {
    if (JSON.stringify(state) === JSON.stringify(this.current)) return;
    if (now - this.at >= HELD) this.before.push(this.current);
    if (this.before.length > KEPT) this.before.shift();
    this.after.length = 0;
    this.current = state;
    this.at = now;
  }

  readonly undo = (): void => this.move(this.before, this.after);

  readonly redo = (): void => this.move(this.after, this.before);

  private move(from: T[], to: T[]): void {
    const state = from.pop();
    if (state === undefined) return;
    to.push(this.current);
    this.current = state;
    this.at = Number.NEGATIVE_INFINITY;
    this.put(state);
  }
}
