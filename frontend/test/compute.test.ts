import { describe, expect, test } from "vitest";
import { coverage, mostAligning } from "../src/compute/aligning";
import { attention, group, headOf, scores } from "../src/compute/attention";
import { axisOf } from "../src/compute/axis";
import { Lenses } from "../src/compute/lens";
import { attribution, mostOf, participation, riseOf, rowOf } from "../src/compute/pairs";
import { products } from "../src/compute/products";
import { restsOf } from "../src/compute/rest";
import { FADED, links } from "../src/marks/columns";
import { golden, reference } from "./golden";

const close = (found: ArrayLike<number>, wanted: number[], within = 2e-6) => {
  expect(found.length).toBe(wanted.length);
  for (let i = 0; i < wanted.length; i++) expect(Math.abs(found[i] - wanted[i])).toBeLessThan(within);
};

test("one row in two is the same before and after the others were looked at", () => {
  const page = golden();
  const { attention: wanted } = reference(page);
  page.sites.forEach((site, s) => {
    const head = headOf(site, 0);
    const some = { rows: [1, head.queries], columns: [0, head.keys], every: 2 } as const;
    const first = attention(head, some);
    attention(head, { rows: [0, head.queries], columns: [0, head.keys] });
    close(
      first,
      wanted[s][0].flatMap((row, i) => (i % 2 ? row : [])),
    );
    close(attention(head, some), Array.from(first));
  });
});

describe("attention of the golden file", () => {
  const page = golden();
  const { attention: wanted } = reference(page);
  page.sites.forEach((site, s) => {
    site.heads.forEach((_, h) => {
      test(`site ${s} (${site.kind}) head ${h}: whole, by rows, by tiles`, () => {
        const head = headOf(site, h);
        const whole = attention(head, { rows: [0, head.queries], columns: [0, head.keys] });
        close(whole, wanted[s][h].flat());
        const tile = attention(head, { rows: [1, 4], columns: [2, 5] });
        close(
          tile,
          wanted[s][h].slice(1, 4).flatMap((row) => row.slice(2, 5)),
        );
        const strided = attention(head, { rows: [0, head.queries], columns: [0, head.keys], stride: 2 });
        const every = <T>(list: T[]) => list.filter((_, i) => i % 2 === 0);
        close(strided, every(wanted[s][h]).flatMap(every));
      });
    });
  });

  test("a tile asked for first is the same", () => {
    const fresh = golden();
    const head = headOf(fresh.sites[0], 2);
    close(
      attention(head, { rows: [2, 5], columns: [1, 3] }),
      wanted[0][2].slice(2, 5).flatMap((r) => r.slice(1, 3)),
    );
  });

  test("grouped heads share keys", () => {
    expect([0, 1, 2, 3].map((h) => group(page.sites[0], h))).toEqual([0, 0, 1, 1]);
  });

  test("keys that may not be seen score -Infinity", () => {
    const head = headOf(page.sites[3], 0);
    const row = scores(head, { rows: [1, 2], columns: [0, 5] });
    expect(Array.from(row).map((x) => x === -Infinity)).toEqual([false, false, true, true, true]);
  });
});

test("products of vectors in any number agree with plain sums", () => {
  const vector = (n: number) => Float32Array.from({ length: n }, (_, i) => Math.sin(i * 1.7));
  const shapes = [
    { d: 5, rows: [1, 6], columns: [2, 9], stride: 1 },
    { d: 64, rows: [0, 32], columns: [0, 40], stride: 1 },
    { d: 64, rows: [3, 4], columns: [0, 41], stride: 1 },
    { d: 3, rows: [0, 40], columns: [7, 8], stride: 1 },
    { d: 8, rows: [1, 41], columns: [2, 41], stride: 3 },
  ] as const;
  for (const { d, rows, columns, stride } of shapes) {
    const [q, k] = [vector(rows[1] * d), vector(columns[1] * d)];
    const wanted: number[] = [];
    for (let i = rows[0]; i < rows[1]; i += stride)
      for (let j = columns[0]; j < columns[1]; j += stride) {
        let sum = 0;
        for (let c = 0; c < d; c++) sum += q[i * d + c] * k[j * d + c];
        wanted.push(sum / 8);
      }
    close(products(q, k, d, rows, columns, stride, 1 / 8), wanted);
  }
});

describe("lenses", () => {
  const page = golden();
  const lenses = new Lenses(page);
  const { attention: wanted, words } = reference(page);

  test("words sum columns and average rows", () => {
    const lens = lenses.of(page.sites[0], 1, { level: "words", contributions: false, relative: false });
    expect(lens.rows.count).toBe(6);
    const map = wanted[0][1];
    const mean = map[1].map((x, j) => (x + map[2][j]) / 2);
    close(lens.row(1), [mean[0], mean[1] + mean[2], ...mean.slice(3)]);
  });

  test("contributions of words are norms of sums of vectors", () => {
    page.sites[0].heads.forEach((_, h) => {
      const lens = lenses.of(page.sites[0], h, { level: "words", contributions: true, relative: false });
      close(lens.band(0, 6), words[h].flat(), 1e-3);
      for (let p = 0; p < 6; p++)
        close(
          lens.column(p),
          words[h].map((row) => row[p]),
          1e-3,
        );
    });
  });

  test("shares of a row sum to one, read by row, column or tile", () => {
    const look = { level: "tokens", contributions: true, relative: true } as const;
    const lens = lenses.of(page.sites[0], 0, look);
    const rows = Array.from({ length: 7 }, (_, p) => Array.from(lens.row(p)));
    for (const row of rows) expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    close(
      new Lenses(page).of(page.sites[0], 0, look).column(4),
      rows.map((row) => row[4]),
    );
    close(lens.tile([1, 3], [2, 4], 1), [rows[1][2], rows[1][3], rows[2][2], rows[2][3]]);
  });
});

