import { describe, expect, test } from "vitest";
import { axisOf, hasWords, listed, positionOf, tokenIn, visible } from "../src/compute/axis";
import { digest, MEASURES } from "../src/compute/digest";
import { gather, MOST } from "../src/compute/links";
import { Tiles } from "../src/compute/tiles";
import type { Side } from "../src/data/wire";
import { fromHash, toHash } from "../src/state/address";
import type { Selection } from "../src/state/selection";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { preferred, say } from "../src/words";
import { golden, reference } from "./golden";

const store = () => new Store(golden(), "light", "en", VIEWS);

const finish = <T>(job: Generator<void, T>): T => {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
};

test("a selection survives the address", () => {
  const chosen: Selection = {
    ...store().selection.value,
    view: "neurons",
    heads: [0, 2],
    queries: [1, 4],
    keys: [3],
    pairs: [
      [1, 2],
      [3, 4],
    ],
    contributions: true,
    relative: true,
    level: "words",
    special: false,
    threshold: 0.125,
    from: 0,
    to: 1,
    log: true,
  };
  expect({ ...chosen, ...fromHash(`#${toHash(chosen)}`) }).toEqual(chosen);
});

test("an address that makes no sense changes nothing or is put right", () => {
  const s = store();
  expect(fromHash("#chapter-2")).toEqual({});
  s.set(fromHash("#view=tree&kind=none&layer=99&heads=77,x&queries=500&pairs=1"));
  expect(s.selection.value).toMatchObject({
    view: "matrix",
    kind: "encoder",
    layer: 2,
    heads: [0],
    queries: [],
    pairs: [],
  });
});

test("changing the kind moves to a site that exists", () => {
  const s = store();
  s.set({ kind: "cross", layer: 2, heads: [1] });
  expect(s.site.value.kind).toBe("cross");
  expect(s.rows.value.side.name).toBe("decoder");
  expect(s.columns.value.side.name).toBe("encoder");
});

test("tokens show their spaces and line ends", () => {
  expect(visible("Ġstore")).toBe("␣store");
  expect(visible("▁store")).toBe("␣store");
  expect(visible("\n\n")).toBe("⏎⏎");
  expect(visible("Ċ")).toBe("⏎");
  expect(visible("草莓")).toBe("草莓");
});

test("words join their pieces and positions find them", () => {
  const side = golden().sides.get("encoder")!;
  const axis = axisOf(side, "words");
  expect(axis.labels).toEqual(["[CLS]", "strawberries", "</script>", "草莓", "فراولة", "[SEP]"]);
  expect([0, 1, 2, 3, 6].map((token) => positionOf(axis, token))).toEqual([0, 1, 1, 2, 5]);
  expect(hasWords(side)).toBe(true);
});

test("a word of parts of characters reads as its characters", () => {
  const parts = { text: ["世", "世₂", "界", "界₂"], word: [0, 0, 0, 0], adds: [null, "", null, ""] };
  const side = {
    ...golden().sides.values().next().value!,
    special: [0, 0, 0, 0],
    segment: [0, 0, 0, 0],
    ...parts,
  };
  expect(axisOf(side, "words").labels).toEqual(["世界"]);
  expect(axisOf(side, "tokens").labels).toEqual(parts.text);
});

test("active tokens are summed over pins and the pointer", () => {
  const s = store();
  s.set({ view: "heads", layer: 0, heads: [0, 1], queries: [2] });
  s.hover.value = { query: 4, key: null };
  const lens = s.lens(1);
  const { queries, toKeys } = s.active.value;
  expect(queries).toEqual([2, 4]);
  expect(toKeys[1][3]).toBeCloseTo(lens.row(2)[3] + lens.row(4)[3], 6);
});

test("beside a map, active tokens are those of the head that is shown", () => {
  const s = store();
  s.set({ view: "matrix", layer: 0, heads: [1, 0], queries: [2], keys: [] });
  const { toKeys } = s.active.value;
  expect(toKeys).toHaveLength(1);
  expect(toKeys[0][3]).toBeCloseTo(s.lens(1).row(2)[3], 6);
  s.set({ view: "heads" });
  expect(s.active.value.toKeys).toHaveLength(2);
});

