// Segments of a text, folded: system, picture, question, answer as one position each.

import type { Look } from "../compute/lens";
import type { Page, Segment } from "../data/wire";
import { type Language, partName, say } from "../words";

/** The name by which a selection knows a segment. */
export const foldId = (side: string, number: number): string => `${side}.${number}`;

/** The segment of a page that a name means, where there are others beside it; null where there is none. */
export function segmentOf(page: Page, id: string): { side: string; number: number; segment: Segment } | null {
  const at = id.lastIndexOf(".");
  const [side, number] = [id.slice(0, at), Number(id.slice(at + 1))];
  const segments = page.sides.get(side)?.segments ?? [];
  return segments.length > 1 && segments[number] ? { side, number, segment: segments[number] } : null;
}

/** Folded segments by their sides, each with what it is called: image · 576 tokens. Undefined where there are none. */
export function foldsOf(page: Page, folded: readonly string[], language: Language): Look["folds"] {
  const folds: Record<string, Record<number, string>> = {};
  for (const id of folded) {
    const found = segmentOf(page, id);
    if (!found) continue;
    const { side, number, segment } = found;
    const values = { part: partName(language, segment.name), count: segment.end - segment.start };
    folds[side] = { ...folds[side], [number]: say(language, "foldedPart", values) };
  }
  return Object.keys(folds).length ? folds : undefined;
}
