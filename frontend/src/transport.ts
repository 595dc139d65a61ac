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

/** Text in an element of the page. */
export function inline(element: Element): Transport {
  return {
    load() {
      const text = element.textContent ?? "";
      element.textContent = ""; // the text is as large as the payload: let it go
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

/** The bytes of a text: five digits of base 85, the lowest first, are a word of 32 bits. */
export function fromText(text: string): Uint8Array {
  const chars = new TextEncoder().encode(text);
  const words = new Uint32Array(chars.length / 5);
  const digit = new Uint8Array(256).fill(255);
  DIGITS.forEach((code, value) => {
    digit[code] = value;
  });
  let odd = chars.length % 5;
  for (let i = 0, at = 0; i < words.length; i++, at += 5) {
    const a = digit[chars[at]];
    const b = digit[chars[at + 1]];
    const c = digit[chars[at + 2]];
    const d = digit[chars[at + 3]];
    const e = digit[chars[at + 4]];
    odd |= (a | b | c | d | e) & 128;
    words[i] = a + BASE * (b + BASE * (c + BASE * d)) + Math.imul(FOURTH, e);
  }
  if (odd) throw new PayloadError("damaged", "its text is not as it was written");
  return new Uint8Array(words.buffer);
}
