// Arrays on the wire, unpacked one block of the first axis at a time: docs/reference/wire.md says how they are packed.

export interface Ref {
  dtype: "f4" | "u1" | "b2" | "l12" | "l16" | "vec";
  shape: number[];
  offset: number;
  top?: number; // of l12 and l16
  low?: Ref; // of vec, like step and width
  step?: Ref;
  width?: Ref;
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

// Codes per factor of two, and the code of a number too small to tell.
const LOGS = { l12: { octave: 256, zero: 4095 }, l16: { octave: 2048, zero: 65535 } };

/** An array on the wire. */
export class Packed {
  readonly shape: number[];
  private readonly runs: Runs | null;

  constructor(
    private readonly ref: Ref,
    private readonly bytes: Uint8Array,
  ) {
    this.shape = ref.shape;
    this.runs = ref.dtype === "vec" ? new Runs(ref, bytes) : null;
    const end = ref.offset + (this.runs?.size ?? byteLength(ref));
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
    return this.runs ? this.runs.part(index) : this.read(index * n, n);
  }

  /** Some rows of a block, one in `every`; where a block comes in one piece, taken out of it. */
  rows(index: number, [from, to]: readonly [number, number], every: number): Float32Array {
    if (this.runs) return this.runs.part(index, from, to, every);
    const [width, part] = [this.block / this.shape[1], this.part(index)];
    const out = new Float32Array(Math.ceil((to - from) / every) * width);
    for (let row = from, at = 0; row < to; row += every, at += width)
      out.set(part.subarray(row * width, (row + 1) * width), at);
    return out;
  }

  /** The whole array as float32. */
  all(): Float32Array {
    if (!this.runs) return this.read(0, this.shape.length ? this.shape[0] * this.block : 1);
    const whole = new Float32Array(this.shape[0] * this.block);
    for (let i = 0; i < this.shape[0]; i++) whole.set(this.part(i), i * this.block);
    return whole;
  }

  /** The bytes of a u1 array. */
  raw(): Uint8Array {
    return this.bytes.subarray(this.ref.offset, this.ref.offset + byteLength(this.ref));
  }

  private read(first: number, count: number): Float32Array {
    const { buffer, byteOffset } = this.bytes;
    const start = byteOffset + this.ref.offset;
    switch (this.ref.dtype) {
      case "f4":
        return new Float32Array(buffer, start + 4 * first, count);
      case "b2": {
        const upper = new Uint16Array(buffer, start + 2 * first, count);
        return new Float32Array(Uint32Array.from(upper, (half) => half << 16).buffer);
      }
      case "l12":
        return fromLogs(unpack12(this.bytes, this.ref.offset, first, count), "l12", this.ref.top);
      case "l16":
        return fromLogs(
          Float32Array.from(new Uint16Array(buffer, start + 2 * first, count)),
          "l16",
          this.ref.top,
        );
      default:
        return new Float32Array(new Uint8Array(buffer, start + first, count));
    }
  }
}

/** Vectors (H, T, d) as one run of codes for each head and dimension, each run with its own width in bits. */
class Runs {
  private readonly low: Packed;
  private readonly step: Packed;
  private readonly widths: Uint8Array;
  private readonly starts: number[] = [0]; // of heads, in bytes

  constructor(
    private readonly ref: Ref,
    private readonly bytes: Uint8Array,
  ) {
    const [heads, tokens, d] = ref.shape;
    if (!ref.low || !ref.step || !ref.width) throw new PayloadError("damaged", "vectors without widths");
    this.low = new Packed(ref.low, bytes);
    this.step = new Packed(ref.step, bytes);
    this.widths = new Packed(ref.width, bytes).raw();
    for (let h = 0; h < heads; h++) {
      let at = this.starts[h];
      for (let c = h * d; c < (h + 1) * d; c++) at += (this.widths[c] * tokens + 7) >> 3;
      this.starts.push(at);
    }
  }

  get size(): number {
    return this.starts[this.starts.length - 1];
  }

  /** The vectors of a head, or of some of its tokens. */
  part(head: number, from = 0, to = this.ref.shape[1], every = 1): Float32Array {
    const [, tokens, d] = this.ref.shape;
    const { bytes } = this;
    const low = this.low.part(head);
    const step = this.step.part(head);
    const out = new Float32Array(Math.ceil((to - from) / every) * d);
    let at = this.ref.offset + this.starts[head];
    for (let c = 0; c < d; c++) {
      const width = this.widths[head * d + c];
      unpackRun(bytes, at, width, from, every, low[c], step[c], out, c, d);
      at += (width * tokens + 7) >> 3;
    }
    return out;
  }
}

/**
 * One code in `every` from the one numbered `from` on, into every d-th place. A function of its own: compiled sooner than
 * a loop within a loop. A code has at most 24 bits, so that four bytes hold it wherever it begins.
 */
function unpackRun(
  bytes: Uint8Array,
  at: number,
  width: number,
  from: number,
  every: number,
  low: number,
  step: number,
  out: Float32Array,
  first: number,
  d: number,
): void {
  const mask = (1 << width) - 1;
  const apart = every * width;
  const end = out.length;
  for (let i = first, bit = from * width; i < end; i += d, bit += apart) {
    const byte = at + (bit >>> 3);
    const four = bytes[byte] | (bytes[byte + 1] << 8) | (bytes[byte + 2] << 16) | (bytes[byte + 3] << 24);
    out[i] = low + ((four >>> (bit & 7)) & mask) * step;
  }
}

const levels: { l12?: Float32Array; l16?: Float32Array } = {}; // the numbers of all codes, up to 1

function fromLogs(codes: Float32Array, kind: "l12" | "l16", top = 1): Float32Array {
  const { octave, zero } = LOGS[kind];
  levels[kind] ??= Float32Array.from({ length: zero + 1 }, (_, code) =>
    code === zero ? 0 : 2 ** (-code / octave),
  );
  const table = levels[kind];
  for (let i = 0; i < codes.length; i++) codes[i] = table[codes[i]] * top;
  return codes;
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
  const size = { f4: 4, u1: 1, b2: 2, l12: 0, l16: 2, vec: 0 }[ref.dtype];
  if (size === undefined) throw new PayloadError("damaged", `unknown dtype ${String(ref.dtype)}`);
  return size ? count * size : ((count + 1) >> 1) * 3;
}
