// Bytes to typed arrays: the reader of docs/reference/wire.md. Enters: a payload. Leaves: a Page whose arrays are
// views on those bytes, unpacked one head at a time when somebody looks at it.

export const VERSION = 1;

export interface Ref {
  dtype: "f4" | "u1" | "i2" | "i12" | "l12";
  shape: number[];
  offset: number;
  step?: Ref;
}

export interface Segment {
  name: string;
  start: number;
  end: number;
}

export interface Side {
  name: string;
  text: string[];
  special: number[];
  segment: number[];
  segments: Segment[];
  word: (number | null)[] | null;
  row: (number | null)[] | null;
  column: (number | null)[] | null;
  image: Packed | null;
}

export interface Mask {
  left: number | null;
  right: number | null;
  table: Packed | null;
}

export interface Site {
  kind: string;
  layer: number;
  part: number;
  heads: number[];
  query: string;
  key: string;
  scale: number;
  softcap: number | null;
  mask: Mask;
  why: string;
  q: Packed | null;
  k: Packed | null;
  maps: Packed | null;
  lse: Packed | null;
  bias: Packed | null;
  sink: Packed | null;
  norms: Packed | null;
  dots: Packed | null;
  parts: string[];
  qparts: Packed | null;
  kparts: Packed | null;
  measures: Record<string, Packed>;
}

export interface Start {
  view: string;
  kind: string;
  layer: number;
  part: number;
  heads: number[];
}

export interface Page {
  made: string;
  facts: Record<string, unknown>;
  sides: Map<string, Side>;
  sites: Site[];
  selection: Start;
}

/** A payload that cannot be read; `code` names the sentence the reader shows. */
export class PayloadError extends Error {
  constructor(
    readonly code: "damaged" | "version" | "foreign",
    detail: string,
  ) {
    super(detail);
  }
}

const ZERO = 4095; // the l12 code of a weight too small to tell
const OCTAVE = 256; // l12 codes per factor of two

let weightOf: Float32Array | undefined;

/** The weights of the 4096 codes of l12. */
function weights(): Float32Array {
  weightOf ??= Float32Array.from({ length: 4096 }, (_, code) => (code === ZERO ? 0 : 2 ** (-code / OCTAVE)));
  return weightOf;
}

/** An array on the wire, read one block of its first axis at a time. */
export class Packed {
  readonly shape: number[];
  private readonly step: Packed | null;

  constructor(
    private readonly ref: Ref,
    private readonly bytes: Uint8Array,
  ) {
    this.shape = ref.shape;
    this.step = ref.step ? new Packed(ref.step, bytes) : null;
    const end = ref.offset + byteLength(ref);
    if (end > bytes.byteLength)
      throw new PayloadError("damaged", `array ends at ${end} of ${bytes.byteLength}`);
  }

  /** Numbers in one block. */
  get block(): number {
    return this.shape.slice(1).reduce((product, n) => product * n, 1);
  }

  /** Block `index` of the first axis as float32. */
  part(index: number): Float32Array {
    const n = this.block;
    return this.read(index * n, n, index);
  }

  /** The whole array as float32. */
  all(): Float32Array {
    if (this.step) {
      const whole = new Float32Array(this.shape[0] * this.block);
      for (let i = 0; i < this.shape[0]; i++) whole.set(this.part(i), i * this.block);
      return whole;
    }
    return this.read(0, this.shape.length ? this.shape[0] * this.block : 1, 0);
  }

  /** The bytes of a u1 array. */
  raw(): Uint8Array {
    return this.bytes.subarray(this.ref.offset, this.ref.offset + byteLength(this.ref));
  }

  private read(first: number, count: number, index: number): Float32Array {
    const { buffer, byteOffset } = this.bytes;
    const start = byteOffset + this.ref.offset;
    switch (this.ref.dtype) {
      case "f4":
        return new Float32Array(buffer, start + 4 * first, count);
      case "u1":
        return new Float32Array(new Uint8Array(buffer, start + first, count));
      case "i2":
        return this.scaled(new Float32Array(new Int16Array(buffer, start + 2 * first, count)), index);
      case "i12": {
        const codes = unpack12(this.bytes, this.ref.offset, first, count);
        for (let i = 0; i < count; i++) codes[i] -= 2048;
        return this.scaled(codes, index);
      }
      case "l12": {
        const table = weights();
        const codes = unpack12(this.bytes, this.ref.offset, first, count);
        for (let i = 0; i < count; i++) codes[i] = table[codes[i]];
        return codes;
      }
    }
  }