describe("pairs", () => {
  const page = golden();

  test("a score is the scaled product", () => {
    const rows = rowOf(headOf(page.sites[4], 1), 0);
    for (const { product, score } of rows) if (score > -Infinity) expect(score).toBeCloseTo(0.4 * product, 5);
  });

  test("parts sum to the score less the mean of its row, constant parts of k left out", () => {
    const site = page.sites[3];
    const head = headOf(site, 1);
    const table = attribution(head, 4, 2)!;
    expect(table.rows).toEqual(["word", "position", "constant"]);
    expect(table.columns).toEqual(["word", "position"]);
    const row = rowOf(head, 4).map(({ product }) => product * site.scale);
    const mean = row.reduce((a, b) => a + b) / row.length;
    expect(Math.abs(table.sum - (row[2] - mean))).toBeLessThan(1e-5);
  });

  test("what neurons add above the row's mean adds up to the score above the row's mean", () => {
    const head = headOf(page.sites[3], 1);
    const row = rowOf(head, 4).map(({ score }) => score);
    const mean = row.reduce((sum, score) => sum + score, 0) / row.length;
    const rise = riseOf(head, 4, 2).reduce((sum, x) => sum + x, 0);
    expect(rise).toBeCloseTo(row[2] - mean, 4);
  });

  test("the neurons that make up most of a score are counted", () => {
    expect(mostOf(Float32Array.of(9, -9, 0.5, 0.5))).toBe(2);
    expect(participation(Float32Array.of(1, -1, 1, -1))).toBeCloseTo(4);
    expect(participation(Float32Array.of(5, 0, 0, 0))).toBeCloseTo(1);
  });
});

test("attention rests on special tokens and, in a causal model, on the first token that a row sees", () => {
  const [site] = golden().sites;
  const side = { ...golden().sides.get(site.query)!, text: ["a", "b", "[S]", "c"], special: [0, 0, 1, 0] };
  const axis = axisOf({ ...side, segment: [0, 0, 0, 0], word: null } as unknown as typeof side, "tokens");
  const rested = (left: number | null, right: number | null) => {
    const rests = restsOf({ ...site, key: site.query, mask: { left, right, table: null } }, axis, axis);
    return [0, 1, 2, 3].map((query) => [0, 1, 2, 3].filter((key) => rests(query, key)));
  };
  expect(rested(null, null)).toEqual([[2], [2], [2], [2]]);
  expect(rested(null, 0)[3]).toEqual([0, 2]);
  expect(rested(2, 0)[3]).toEqual([1, 2]);
  const masked = axisOf({ ...axis.side, stand_ins: [2] }, "tokens"); // [MASK] and [UNK] stand for words
  expect(restsOf(site, masked, masked)(0, 2)).toBe(false);
});

test("lines that rest are drawn first, in grey and paler", () => {
  const strokes: [string, number, number][] = [];
  const alphas: number[] = [];
  const pen = {
    lines: (_: ArrayLike<number>, count: number, width: number, ink: { colour: string; alpha?: number }) => {
      strokes.push([ink.colour, count, width]);
      alphas.push(ink.alpha ?? 1);
    },
    rect() {},
    text() {},
    image() {},
  };
  const found = {
    ...{
      count: 3,
      query: Uint32Array.of(0, 1, 1),
      key: Uint32Array.of(0, 0, 1),
      head: Uint8Array.of(0, 0, 0),
    },
    ...{ weight: Float32Array.of(1, 1, 0.9), top: 1, left: false, received: [] },
  };
  const places = { rows: Int32Array.of(0, 1), columns: Int32Array.of(0, 1) };
  const inks = {
    colours: ["red"],
    dashed: [false],
    rests: (_: number, key: number) => key === 0,
    resting: FADED,
    quiet: "grey",
    theme: "light" as const,
  };
  const g = { left: 50, right: 150, before: 10, strip: 10, width: 200, text: 40, row: 20, size: 13 };
  links(pen, found, places, inks, g, 0, 100);
  expect(strokes).toEqual([
    ["grey", 2, 1],
    ["red", 1, 2],
  ]);
  expect(alphas[0]).toBeLessThan(0.25 * alphas[1]); // a look of 1 that rests, beside one of 0.9 that does not
});

test("the head to begin with is the one that pairs most words of two texts", () => {
  const one = [0.9, 0.1, 0.9, 0.1]; // two rows that look at the same key
  const both = [0.1, 0.8, 0.7, 0.3];
  expect(coverage(one, 2)).toBeCloseTo(0.5);
  expect(coverage(both, 2)).toBeCloseTo(0.75);
  expect(mostAligning(["one", "both"], (name) => coverage(name === "one" ? one : both, 2))).toBe("both");
});
