// A folded segment is one position: brute-force sums and means of the map.

import { describe, expect, test } from "vitest";
import { chanceOf } from "../src/compute/digest";
import { type Lens, Lenses, type Look } from "../src/compute/lens";
import { restsOf } from "../src/compute/rest";
import { decode, type Page } from "../src/data/wire";
import { fromHash, toHash } from "../src/state/address";
import { foldsOf, segmentOf } from "../src/state/folds";
import { initial } from "../src/state/selection";
import { bytes, golden, reference } from "./golden";

const CUT = [2, 5]; // where segments of the first site's seven tokens begin, beside 0

/** The golden page, its first side in three segments. */
function segmented(page = golden()): Page {
  const side = page.sides.get(page.sites[0].key)!;
  const bounds = [0, ...CUT, side.text.length];
  side.segments = ["system", "image", "question"].map((name, n) => ({
    name,
    start: bounds[n],
    end: bounds[n + 1],
  }));
  side.segment = side.text.map((_, i) => CUT.filter((at) => i >= at).length);
  side.word = side.text.map((_, i) => i);
  return page;
}

const page = segmented();
const site = page.sites[0];
const own = site.key;
const plain = { level: "tokens", contributions: false, relative: false } as const;
const lensOf = (head: number, more: Partial<Look>): Lens =>
  new Lenses(page).of(site, head, { ...plain, ...more });
const folding = (...numbers: number[]) =>
  foldsOf(
    page,
    numbers.map((number) => `${own}.${number}`),
    "en",
  );

/** The tokens of each position when these segments are folded. */
function groups(...numbers: number[]): number[][] {
  const { segment } = page.sides.get(own)!;
  const found: number[][] = [];
  segment.forEach((number, i) => {
    const last = found.at(-1);
    if (numbers.includes(number) && last && segment[last[0]] === number) last.push(i);
    else found.push([i]);
  });
  return found;
}

/** Rows averaged, columns summed, or averaged too. */
const byHand = (map: number[][], parts: number[][], averaged = false): number[][] =>
  parts.map((rows) =>
    parts.map((keys) => {
      const sum = rows.reduce((total, i) => total + keys.reduce((part, j) => part + map[i][j], 0), 0);
      return sum / rows.length / (averaged ? keys.length : 1);
    }),
  );

const close = (found: ArrayLike<number>, wanted: number[]) => {
  expect(found.length).toBe(wanted.length);
  wanted.forEach((value, i) => {
    expect(found[i]).toBeCloseTo(value, 5);
  });
};

const whole = (lens: Lens): number[][] =>
  Array.from({ length: lens.rows.count }, (_, p) => Array.from(lens.row(p)));

describe.each([[[1]], [[0, 2]], [[0, 1, 2]]])("segments %j folded", (numbers) => {
  const folds = folding(...numbers);
  const parts = groups(...numbers);

  test.each([false, true])("weights, averaged %s: by rows, columns, bands and tiles", (averaged) => {
    site.heads.forEach((_, h) => {
      const wanted = byHand(reference(page).attention[0][h], parts, averaged);
      const lens = lensOf(h, { folds, averaged });
      close(lens.band(0, parts.length), wanted.flat());
      parts.forEach((_, p) => {
        close(
          lens.column(p),
          wanted.map((row) => row[p]),
        );
      });
      const end = parts.length;
      close(
        lens.tile([0, end], [1, end], 1),
        wanted.flatMap((row) => row.slice(1)),
      );
    });
  });

  test("contributions are sums of norms, shares of a row add up to one", () => {
    const tokens = whole(lensOf(0, { contributions: true }));
    close(lensOf(0, { contributions: true, folds }).band(0, parts.length), byHand(tokens, parts).flat());
    for (const row of whole(lensOf(0, { contributions: true, relative: true, folds })))
      expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
  });

  test("worth is that of all lines cut together", () => {
    const zero = lensOf(0, { worth: "zero" });
    const sums = byHand(whole(zero), parts).map((row, p) => row.map((value) => value * parts[p].length));
    close(lensOf(0, { worth: "zero", folds, averaged: true }).band(0, parts.length), sums.flat());
  });
});

test("words beside a folded segment keep the norms of their vectors", () => {
  const original = segmentedWords();
  const look = { level: "words", contributions: true, relative: false } as const;
  const lenses = new Lenses(original);
  const words = lenses.of(original.sites[0], 0, look);
  const lens = lenses.of(original.sites[0], 0, { ...look, folds: { [own]: { 0: "folded" } } });
  const first = words.rows.starts.indexOf(lens.rows.starts[1]);
  for (let p = 1; p < lens.rows.count; p++)
    close(Array.from(lens.row(p)).slice(1), Array.from(words.row(first + p - 1)).slice(first));
});

/** The golden page with its own words, a segment boundary between two of them. */
function segmentedWords(): Page {
  const made = decode(bytes());
  const side = made.sides.get(own)!;
  side.segment = side.text.map((_, i) => Number(i >= 3));
  side.segments = [
    { name: "A", start: 0, end: 3 },
    { name: "B", start: 3, end: side.text.length },
  ];
  return made;
}

test("a folded segment says what it is, is no special token and no place to rest", () => {
  const lens = lensOf(0, { folds: folding(0, 1) });
  expect(lens.rows.labels.slice(0, 2)).toEqual(["system · 2 tokens", "image · 3 tokens"]);
  expect(foldsOf(page, [`${own}.1`], "zh")).toEqual({ [own]: { 1: "图像 · 3 个词元" } });
  expect(lens.columns.special[0] || lens.columns.border[0]).toBe(false);
  expect(restsOf(site, lens.rows, lens.columns)(2, 0)).toBe(false);
});

test("the chance of a folded segment is its share of the tokens that a row may see", () => {
  const seen = (key: number) => chanceOf(lensOf(0, {}), 6, key)!;
  const tokens = 1 / seen(0); // the row sees all of them alike
  expect(chanceOf(lensOf(0, { folds: folding(1) }), 4, 2)).toBeCloseTo(3 / tokens, 9);
  expect(chanceOf(lensOf(0, { folds: folding(1), averaged: true }), 4, 2)).toBeCloseTo(1 / tokens, 9);
  expect(chanceOf(lensOf(0, { folds: folding(1) }), 4, 0)).toBeCloseTo(1 / tokens, 9);
  expect(chanceOf(lensOf(0, { folds: folding(1) }), 2, 0)).toBeNull();
});

test("an address keeps what is folded; what is not there is left out", () => {
  const selection = { ...initial(page), folded: [`${own}.1`], averaged: true };
  expect(fromHash(toHash(selection))).toMatchObject({ folded: [`${own}.1`], averaged: true });
  expect(segmentOf(page, `${own}.3`)).toBeNull();
  expect(segmentOf(page, "nothing.0")).toBeNull();
  expect(foldsOf(page, ["nothing.0"], "en")).toBeUndefined();
});
