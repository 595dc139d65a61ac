// Bytes to typed arrays: the reader of docs/reference/wire.md. Enters: a payload. Leaves: a Page whose arrays are
// views on those bytes, unpacked one head at a time when somebody looks at it.

import { WalkData, type WalkHeader } from "../walk/data";
import { Packed, PayloadError, type Ref } from "./packed";

export { Packed, PayloadError } from "./packed";

export const VERSION = 1;

export interface Segment {
  name: string;
  start: number;
  end: number;
}

/** The sound or picture that tokens are pieces of. */
export interface Medium {
  kind: "sound" | "picture";
  mime: string;
  size: number[]; // seconds, or width and height in pixels
  data: Packed; // the bytes of the file
  features: Packed | null; // (bands, frames) what the model reads of a sound, from quiet to loud
}

export interface Side {
  name: string;
  text: string[];
  special: number[];
  segment: number[];
  segments: Segment[];
  word: (number | null)[] | null;
  adds?: (string | null)[]; // what tokens add to the text of their word, where that is not their own text
  stand_ins?: number[]; // special tokens that stand for a word: [MASK], [UNK]
  row: (number | null)[] | null;
  column: (number | null)[] | null;
  medium: Medium | null;
  spans: Packed | null; // where tokens lie in the medium: (n, 2) seconds, or (n, 4) shares of width and height
}

export interface Mask {
  left: number | null;
  right: number | null;
  table: Packed | null;
}

/** Ways to cut a line: hide its key, so that the others grow, or take out what it adds. */
export type Cut = "mask" | "zero";

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
  why: Told; // there are no norms; empty where there are
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
  v: Packed | null; // (groups, keys, e) value vectors, where lines are judged
  g: Packed | null; // (heads, queries, e) gradients of the number in facts.worth by each head's output
  go: Packed | null; // (heads, queries) their products with that output
  measures: Record<string, Packed>;
  patterns: Found[][] | null; // of each head when awake, most specific first; null where nothing was looked for
  rest: (Rest | null)[] | null; // of each head
  arriving: (Arriving | null)[] | null; // the same by contributions
  types: Packed | null; // (heads, names of types) probabilities
  blocks: Packed | null; // (heads, rows, columns) shares of attention between blocks of tokens, from every weight
  block?: number; // tokens of a side of a block
  bare: boolean; // whether it came without weights, which only a server can send
  missing: Record<string, Told>; // what could not be asked, and why
}

/** Whether the weights of a site are here: of long inputs a server sends them layer by layer. */
export const isHere = (site: Site): boolean => site.q !== null || site.maps !== null;

/** A sentence of Python: as it came, and the code and values by which it is said in another language. */
export interface Told {
  text: string;
  code?: string;
  values?: Record<string, string | number>;
}

/** Something a head does, and the numbers behind it. */
export interface Found {
  name: string;
  score: number;
  sentence: string;
  mass?: number;
  chance?: number;
  hits?: number;
  rows?: number;
  evidence?: [query: number, key: number, value: number][]; // rows that show it best
  colour?: string; // of rules that somebody saved
}

/** How much of a head's attention rests, and where most of it. */
export interface Rest {
  share: number;
  place: string;
}

/** What a head does by its contributions. */
export interface Arriving {
  patterns: Found[];
  rest: Rest | null;
}

export interface Start {
  view: string;
  kind: string;
  layer: number;
  part: number;
  heads: number[];
  worth?: boolean; // whether what lines are worth is shown first
}

/** The study that a page is an example of: how many inputs it read, and whether heads are named over all of them. */
export interface Study {
  inputs: number;
  named: boolean;
}

export interface Page {
  made: string;
  facts: Record<string, unknown>;
  study?: Study; // of whose report the page is a part
  read?: string; // the text, as it is written; nothing where there is none
  types: string[]; // names of the types of maps
  cautions: Told[];
  sides: Map<string, Side>;
  sites: Site[];
  selection: Start;
  walk: WalkData | null; // one layer opened, where the page has it
}

/** Read a payload, or so many bytes of it: sites that are not here yet come without their arrays. */
export function decode(
  payload: Uint8Array,
  here = payload.byteLength,
  header: Header = headerOf(payload),
): Page {
  const start = startOf(payload);
  const { ends } = extentsOf(header, start, payload.byteLength);
  const whole = here === payload.byteLength; // then what is missing is damage
  // Typed arrays need 4-byte alignment; a transport may hand out bytes that begin anywhere.
  const aligned = (payload.byteOffset + start) % 8 === 0;
  const bytes = aligned ? payload.subarray(start) : payload.slice(start);
  const at = (ref: unknown) => (ref ? new Packed(ref as Ref, bytes) : null);
  try {
    const sides = (header.sides as Side[]).map((side) => ({
      ...side,
      medium: mediumOf(side.medium, at),
      spans: at(side.spans),
    }));
    const page: Page = {
      made: String(header.made),
      facts: header.facts as Record<string, unknown>,
      study: header.study as Study | undefined,
      read: (header.read as string | undefined) ?? "",
      types: (header.types as string[] | undefined) ?? [],
      cautions: ((header.cautions as string[] | undefined) ?? []).map((text, i) => ({
        ...(header.coded as Coded[] | undefined)?.[i],
        text,
      })),
      sides: new Map(sides.map((side) => [side.name, side])),
      sites: (header.sites as Record<string, unknown>[]).map((record, i) =>
        whole || ends[i] <= here ? siteOf(record, at) : siteOf({ ...record, measures: {} }, () => null),
      ),
      selection: header.selection as Start,
      walk: header.walk ? walkOf(header.walk as WalkRecord, at) : null,
    };
    if (!page.sites.length || page.sites.some((s) => !page.sides.has(s.query) || !page.sides.has(s.key)))
      throw new PayloadError("damaged", "a site names a side that is not there");
    return page;
  } catch (error) {
    if (error instanceof PayloadError) throw error;
    throw new PayloadError("damaged", String(error));
  }
}

