// The payload of a saved page, which is text in many elements, while the browser still reads the page. Enters: the
// document. Leaves: bytes, the first of them long before the last.

import { PayloadError } from "./packed";

/** A payload whose first bytes may be here before its last. */
export interface Arriving {
  readonly bytes: Uint8Array; // as many as there will be; zeros where nothing has come yet
  readonly here: number; // how many have come
  /** Wait until so many bytes are here; all of them unless told. What nobody waits for is not read. */
  until(end?: number): Promise<void>;
}

const DIGITS = Array.from({ length: 0x7f - 0x28 }, (_, i) => i + 0x28).filter(
  (c) => c !== 0x3c && c !== 0x3e,
);
const BASE = DIGITS.length;
const FOURTH = BASE ** 4;
const NONE = 255; // of characters that are no digit
const VALUES = new Uint8Array(256).fill(NONE);
DIGITS.forEach((code, value) => {
  VALUES[code] = value;
});

/** Pieces of text in order: five digits of base 85, the lowest first, are a word of 32 bits. */
export class Pieces implements Arriving {
  readonly bytes: Uint8Array;
  here = 0;
  private readonly words: Uint32Array;
  private readonly coder = new TextEncoder();
  private characters = new Uint8Array(0);
  private trouble: PayloadError | null = null;
  private over = false;
  private waiting: (() => void)[] = [];
  /** How many bytes somebody waits for. */
  wanted = 0;
  /** Reads what has come of them. */
  pull: () => void = () => {};

  constructor(length: number) {
    if (!(length > 0 && length % 4 === 0))
      throw new PayloadError("damaged", `it should have ${length} bytes`);
    this.bytes = new Uint8Array(length);
    this.words = new Uint32Array(this.bytes.buffer);
  }

  /** The next piece. */
  add(text: string): void {
    if (this.characters.length < 3 * text.length) this.characters = new Uint8Array(3 * text.length);
    const { written } = this.coder.encodeInto(text, this.characters);
    const count = written / 5;
    const start = this.here / 4;
    if (!Number.isInteger(count) || start + count > this.words.length || this.read(count, start))
      this.trouble ??= new PayloadError("damaged", "its text is not as it was written");
    else this.here += 4 * count;
  }

  /** Tell those who wait; `over` where nothing more will come. */
  tell(over: boolean): void {
    this.over = over;
    for (const wake of this.waiting.splice(0)) wake();
  }

  async until(end = this.bytes.length): Promise<void> {
    this.wanted = Math.max(this.wanted, end);
    this.pull();
    while (this.here < end) {
      if (this.over)
        this.trouble ??= new PayloadError("damaged", `${this.here} of ${this.bytes.length} bytes`);
      if (this.trouble) throw this.trouble;
      await new Promise<void>((wake) => this.waiting.push(wake));
    }
  }

  /** Fill words from `start` on; true where a character is no digit. */
  private read(count: number, start: number): boolean {
    const { characters, words } = this;
    let odd = 0;
    for (let i = 0, at = start; at < start + count; i += 5, at++) {
      const a = VALUES[characters[i]];
      const b = VALUES[characters[i + 1]];
      const c = VALUES[characters[i + 2]];
      const d = VALUES[characters[i + 3]];
      const e = VALUES[characters[i + 4]];
      odd |= (a | b | c | d | e) & 128;
      words[at] = a + BASE * (b + BASE * (c + BASE * d)) + Math.imul(FOURTH, e);
    }
    return odd !== 0;
  }
}

/** The pieces in a document's body, as the browser comes to them. */
export function piecesIn(doc: Document, length: number): Pieces {
  const pieces = new Pieces(length);
  const take = () => {
    const over = doc.readyState !== "loading";
    const all = [...doc.querySelectorAll("body > script[type='text/plain']")];
    if (!over && !all.at(-1)?.nextElementSibling) all.pop(); // it may not be complete
    let taken = 0;
    for (const element of all) {
      if (pieces.here >= pieces.wanted) break;
      pieces.add(element.textContent ?? "");
      element.remove(); // the text is as large as the payload: let it go
      taken += 1;
    }
    if (over) watch.disconnect();
    if (taken || over) pieces.tell(over && taken === all.length);
  };
  const watch = new MutationObserver(take);
  watch.observe(doc.body, { childList: true });
  doc.addEventListener("readystatechange", take, { once: true });
  pieces.pull = take;
  return pieces;
}
