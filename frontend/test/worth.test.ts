// What lines are worth, against Python's numbers in the golden file, and how signed numbers are gathered and drawn.

import { describe, expect, test } from "vitest";
import { strongest } from "../src/compute/active";
import { attention, headOf } from "../src/compute/attention";
import { digest } from "../src/compute/digest";
import { type Lens, Lenses, type Look } from "../src/compute/lens";
import { gather, type Links } from "../src/compute/links";
import { Tiles } from "../src/compute/tiles";
import { hasWorth, SURE, worth } from "../src/compute/worth";
import type { Cut } from "../src/data/wire";
import { links } from "../src/marks/columns";
import type { Pen } from "../src/marks/pen";
import { rootTicks, signColour, signed } from "../src/marks/scales";
import { fromHash, toHash } from "../src/state/address";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { golden, reference } from "./golden";

const CUTS: Cut[] = ["mask", "zero"];
const looking = (cut: Cut, level: Look["level"] = "tokens"): Look => ({
  level,
  contributions: false,
  relative: false,
  worth: cut,
});

/** Equal to what Python found, NaN where it is NaN there (null in its JSON). */
const close = (found: ArrayLike<number>, wanted: (number | null)[], within = 1e-5) => {
  expect(found.length).toBe(wanted.length);
  wanted.forEach((value, i) => {
    if (value === null || Number.isNaN(value)) expect(found[i]).toBeNaN();
    else expect(Math.abs(found[i] - value)).toBeLessThan(within * Math.max(1, Math.abs(value)));
  });
};

function ended<T>(job: Generator<void, T>): T {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}

const all = (lens: Lens) => ({
  rows: new Uint8Array(lens.rows.count).fill(1),
  columns: new Uint8Array(lens.columns.count).fill(1),
});

describe.each(CUTS)("worth of the golden file, cut by %s", (cut) => {
  const page = golden();
  const [site] = page.sites;
  const wanted = reference(page).worth[cut];

  test("equals Python's, whole and by tiles, rows and columns", () => {
    expect(hasWorth(site)).toBe(true);
    site.heads.forEach((_, h) => {
      const head = headOf(site, h);
      close(worth(head, { rows: [0, 7], columns: [0, 7] }, cut), wanted[h].flat());
      const part = wanted[h].slice(1, 5).flatMap((row) => row.slice(2, 6));
      close(worth(head, { rows: [1, 5], columns: [2, 6] }, cut), part);
      const every = <T>(list: T[]) => list.filter((_, i) => i % 2 === 0);
      close(worth(head, { rows: [0, 7], columns: [0, 7], stride: 2 }, cut), every(wanted[h]).flatMap(every));
      const lens = new Lenses(page).of(site, h, looking(cut));
      close(lens.row(3), wanted[h][3]);
      close(
        lens.column(4),
        wanted[h].map((row) => row[4]),
      );
      close(lens.tile([1, 5], [2, 6], 1), part);
    });
  });

  test("lines between words are cut together", () => {
    site.heads.forEach((_, h) => {
      const lens = new Lenses(page).of(site, h, looking(cut, "words"));
      const weights = attention(headOf(site, h), { rows: [0, 7], columns: [0, 7] });
      const parts = reference(page).worth.zero[h];
      const own = site.go!.part(h);
      const { starts } = lens.rows;
      const expected: number[] = [];
      for (let p = 0; p < lens.rows.count; p++)
        for (let c = 0; c < lens.columns.count; c++) {
          let sum = 0;
          for (let q = starts[p]; q < starts[p + 1]; q++) {
            let [weight, part] = [0, 0];
            for (let k = starts[c]; k < starts[c + 1]; k++) {
              weight += weights[q * 7 + k];
              part += parts[q][k]!;
            }
            sum +=
              cut === "zero" ? part : weight > SURE ? Number.NaN : (part - weight * own[q]) / (1 - weight);
          }
          expected.push(sum);
        }
      close(lens.band(0, lens.rows.count), expected);
      const [n, m] = [lens.rows.count, lens.columns.count];
      close(
        lens.column(1),
        Array.from({ length: n }, (_, p) => expected[p * m + 1]),
      );
    });
  });
});

test("sites without gradients have no worth, and a page of them offers none", () => {
  const page = golden();
  expect(page.sites.map(hasWorth)).toEqual([true, false, false, false, false]);
  const store = new Store(page, "light", "en", VIEWS);
  expect(store.judges).toBe(false); // the golden file does not say what lines are judged by
  store.set({ worth: true, layer: 0 });
  expect(store.look.value.worth).toBeUndefined();
});