export type Header = Record<string, unknown>;

interface Extents {
  first: number; // the site that is opened first
  ends: number[]; // how many bytes of the payload each site needs
}

/** What of a payload must be here before each of its sites can be looked at. Only its header need be. */
export const extents = (payload: Uint8Array, header: Header = headerOf(payload)): Extents =>
  extentsOf(header, startOf(payload), payload.byteLength);

/** Arrays lie in the order of their sites, so that a site is here when the next one begins; what a walk has comes last. */
function extentsOf(header: Header, start: number, total: number): Extents {
  const records = (header.sites ?? []) as Record<string, unknown>[];
  const late = Boolean(header.walk);
  const ends: number[] = [];
  let next = total;
  for (const record of records.slice().reverse()) {
    ends.unshift(late ? total : next);
    next = Math.min(next, start + firstOffset(record));
  }
  const { kind, layer, part } = (header.selection ?? {}) as Start;
  const first = records.findIndex((one) => one.kind === kind && one.layer === layer && one.part === part);
  return { first: Math.max(0, first), ends };
}

/** Where the first array of a record lies. */
function firstOffset(value: unknown): number {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return Number.POSITIVE_INFINITY;
  const own = "dtype" in value ? (value as Ref).offset : Number.POSITIVE_INFINITY;
  return Math.min(own, ...Object.values(value).map(firstOffset));
}

const startOf = (payload: Uint8Array): number =>
  8 + Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0, true));

type Coded = Omit<Told, "text">;
type WalkRecord = WalkHeader & { arrays: Record<string, Ref> };

function walkOf(record: WalkRecord, at: (ref: unknown) => Packed | null): WalkData {
  const arrays = Object.entries(record.arrays).map(([name, ref]) => [name, at(ref)!] as const);
  return new WalkData(record, Object.fromEntries(arrays));
}

const mediumOf = (record: Medium | undefined | null, at: (ref: unknown) => Packed | null): Medium | null =>
  record ? { ...record, data: at(record.data)!, features: at(record.features) } : null;

function siteOf(record: Record<string, unknown>, at: (ref: unknown) => Packed | null): Site {
  const mask = record.mask as { left: number | null; right: number | null; table: unknown };
  const measures = Object.entries((record.measures ?? {}) as Record<string, Ref>);
  const missing = Object.entries((record.missing ?? {}) as Record<string, string>);
  const coded = (record.coded ?? {}) as Record<string, Coded>;
  const vectors = ["q", "k", "qparts", "kparts", "v", "g", "go"];
  const arrays = [...vectors, "maps", "lse", "bias", "sink", "norms", "dots", "types", "blocks"];
  return {
    ...record,
    ...Object.fromEntries(arrays.map((name) => [name, at(record[name])])),
    mask: { ...mask, table: at(mask.table) },
    bare: !record.q && !record.maps,
    parts: (record.parts as string[] | undefined) ?? [],
    patterns: (record.patterns as Found[][] | undefined) ?? null,
    rest: (record.rest as (Rest | null)[] | undefined) ?? null,
    arriving: (record.arriving as (Arriving | null)[] | undefined) ?? null,
    why: { ...(record.why_coded as Coded | undefined), text: String(record.why ?? "") },
    missing: Object.fromEntries(missing.map(([name, text]) => [name, { ...coded[name], text }])),
    measures: Object.fromEntries(measures.map(([name, ref]) => [name, at(ref)])),
  } as unknown as Site;
}

/** The header of a payload, as it was written. */
export function headerOf(payload: Uint8Array): Header {
  if (payload.byteLength < 8) throw new PayloadError("damaged", `only ${payload.byteLength} bytes`);
  const length = Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0, true));
  if (length > payload.byteLength - 8)
    throw new PayloadError("damaged", `a header of ${length} bytes in ${payload.byteLength}`);
  let header: Header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload.subarray(8, 8 + length)));
  } catch (error) {
    throw new PayloadError("damaged", String(error));
  }
  if (header?.format !== "regard") throw new PayloadError("foreign", "no regard header");
  if (header.version !== VERSION) throw new PayloadError("version", String(header.version));
  return header;
}
