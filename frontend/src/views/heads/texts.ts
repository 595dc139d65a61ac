// Where the words of a sentence stand: one text, or two where one looks at the other.

import { isTouch } from "../../frame/scroller";
import { type Setting, setting } from "../../marks/sentence";
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
  const size = narrow ? (count <= 80 ? 18 : 16) : sizes(count, width > 1000);
  const look = { size, least: isTouch() ? 24 : 0, above: 0 };
  const room = narrow ? 340 : free;
  if (own) {
    const plain = setting(rowAxis, rows.list, width, room, look);
    // What is free above and below is the same.
    const above = narrow ? 0 : Math.max(0, (free - plain.height) / 2);
    const text = above ? setting(rowAxis, rows.list, width, room, { ...look, above }) : plain;
    return { queries: text, keys: text, own, height: Math.max(text.height, narrow ? 0 : free) };
  }
  const keys = setting(columnAxis, columns.list, width, room / 2, look);
  const queries = setting(rowAxis, rows.list, width, room / 2, { ...look, above: keys.height });
  return { queries, keys, own, height: keys.height + queries.height };
}

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((p, i) => p === b[i]);
