// The points of a head's map, as its page carries them: gzip, then a length, a JSON header and arrays.

/** A list of tokens, input after input: `words` are places in the list of texts. */
export interface Side {
  words: Uint32Array;
  starts: Uint32Array; // of inputs; the end of the last one at the end
  examples: Uint32Array; // their numbers in the corpus
}

/** Queries first, then keys; `look` and `weight` are where each query looks most. */
export interface Points {
  x: Float32Array; // 0 to 1, like y
  y: Float32Array;
  queries: number;
  sides: [Side, Side]; // of queries and of keys
  look: Uint32Array; // the key's place in its input
  weight: Float32Array;
  texts: string[];
}

interface Header {
  queries: number;
  keys: number;
  texts: string[];
  sides: { words: Part; starts: Part; examples: Part }[];
  x: Part;
  y: Part;
  look: Part;
  weight: Part;
}

interface Part {
  kind: "u1" | "u2" | "u4";
  offset: number;
  count: number;
}

const FULL = 65535; // of a coordinate

/** Read what a page carries in base64. */
export async function read(base64: string): Promise<Points> {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return decode(await new Response(stream).arrayBuffer());
}

export function decode(buffer: ArrayBuffer): Points {
  const length = new DataView(buffer).getUint32(0, true);
  const header: Header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const array = ({ kind, offset, count }: Part) => {
    const at = start + offset;
    if (kind === "u1") return new Uint8Array(buffer, at, count);
    return kind === "u2" ? new Uint16Array(buffer, at, count) : new Uint32Array(buffer, at, count);
  };
  const numbers = (part: Part) => Uint32Array.from(array(part));
  const shares = (part: Part, full: number) => Float32Array.from(array(part), (code) => code / full);
  const [mine, theirs] = header.sides.map((side) => ({
    words: numbers(side.words),
    starts: numbers(side.starts),
    examples: numbers(side.examples),
  }));
  return {
    x: shares(header.x, FULL),
    y: shares(header.y, FULL),
    queries: header.queries,
    sides: [mine, theirs ?? mine],
    look: numbers(header.look),
    weight: shares(header.weight, 255),
    texts: header.texts,
  };
}

/** Which side a point is on, and its place among the tokens of that side. */
export function at(points: Points, point: number): { side: Side; place: number; key: boolean } {
  const key = point >= points.queries;
  return { side: points.sides[key ? 1 : 0], place: key ? point - points.queries : point, key };
}

/** The input that a place is in. */
export function inputOf({ starts }: Side, place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}