test("links are those above the threshold, and no more than can be drawn", () => {
  const s = store();
  const lens = s.lens(0, s.page.sites[0]);
  const all = new Uint8Array(7).fill(1);
  const links = finish(gather([lens], { rows: all, columns: all }, 0.3));
  const expected = Array.from({ length: 7 }, (_, p) => Array.from(lens.row(p)))
    .flat()
    .filter((w) => w > 0.3);
  expect(links.count).toBe(expected.length);
  expect(links.top).toBeCloseTo(Math.max(...expected), 6);
  const many = {
    rows: { count: 400 },
    columns: { count: 400 },
    band: (a: number, b: number) =>
      new Float32Array((b - a) * 400).map((_, i) => ((i * 7919) % 1000) / 1000 + 0.01),
  };
  const wide = new Uint8Array(400).fill(1);
  const most = finish(gather([many as never], { rows: wide, columns: wide }, 0));
  expect(most.count).toBe(MOST);
  expect(most.left).toBe(true);
  expect(Math.min(...most.weight.subarray(0, MOST))).toBeGreaterThan(0.9);
});

test("a digest has the numbers that regard.measures has of every head", () => {
  const s = store();
  const expected = reference(s.page).measures;
  for (const [number, site] of s.page.sites.entries())
    for (const index of site.heads.keys()) {
      const found = finish(digest(s.lenses.of(site, index, s.look.value)));
      for (const part of ["measures", "chance"] as const)
        for (const name of MEASURES) {
          const wanted = expected[number][index][part][name] ?? Number.NaN;
          const close = name === "entropy" ? 3 : 5; // its logarithm is looked up in a table
          if (Number.isNaN(wanted)) expect(found[part][name], `${number} ${index} ${name}`).toBeNaN();
          else expect(found[part][name], `${number} ${index} ${name}`).toBeCloseTo(wanted, close);
        }
    }
});

test("words and contributions are not measured", () => {
  const s = store();
  for (const look of [{ level: "words" }, { contributions: true }] as const) {
    const lens = s.lenses.of(s.page.sites[0], 0, { ...s.look.value, ...look });
    expect(finish(digest(lens)).measures.entropy).toBeNaN();
  }
});

test("tiles refine to the largest of their values", () => {
  const s = store();
  const lens = s.lens(0, s.page.sites[0]);
  const all = new Uint8Array(7).fill(1);
  const tiles = new Tiles(lens, { rows: all, columns: all });
  const tile = tiles.sample(1, 0, 0);
  expect(tile.size).toEqual([4, 4]);
  expect(tile.exact).toBe(false);
  finish(tiles.refine(tile));
  const map = Array.from({ length: 7 }, (_, p) => lens.row(p));
  expect(tile.values[0]).toBeCloseTo(Math.max(map[0][0], map[0][1], map[1][0], map[1][1]), 6);
  expect(tile.values[15]).toBeCloseTo(map[6][6], 6);
  expect(tiles.known(1, 0, 0)).toBe(tile);
});

test("every sentence fills its blanks", () => {
  expect(say("en", "layerHead", { layer: 2, head: 3 })).toBe("Head 2.3");
  expect(say("zh", "layerHead", { layer: 2, head: 3 })).toBe("头 2.3");
  expect(preferred(["zh-CN", "en"])).toBe("zh");
  expect(preferred([])).toBe("en");
});

describe("tokens as they are drawn", () => {
  const sideOf = (text: string[], word: (number | null)[]) =>
    ({ name: "text", text, word, segment: text.map(() => 0), segments: [], special: [] }) as unknown as Side;

  test("words go without their space; what continues a word is marked", () => {
    const side = sideOf(
      ["The", " straw", "berries", " didn", "'t", ",", "  two", " ", "草", "莓"],
      [0, 1, 1, 2, 2, 3, 4, null, 5, 5],
    );
    const { labels } = axisOf(side, "tokens");
    expect(labels).toEqual(["The", "straw", "##berries", "didn", "'t", ",", "␣␣two", "␣", "草", "莓"]);
    expect(axisOf(side, "words").labels.slice(0, 3)).toEqual(["The", "strawberries", "didn't"]);
    expect(side.text.map((_, i) => tokenIn(side, i))).toEqual(labels);
  });

  test("in a list a space is shown where only it tells two tokens apart", () => {
    expect(listed([" was", " had", "was"])).toEqual(["␣was", "had", "was"]);
    expect(listed([" was", " had"])).toEqual(["was", "had"]);
  });
});