  /** Codes times the step of their dimension. */
  private scaled(codes: Float32Array, index: number): Float32Array {
    if (!this.step) return codes;
    const steps = this.step.part(index);
    const d = steps.length;
    for (let i = 0; i < codes.length; i += d) for (let c = 0; c < d; c++) codes[i + c] *= steps[c];
    return codes;
  }
}

/** Codes `first` .. `first + count`: two in three bytes, the first one in the lower bits. */
function unpack12(bytes: Uint8Array, offset: number, first: number, count: number): Float32Array {
  const codes = new Float32Array(count);
  let at = offset + (first >> 1) * 3;
  let i = 0;
  if (first & 1) {
    codes[i++] = (bytes[at + 1] >> 4) | (bytes[at + 2] << 4);
    at += 3;
  }
  for (; i + 1 < count; i += 2, at += 3) {
    const middle = bytes[at + 1];
    codes[i] = bytes[at] | ((middle & 15) << 8);
    codes[i + 1] = (middle >> 4) | (bytes[at + 2] << 4);
  }
  if (i < count) codes[i] = bytes[at] | ((bytes[at + 1] & 15) << 8);
  return codes;
}

function byteLength(ref: Ref): number {
  const count = ref.shape.reduce((product, n) => product * n, 1);
  const size = { f4: 4, u1: 1, i2: 2, i12: 0, l12: 0 }[ref.dtype];
  if (size === undefined) throw new PayloadError("damaged", `unknown dtype ${String(ref.dtype)}`);
  return size ? count * size : ((count + 1) >> 1) * 3;
}

/** Read a payload. */
export function decode(payload: Uint8Array): Page {
  const header = headerOf(payload);
  const start = 8 + Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0, true));
  // Typed arrays need 4-byte alignment; a transport may hand out bytes that begin anywhere.
  const aligned = (payload.byteOffset + start) % 8 === 0;
  const bytes = aligned ? payload.subarray(start) : payload.slice(start);
  const at = (ref: unknown) => (ref ? new Packed(ref as Ref, bytes) : null);
  try {
    const sides = (header.sides as Side[]).map((side) => ({ ...side, image: at(side.image) }));
    const page: Page = {
      made: String(header.made),
      facts: header.facts as Record<string, unknown>,
      sides: new Map(sides.map((side) => [side.name, side])),
      sites: (header.sites as Record<string, unknown>[]).map((record) => siteOf(record, at)),
      selection: header.selection as Start,
    };
    if (!page.sites.length || page.sites.some((s) => !page.sides.has(s.query) || !page.sides.has(s.key)))
      throw new PayloadError("damaged", "a site names a side that is not there");
    return page;
  } catch (error) {
    if (error instanceof PayloadError) throw error;
    throw new PayloadError("damaged", String(error));
  }
}

function siteOf(record: Record<string, unknown>, at: (ref: unknown) => Packed | null): Site {
  const mask = record.mask as { left: number | null; right: number | null; table: unknown };
  const measures = Object.entries((record.measures ?? {}) as Record<string, Ref>);
  const arrays = ["q", "k", "maps", "lse", "bias", "sink", "norms", "dots", "qparts", "kparts"];
  return {
    ...record,
    ...Object.fromEntries(arrays.map((name) => [name, at(record[name])])),
    mask: { ...mask, table: at(mask.table) },
    parts: (record.parts as string[] | undefined) ?? [],
    measures: Object.fromEntries(measures.map(([name, ref]) => [name, at(ref)])),
  } as unknown as Site;
}

function headerOf(payload: Uint8Array): Record<string, unknown> {
  if (payload.byteLength < 8) throw new PayloadError("damaged", `only ${payload.byteLength} bytes`);
  const length = Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0, true));
  if (length > payload.byteLength - 8)
    throw new PayloadError("damaged", `a header of ${length} bytes in ${payload.byteLength}`);
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload.subarray(8, 8 + length)));
  } catch (error) {
    throw new PayloadError("damaged", String(error));
  }
  if (header?.format !== "regard") throw new PayloadError("foreign", "no regard header");
  if (header.version !== VERSION) throw new PayloadError("version", String(header.version));
  return header;
}
