// How bytes reach the views. A transport is anything that loads one payload: text in the page, a notebook's
// message, a server's answer. Nothing else in the front end knows which.

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

/** Base64 text in an element of the page. */
export function inline(element: Element): Transport {
  return {
    load() {
      const text = element.textContent ?? "";
      element.textContent = ""; // the text is as large as the payload: let it go
      return Promise.resolve(fromBase64(text));
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

function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
