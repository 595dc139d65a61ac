// How bytes reach the views. A transport is anything that loads one payload: text in the page, a notebook's
// message, a server's answer. Nothing else in the front end knows which.

import { type Arriving, piecesIn } from "./pieces";

export interface Transport {
  load(signal: AbortSignal): Promise<Uint8Array>;
  arriving?: Arriving; // where the first bytes are here before the last
}

/** Bytes that are already here (a notebook's model value). */
export function given(bytes: Uint8Array | DataView | ArrayBuffer): Transport {
  const view =
    bytes instanceof ArrayBuffer
      ? new Uint8Array(bytes)
      : new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  return { load: () => Promise.resolve(view) };
}

/** Text in elements of a page that is still being read; `length` is that of the bytes. */
export function inline(doc: Document, length: number): Transport {
  const arriving = piecesIn(doc, length);
  return { arriving, load: () => arriving.until().then(() => arriving.bytes) };
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
