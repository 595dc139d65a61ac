// What was heard: when each word of a transcript was listened for, or where a moment of the sound looks.

import { bare } from "../../compute/axis";
import type { Lens } from "../../compute/lens";
import { Mean } from "../../compute/mean";
import type { Medium, Side } from "../../data/wire";
import { sayIn } from "../../frame/context";
import { stage } from "../../frame/drawn";
import { looking } from "../../frame/keys";
import { hundredths } from "../../marks/scales";
import type { Store } from "../../state/store";

/** A side of moments, and the sound they are in. */
export interface Listened {
  side: Side;
  medium: Medium;
  step: number; // seconds of a frame
  frames: number; // of the sound itself; silence that was added comes after them
}

/** The words that heads listen for, and when. */
export interface Heard extends Listened {
  words: string[];
  names: string[]; // the same with their positions, where a word is there twice
  rows: number[]; // that token's position
  values: Float32Array; // (words, frames)
  beyond: Float32Array; // (words) on the silence that was added
  lens: Mean; // of the chosen heads
}

/** The side of a page that is a sound. */
export function soundOf(store: Store): Listened | null {
  for (const side of store.page.sides.values()) {
    const { medium, spans } = side;
    if (medium?.kind !== "sound" || !spans) continue;
    const times = spans.all();
    const step = times[1] - times[0];
    const end = medium.size[0] - 1e-6 * step;
    let frames = 0;
    while (frames < side.text.length && times[2 * frames] < end) frames++;
    return { side, medium, step, frames: Math.max(1, frames) };
  }
  return null;
}

/** Whether the chosen heads look at the sound. */
export const hears = (store: Store): boolean => store.site.value.key === soundOf(store)?.side.name;

/** Whether words listen, rather than moments look at moments. */
export const writes = (store: Store): boolean =>
  hears(store) && store.site.value.query !== store.site.value.key;

export const heardKey = (store: Store): string => {
  const { kind, layer, part, heads } = store.selection.value;
  return [store.edition, kind, layer, part, heads.join()].join(" ");
};

/** The chosen heads as one, token by token. */
function lensOf(store: Store): Mean {
  const site = store.site.value;
  const { heads } = store.selection.value;
  const chosen = heads.length ? heads : site.heads;
  const look = { level: "tokens", contributions: false, relative: false } as const;
  const lenses: Lens[] = chosen.map((head) => store.lenses.of(site, site.heads.indexOf(head), look));
  return new Mean(lenses);
}

/** When every word is listened for, row by row: work that may be interrupted. */
export function* heardOf(store: Store): Generator<void, Heard> {
  const sound = soundOf(store)!;
  const lens = lensOf(store);
  const { text, special } = lens.rows.side;
  const rows = writes(store)
    ? [...text.keys()].filter((row) => row + 1 < text.length && !special[row + 1])
    : [];
  const values = new Float32Array(rows.length * sound.frames);
  const beyond = new Float32Array(rows.length);
  for (const [word, row] of rows.entries()) {
    const all = lens.row(row);
    values.set(all.subarray(0, sound.frames), word * sound.frames);
    for (let frame = sound.frames; frame < all.length; frame++) beyond[word] += all[frame];
    yield;
  }
  const words = rows.map((row) => bare(text[row + 1]));
  const names = rows.map((row) => lens.rows.names[row + 1]);
  return { ...sound, words, names, rows, values, beyond, lens };
}

/** What is pointed at: a word, a moment, or both. */
export interface Pointed {
  word: number | null;
  frame: number | null;
}

export const NOWHERE: Pointed = { word: null, frame: null };

/** (frames) what is drawn as a curve: of a word, of a moment that looks, or the mean of all words. */
export function curveOf(heard: Heard, { word, frame }: Pointed): Float32Array {
  const { frames, values } = heard;
  if (word !== null) return values.subarray(word * frames, (word + 1) * frames);
  if (!heard.words.length)
    return frame === null ? new Float32Array(frames) : heard.lens.row(frame).slice(0, frames);
  const mean = new Float32Array(frames);
  for (let i = 0; i < values.length; i++) mean[i % frames] += values[i] / heard.words.length;
  return mean;
}

/** (words) how much each of them listens at a moment, as a share of the most that any does. */
export function listeners(heard: Heard, frame: number): Float32Array {
  return Float32Array.from(heard.words, (_, word) => heard.values[word * heard.frames + frame]);
}

const largest = (values: ArrayLike<number>): number => {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
};

/** Seconds in the middle of a frame. */
export const secondsOf = ({ step }: Listened, frame: number): string => ((frame + 0.5) * step).toFixed(2);

const FEWEST = 6; // words from which a moment that all of them look at can be told from one that they share
const RESTED = 0.005; // of a word's attention: less of it is no rest
const ALONE = 3; // so many times as much as any moment further away
const AROUND = 2; // frames that belong to one moment

