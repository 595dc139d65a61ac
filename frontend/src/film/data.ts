// A film as its page carries it: gzip, then JSON. Enters: base64. Leaves: frames.

export type Lift = [value: number, low: number | null, high: number | null];

export interface Head {
  kind: string;
  layer: number;
  head: number;
  rest: number | null;
  names: string[]; // most specific first
  lifts: Record<string, Lift>;
  shape: [rows: number, columns: number] | null;
  map: string | null; // bytes in base64
}

export interface Frame {
  step: number;
  loss: number | null;
  heads: Head[]; // the same heads in the same order in every frame
}

/** A name that a head has in the last frame; `step` is since when, null if it always had it. */
export interface Birth {
  kind: string;
  layer: number;
  head: number;
  name: string;
  step: number | null;
  lift: Lift;
}

export interface Film {
  about: { model: string; shown: string[]; thresholds: Record<string, number> };
  births: Birth[];
  frames: Frame[];
}

/** Read what a page carries. */
export async function read(base64: string): Promise<Film> {
  const stream = new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const film: Film = JSON.parse(await new Response(stream).text());
  if (!film.frames?.length) throw new Error("0 frames");
  return film;
}

export const bytes = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const RESTS = 128; // the bit of a pixel that rests

/** The levels of a small map, and which of its pixels rest. */
export function pixelsOf({ map }: Head): { levels: Uint8Array; rests: (i: number) => boolean } {
  const all = bytes(map ?? "");
  return { levels: all.map((byte) => byte & (RESTS - 1)), rests: (i) => all[i] >= RESTS };
}

/** A head as every page calls it. */
export const nameOf = ({ layer, head }: { layer: number; head: number }): string => `${layer}.${head}`;
