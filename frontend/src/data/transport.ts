// How bytes reach the views. A transport is anything that loads one payload: text in the page, a notebook's
// message, a server's answer. Nothing else in the front end knows which.

import { PayloadError } from "./packed";

export interface Transport {
  load(signal: AbortSignal): Promise<Uint8Array>;
}

/** Bytes that are already here (a notebook's model value). */
export function given(bytes: Uint8Array | DataView | ArrayBuffer): Transport {
  const view =
    bytes instanceof ArrayBuffer
      ? new Uint8Array(bytes)
      : new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  return { load: () => Promise.resolve(view) };
}

/** Text in elements of the page, in order. */
export function inline(elements: readonly Element[]): Transport {
  return {
    load() {
      const text = elements.map((element) => element.textContent ?? "");
      for (const element of elements) element.remove(); // the text is as large as the payload: let it go
      return Promise.resolve(fromText(text));
    },
  };
}

/** Bytes from a server of the same origin. */
export function http(url: string): Transport {
  return {
    async load(signal) {
      const response = await fetch(url, { signal });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}

const DIGITS = Array.from({ length: 0x7f - 0x28 }, (_, i) => i + 0x28).filter(
  (c) => c !== 0x3c && c !== 0x3e,
);
const BASE = DIGITS.length;
const FOURTH = BASE ** 4;

/** The bytes of a text in pieces: five digits of base 85, the lowest first, are a word of 32 bits. */
export function fromText(pieces: readonly string[]): Uint8Array {
  const words = new Uint32Array(pieces.reduce((sum, text) => sum + Math.floor(text.length / 5), 0));
  const digit = new Uint8Array(256).fill(255);
  DIGITS.forEach((code, value) => {
    digit[code] = value;
  });
  const coder = new TextEncoder();
  const chars = new Uint8Array(3 * Math.max(0, ...pieces.map((text) => text.length)));
  let at = 0;
  let odd = 0;
  for (const text of pieces) {
    const { written } = coder.encodeInto(text, chars);
    odd |= (written % 5) | read(chars.subarray(0, written), digit, words, at);
    at += Math.floor(text.length / 5);
  }
  if (odd) throw new PayloadError("damaged", "its text is not as it was written");
  return new Uint8Array(words.buffer);
}

/** Fill `words` from `start` on; returns 0 unless a character is no digit. */
function read(chars: Uint8Array, digit: Uint8Array, words: Uint32Array, start: number): number {
  let odd = 0;
  for (let i = 0, at = start; i + 4 < chars.length; i += 5, at++) {
    const a = digit[chars[i]];
    const b = digit[chars[i + 1]];
    const c = digit[chars[i + 2]];
    const d = digit[chars[i + 3]];
    const e = digit[chars[i + 4]];
    odd |= (a | b | c | d | e) & 128;
    words[at] = a + BASE * (b + BASE * (c + BASE * d)) + Math.imul(FOURTH, e);
  }
  return odd;
}