const resting = new WeakMap<Heard, { frame: number; share: number } | null>();

/** The moment that nearly every word looks at, whichever it is, and how much on average; null where there is none. */
export function restIn(heard: Heard): { frame: number; share: number } | null {
  const known = resting.get(heard);
  if (known !== undefined) return known;
  const { words, frames, values } = heard;
  let found: { frame: number; share: number } | null = null;
  if (words.length >= FEWEST) {
    const column = (frame: number) =>
      Float32Array.from(words, (_, word) => values[word * frames + frame]).sort();
    const usual = Float32Array.from({ length: frames }, (_, frame) => column(frame)[words.length >> 1]);
    const frame = largest(usual);
    const next = usual.reduce((a, b, at) => (Math.abs(at - frame) > AROUND ? Math.max(a, b) : a), 0);
    const share = column(frame).reduce((a, b) => a + b, 0) / words.length;
    if (usual[frame] >= RESTED && usual[frame] >= ALONE * next) found = { frame, share };
  }
  resting.set(heard, found);
  return found;
}

const TOLD = 4; // words named for a moment

/** What the picture shows of what is pointed at: a headline, and what is said below it. */
export function told(store: Store, heard: Heard, pointed: Pointed): [headline: string, ...more: string[]] {
  const tell = sayIn(store);
  const { word, frame } = pointed;
  const listens = { who: listener(store), mean: meanOf(store) };
  if (word !== null) {
    const seconds = secondsOf(heard, largest(curveOf(heard, pointed)));
    const share = heard.beyond[word];
    const beyond = share > 0 ? [tell("soundBeyond", { share: hundredths(share) })] : [];
    return [tell("soundWord", { word: heard.words[word], seconds, ...listens }), ...beyond];
  }
  if (frame === null)
    return heard.words.length
      ? [tell("soundTitle", listens), tell("soundText")]
      : [tell("soundFramesTitle", listens), tell("soundFrames")];
  const seconds = secondsOf(heard, frame);
  if (!heard.words.length) {
    const row = curveOf(heard, pointed);
    const most = largest(row);
    return [
      tell("soundMomentFrames", { seconds, most: secondsOf(heard, most), value: hundredths(row[most]) }),
    ];
  }
  const by = listeners(heard, frame);
  const ranked = [...by.keys()].sort((a, b) => by[b] - by[a]).slice(0, TOLD);
  const named = ranked.map((w) => tell("soundShare", { word: heard.words[w], value: hundredths(by[w]) }));
  return [tell("soundMoment", { seconds, words: named.join(tell("comma")) })];
}

/** Whose attention it is, within a sentence. */
function listener(store: Store): string {
  const { layer, heads } = store.selection.value;
  const all = store.site.value.heads;
  const head = heads[0] ?? all[0];
  const one = (heads.length || all.length) === 1;
  return one ? sayIn(store)("soundWhoOne", { layer, head }) : sayIn(store)("soundWhoLayer", { layer });
}

/** Of how many heads it is the mean, behind that sentence; empty of one head. */
function meanOf(store: Store): string {
  const all = store.site.value.heads.length;
  const count = store.selection.value.heads.length || all;
  if (count === 1) return "";
  return sayIn(store)(count === all ? "soundMeanAll" : "soundMeanSome", { count, all });
}

/** The moment at which the chosen heads rest, in words; empty where there is none. */
export function restTold(store: Store, heard: Heard): string {
  const rest = restIn(heard);
  if (!rest) return "";
  const said = { seconds: secondsOf(heard, rest.frame), share: hundredths(rest.share) };
  return sayIn(store)("soundRests", said);
}

const shown = stage<{ heard: Heard; pointed: Pointed }>();
export const useStage = shown.use;
export const stageOf = shown.of;

/** The word that is pinned. */
export function pinnedIn(store: Store, heard: Heard): number | null {
  const at = heard.rows.indexOf(store.selection.value.queries[0]);
  return at < 0 ? null : at;
}

/** The row of the word that is pinned in what is shown. */
export function pinnedRow(store: Store): number | undefined {
  const now = shown.of(store);
  return now?.heard.rows[pinnedIn(store, now.heard) ?? -1];
}

/** From word to word, where there are words; up and down the layers as everywhere. */
export function keys(store: Store): Record<string, () => void> {
  const now = shown.of(store);
  if (!now?.heard.words.length) return looking(store);
  const { heard } = now;
  const go = (by: number) => () => {
    const at = pinnedIn(store, heard);
    const next = at === null ? (by > 0 ? 0 : heard.words.length - 1) : at + by;
    if (next >= 0 && next < heard.words.length) store.set({ queries: [heard.rows[next]] });
  };
  return { ...looking(store), ArrowLeft: go(-1), ArrowRight: go(1) };
}
