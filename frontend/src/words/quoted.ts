// Tokens in sentences and lists, written in one way: in a sentence “sat”₉, in lists, on axes and beside the pointer sat₉.
// A full stop with its position must not read as a number: “.”₆, but above the columns of a map, where there is no room.

const INDEX = /[₀-₉]+$/;

/** The text of a token's name, and its position where it carries one. */
export function parted(name: string): [text: string, index: string] {
  const index = INDEX.exec(name)?.[0] ?? "";
  return index && index.length < name.length ? [name.slice(0, -index.length), index] : [name, ""];
}

/** A token in quotation marks, its position behind them: “store”₅, “.”₁₇. */
export function quoted(name: string): string {
  const [text, index] = parted(name);
  return `“${text}”${index}`;
}

const SPELT = /[\p{L}\p{N}\p{S}⏎]/u;

/** A token in a list: only marks are in quotation marks. */
export const listedName = (name: string): string => (SPELT.test(parted(name)[0]) ? name : quoted(name));
