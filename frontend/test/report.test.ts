import { expect, test } from "vitest";
import type { Digest } from "../src/compute/digest";
import { COLOURS, counts, foundOf, headsOf, NONE, namesOf, telling, typeOf } from "../src/data/report";
import type { Site } from "../src/data/wire";
import { sayIn } from "../src/frame/context";
import { headlineOf } from "../src/frame/headline";
import { restSaid } from "../src/frame/report";
import { awakeTop } from "../src/frame/small";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { glossed } from "../src/views/atlas/legend";
import { distance, EYES, TWINS } from "./eyes";
import { golden } from "./golden";

const page = golden();
const cells = page.sites.flatMap((site) => site.heads.map((head) => ({ site, head })));
const named = { site: page.sites[1], head: 2 };

test("a head goes by what it does, or by the type of its map", () => {
  expect(foundOf(named)[0].sentence).toBe("attends to the previous token");
  expect(namesOf(page, named, "pattern")).toEqual(["previous token"]);
  expect(namesOf(page, named, "type")).toEqual(["diagonal"]);
  expect(typeOf(page, named)?.probability).toBe(0.75);
  expect(namesOf(page, { site: page.sites[1], head: 0 }, "type")).toEqual([NONE]);
});

test("names are counted, heads without one last", () => {
  expect(counts(page, cells, "pattern")).toEqual([
    ["previous token", { first: 1, also: 0 }],
    [NONE, { first: cells.length - 1, also: 0 }],
  ]);
});

// Names are written beside their colours too; twenty that also differ for the rare tritanope eyes would be garish.
const COMMON = Object.entries(EYES).filter(([name]) => name !== "tritanope");

test.each(COMMON)("colours of names stay apart for %s eyes", (_, eye) => {
  for (const table of Object.values(COLOURS)) {
    const all = Object.entries(table).filter(([name]) => !(name in TWINS)); // they have their twins' colours
    for (const [i, [name, colour]] of all.entries())
      for (const [other, its] of all.slice(0, i))
        expect(distance(eye, colour, its), `${name} ${other}`).toBeGreaterThan(0.078);
  }
});

test("of the heads of a name the most telling is the one whose map shows it", () => {
  const found = (name: string, score: number) => ({ name, score, sentence: "" });
  const rest = (share: number) => ({ share, place: "the first token" });
  const site = {
    ...page.sites[0],
    heads: [0, 1, 2],
    patterns: [[found("induction", 0.9)], [found("induction", 0.7)], [found("previous token", 0.8)]],
    rest: [rest(0.98), rest(0.4), rest(0.1)],
  } as unknown as (typeof page.sites)[number];
  const chosen = telling(
    [0, 1, 2].map((head) => ({ site, head })),
    false,
  );
  expect(chosen.map(({ cell }) => cell.head)).toEqual([1, 2, 0]); // the strongest name still comes first
});

test("the heads of a name are in the order of the grid, and the best is the one that shows it most", () => {
  const found = (name: string, score: number) => ({ name, score, sentence: "" });
  const site = {
    ...page.sites[0],
    heads: [0, 1, 2],
    patterns: [
      [found("induction", 0.4)],
      [found("previous token", 0.9)],
      [found("itself", 0.8), found("induction", 0.7)],
    ],
  } as unknown as (typeof page.sites)[number];
  const { all, best } = headsOf(
    page,
    [0, 1, 2].map((head) => ({ site, head })),
    "induction",
    "pattern",
  );
  expect(all.map(({ head }) => head)).toEqual([0, 2]);
  expect(best?.head).toBe(2);
});

