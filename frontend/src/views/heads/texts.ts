// Where the words of a sentence stand: one text, or two where one looks at the other.

import { isTouch } from "../../frame/scroller";
import { balanced, type Setting, setting } from "../../marks/sentence";
import type { Scene } from "./scene";

/** The text of a page, or the two texts where one looks at the other. */
export interface Texts {
  queries: Setting;
  keys: Setting; // the same one where a text looks at itself
  own: boolean;
  height: number;
}

/** Short texts are set larger, where there is room. */
const sizes = (count: number, wide: boolean): number =>
  count <= 30 ? (wide ? 28 : 22) : count <= 80 ? (wide ? 24 : 18) : count <= 160 ? 18 : 15;

export function textsOf(scene: Scene, width: number, free: number, narrow: boolean): Texts {
  const { rowAxis, columnAxis, rows, columns } = scene;
  const own = rowAxis === columnAxis && same(rows.list, columns.list);
  const count = Math.max(rows.list.length, columns.list.length);
  const large = narrow ? (count <= 80 ? 18 : 16) : sizes(count, width > 1000);
  const least = isTouch() ? 24 : 0;
  const size = !narrow && own ? oneLine(scene, width, large, least) : large;
  const look = { size, least, above: 0 };
  const room = narrow ? 380 : free;
  if (own) {
    const plain = balanced(rowAxis, rows.list, width, room, look);
    // What is free above and below is the same.
    const above = narrow ? 0 : Math.max(0, (free - plain.height) / 2);
    const text = above ? balanced(rowAxis, rows.list, width, room, { ...look, above }) : plain;
    return { queries: text, keys: text, own, height: Math.max(text.height, narrow ? 0 : free) };
  }
  const keys = setting(columnAxis, columns.list, width, room / 2, look);
  const queries = setting(rowAxis, rows.list, width, room / 2, { ...look, above: keys.height });
  return { queries, keys, own, height: keys.height + queries.height };
}

const SMALLER = 0.7; // of the usual size: rather so than with a word or two in a second line

/** The size at which a text stands in one line, if it is not much smaller than the usual one. */
function oneLine({ rowAxis, rows }: Scene, width: number, usual: number, least: number): number {
  for (let size = usual; size >= Math.max(15, SMALLER * usual); size--)
    if (setting(rowAxis, rows.list, width, 0, { size, least, above: 0 }).lines === 1) return size;
  return usual;
}

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((p, i) => p === b[i]);