test("worth takes the place of weights and contributions where the page has it and the view can show it", () => {
  const page = golden();
  page.facts = {
    ...page.facts,
    worth: { about: "labels", name: "yes", position: null, how: "zero", check: null },
  };
  const store = new Store(page, "light", "en", VIEWS);
  store.set({ view: "heads", layer: 0, contributions: true, worth: true });
  expect(store.look.value).toMatchObject({ contributions: false, worth: "zero" });
  store.set({ view: "neurons" });
  expect(store.look.value).toEqual({ level: "tokens", contributions: true, relative: false });
  expect(fromHash(`#${toHash(store.selection.value)}`).worth).toBe(true);
  store.set({ view: "heads", layer: 1 }); // of which there is none
  expect(store.look.value.worth).toBeUndefined();
});

describe("numbers of both signs", () => {
  const values = [0.5, -2, Number.NaN, 0.01, 1, -0.001, 0, 0.25, -1];
  const axis = { count: 3, starts: Int32Array.from([0, 1, 2, 3]) };
  const lens = {
    rows: axis,
    columns: axis,
    look: looking("mask"),
    site: { query: "a", key: "a", mask: { left: null, right: null, table: null } },
    head: { keys: 3 },
    band: (a: number, b: number) => Float32Array.from(values.slice(3 * a, 3 * b)),
    tile: ([a, b]: number[], [c, d]: number[]) =>
      Float32Array.from(
        values.filter((_, i) => i / 3 >= a && Math.floor(i / 3) < b && i % 3 >= c && i % 3 < d),
      ),
  } as unknown as Lens;

  test("lines are gathered by size; what is not known comes last", () => {
    const found = ended(gather([lens], all(lens), 0));
    const lines = Array.from(found.weight.slice(0, found.count));
    expect(lines.slice(0, -1).sort((a, b) => a - b)).toEqual([-2, -1, 0.25, 0.5, 1]);
    expect(lines.at(-1)).toBeNaN();
    expect([found.query[found.count - 1], found.key[found.count - 1]]).toEqual([0, 2]);
    expect(found.top).toBe(2);
    expect(found.received[0][2]).toBeCloseTo(-0.001 - 1);
    expect(ended(gather([lens], all(lens), 0.9)).count).toBe(4);
  });

  test("maps keep signs, and end as far from zero as any value", () => {
    const map = ended(digest({ ...lens, columns: { ...axis, special: [] } } as unknown as Lens));
    expect(map.top).toBe(2);
    close(map.pixels, values);
    const tiles = new Tiles(lens, all(lens));
    close(tiles.sample(0, 0, 0).values, values);
    expect(tiles.top).toBe(2);
  });

  test("lists begin with the largest, whatever its sign", () => {
    const rows = [Float32Array.from([0.1, -0.4, Number.NaN, 0.2])];
    const order = strongest(rows, new Uint8Array(4).fill(1), 4).map(([p]) => p);
    expect(order).toEqual([1, 3, 0, 2]);
  });

  test("lines have the colour of their sign, those not known are dashed", () => {
    const drawn: [string, boolean | undefined][] = [];
    const pen = { lines: (_s, _n, _w, ink) => drawn.push([ink.colour, ink.dashed]) } as Partial<Pen> as Pen;
    const found = {
      count: 3,
      query: Uint32Array.from([0, 0, 0]),
      key: Uint32Array.from([0, 1, 2]),
      head: new Uint8Array(3),
      weight: Float32Array.from([1, -1, Number.NaN]),
      top: 1,
    } as unknown as Links;
    const inks = {
      colours: ["blue", "orange", "grey"],
      dashed: [false, false, true],
      rests: () => false,
      resting: 1,
      quiet: "quiet",
      theme: "light" as const,
      of: (value: number) => (Number.isNaN(value) ? 2 : value < 0 ? 1 : 0),
    };
    const places = { rows: Int32Array.from([0]), columns: Int32Array.from([0, 1, 2]) };
    const g = { left: 0, right: 100, before: 10, strip: 10, width: 100, text: 10, row: 20, size: 13 };
    links(pen, found, places, inks, g, 0, 100);
    expect(drawn.sort()).toEqual([
      ["blue", false],
      ["grey", true],
      ["orange", false],
    ]);
  });

  test("they are written with their sign", () => {
    expect([0.123, -0.0204, 0.00031, 0.000001, 0, Number.NaN].map(signed)).toEqual([
      "+0.12",
      "−0.020",
      "+0.0003",
      "≈ 0",
      "0",
      "?",
    ]);
    expect(signColour(1, "light")).not.toBe(signColour(-1, "light"));
    expect(rootTicks(4).map(([value]) => value)).toEqual([-4, -0.4, 0, 0.4, 4]);
  });
});