test("a small map has its strongest colour where it looks most, not where it rests", () => {
  const found = (pixels: number[], keys = 2000) =>
    ({
      pixels: Float32Array.from(pixels),
      top: Math.max(...pixels),
      size: [1, keys / 2],
      pool: 2,
    }) as unknown as Digest;
  expect(awakeTop(found([0.9, 0.25]), [1, 0])).toBeCloseTo(0.25, 6);
  expect(awakeTop(found([0.9, 0.1], 16), [1, 0])).toBeCloseTo(0.25, 6); // hardly more than even attention
  expect(awakeTop(found([0.9, 0.1], 4), [1, 0])).toBeCloseTo(0.5, 6);
  expect(awakeTop(found([0.9, 0.001]), [1, 0])).toBeCloseTo(0.12, 6); // next to nothing stays pale
  expect(awakeTop(found([0.002, 0.001]), [0, 0])).toBeCloseTo(0.002, 6); // of a long text
  expect(awakeTop(found([0.9]), [1])).toBeCloseTo(0.9, 6);
});

test("the sentence above the atlas tells of the most specific names first, and its numbers add up to all heads", () => {
  const found = (name: string) => [{ name, score: 0.5, sentence: "" }];
  const told = (names: string[], language: "en" | "zh") => {
    const own = golden();
    const patterns = names.map((name) => (name ? found(name) : []));
    const site = { ...own.sites[0], heads: names.map((_, head) => head), patterns } as unknown as Site;
    const store = new Store({ ...own, sites: [site] }, "light", language, VIEWS);
    store.set({ view: "atlas", kind: site.kind, layer: site.layer, heads: [0] });
    return headlineOf(store, sayIn(store));
  };
  const many = [..."123456"].map(() => "fixed words");
  const names = [...many, "tokens just before", "previous token", "previous token", "induction", ""];
  expect(told(names, "en")).toBe(
    "In this text, 1 of 11 heads finds what followed the same token before (induction); 9 follow 3 other patterns; 1 follows none.",
  );
  const resting = ["previous token", "previous token", "", "always rests"];
  const counted =
    "In this text, 2 of 4 heads look one token back (previous token); 1 follows none; 1 always rests.";
  expect(told(resting, "en")).toBe(counted);
  expect(told([...resting, "", "always rests"], "en")).toMatch(/; 2 follow none; 2 always rest\.$/);
  expect(told([...resting, "", "always rests"], "zh")).toMatch(/；2 个都不符合；2 个总在休息。$/);
  expect(told(["previous token", "itself", "itself"], "en")).toBe(
    "In this text, 1 of 3 heads looks one token back (previous token); 2 look at the token itself.",
  );
  expect(told(names, "zh")).toMatch(/^在这段文本中，11 个头中有 1 个找到.*（归纳）；2 个看前一个词元/);
});

test("the legend says what the name of most heads means where the name itself has it in brackets", () => {
  const said = (names: string[], language: "en" | "zh") => {
    const own = golden();
    const patterns = names.map((name) => (name ? [{ name, score: 0.5, sentence: "" }] : []));
    const site = { ...own.sites[0], heads: names.map((_, head) => head), patterns } as unknown as Site;
    const store = new Store({ ...own, sites: [site] }, "light", language, VIEWS);
    return glossed(
      store,
      names.map((_, head) => ({ site, head })),
      sayIn(store),
    );
  };
  const names = ["", "", "", "previous token", "fixed words", "fixed words"];
  expect(said(names, "en")).toBe("Fixed words: the same for every token.");
  expect(said(names, "zh")).toBe("固定的词：各词元都看。");
  expect(said(["previous token", "previous token", "fixed words"], "en")).toBe("");
});

test("where an output rests elsewhere than the looks, it is said why; where not, nothing is", () => {
  const store = new Store(golden(), "light", "en", VIEWS);
  const resting = (place: string) => {
    const site = { ...page.sites[0], heads: [0], rest: [{ share: 0.31, place }] } as unknown as Site;
    return restSaid({ site, head: 0 }, false, { share: 0.18, place: "[SEP]" }, sayIn(store));
  };
  expect(resting("[CLS]")).toBe(
    "18% comes from where it rests, here mostly [SEP], since a look at [SEP] brings in more than one at [CLS]",
  );
  expect(resting("[SEP]")).toBe("18% comes from where it rests, mostly [SEP]");
});
