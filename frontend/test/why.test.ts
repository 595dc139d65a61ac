// Lines back through the layers, and the looks that pins mean.

import { expect, test } from "vitest";
import { lookName } from "../src/app/address";
import { chanceOf, halves, sentence } from "../src/app/cut/result";
import { CUT } from "../src/app/cut/words";
import type { Cut, Why, WhyComponent, WhySide } from "../src/app/records";
import { askedAfter, linesOf } from "../src/app/why/chain";
import { layoutOf } from "../src/app/why/layout";
import { brought, reason } from "../src/app/why/sentences";
import { WHY } from "../src/app/why/words";
import { axisOf } from "../src/compute/axis";
import type { Say } from "../src/frame/context";
import { covers, type Look, pinnedEdges, pinnedPair } from "../src/state/edges";
import { add, say } from "../src/words";

add(WHY);
add(CUT);
const tell: Say = (key, values) => say("en", key, values);
const TOKENS = ["The", " cat", " sat", " on", " the", " mat", ".", " The", " cat", " sat"];
const look = (layer: number, head: number, query: number, key: number): Look => ({
  kind: "decoder",
  layer,
  head,
  query,
  key,
});
const TOP = look(18, 6, 9, 3);
const BELOW = look(16, 0, 3, 2);

function head(layer: number, head: number, centred: number, ...sources: number[]): WhyComponent {
  return {
    name: `${layer}.${head}`,
    kind: "head",
    attention: "decoder",
    layer,
    head,
    score: centred,
    centred,
    sources: sources.map((position) => ({ position, token: TOKENS[position], score: centred })),
  };
}

const mlp = (layer: number, centred: number): WhyComponent => ({
  ...head(layer, 0, centred),
  name: `MLP ${layer}`,
  kind: "mlp",
  head: null,
});

const side = (position: number, ...components: WhyComponent[]): WhySide => ({
  position,
  token: TOKENS[position],
  components,
  rest: { count: 176, score: 0, centred: 1.85 },
  agreement: null,
});

const FOUND: Why = {
  model: "SmolLM2",
  head: { name: "18.6", kind: "decoder", layer: 18, head: 6 },
  score: 8.574,
  centred: 8.225,
  weight: 0.976,
  visible: 10,
  sum: 8.574,
  error: 1.6e-6,
  key: side(3, head(16, 0, 6.255, 2, 1), mlp(11, -2.586), head(3, 1, 0.9, 0)),
  query: side(9, mlp(2, 1.2), head(5, 5, 1.1, 8)),
  chain: [
    { ...TOP, share: 0.976 },
    { ...BELOW, share: 6.255, into: 0, side: "key" },
  ],
};
const ANSWERS = new Map([[lookName(TOP), FOUND]]);

test("a look that was asked about leads to the earlier heads of its answer", () => {
  expect(linesOf([TOP], new Map())).toEqual([
    { ...TOP, share: null, of: null, into: null, side: null, asked: true },
  ]);
  expect(linesOf([TOP], ANSWERS)).toEqual([
    { ...TOP, share: 0.976, of: null, into: null, side: null, asked: true },
    { ...BELOW, share: 6.255, of: FOUND.centred, into: 0, side: "key", asked: false },
  ]);
});

test("going on adds the next line below the one that was asked about", () => {
  const next = look(12, 4, 2, 0);
  const answer = { ...FOUND, chain: [FOUND.chain[1], { ...next, share: 2, into: 0, side: "key" as const }] };
  const asked = askedAfter([TOP], BELOW, ANSWERS);
  expect(asked).toEqual([TOP, BELOW]);
  const lines = linesOf(asked, new Map([...ANSWERS, [lookName(BELOW), answer]]));
  expect(lines.map(({ layer, into, asked }) => [layer, into, asked])).toEqual([
    [18, null, true],
    [16, 0, true],
    [12, 1, false],
  ]);
});

test("a head among the parts becomes a line; any other look begins anew", () => {
  const part = look(5, 5, 9, 8);
  expect(askedAfter([TOP], part, ANSWERS)).toEqual([TOP, part]);
  expect(linesOf([TOP, part], ANSWERS)[2]).toEqual({
    ...part,
    share: 1.1,
    of: FOUND.centred,
    into: 0,
    side: "query",
    asked: true,
  });
  expect(askedAfter([TOP], look(2, 2, 5, 1), ANSWERS)).toEqual([look(2, 2, 5, 1)]);
  expect(askedAfter([TOP], TOP, ANSWERS)).toEqual([TOP]);
});

test("the reason is one sentence, and names what came before", () => {
  expect(reason(FOUND, tell)).toBe(
    "18.6 looks from “sat”₉ to “on”₃ above all because head 16.0 had copied “sat”₂, the token before it, into “on”₃: induction.",
  );
  const other = { ...FOUND.query, token: " dog" };
  expect(reason({ ...FOUND, query: other }, tell)).toMatch(/the token before it, into “on”₃\.$/); // no induction
  expect(brought(FOUND.key, tell)).toBe("Head 16.0 brought “sat”₂ here: “on”₃ carries what stood before it.");
  expect(reason({ ...FOUND, key: side(3, head(16, 0, 6, 1)) }, tell)).toContain(
    "because head 16.0 had brought “cat”₁ to “on”₃.",
  );
  expect(reason({ ...FOUND, key: side(3, mlp(4, 6)) }, tell)).toContain("what MLP 4 made of “on”₃");
  const word = { ...mlp(0, 6), name: "word", kind: "word" as const };
  expect(reason({ ...FOUND, key: side(3, word) }, tell)).toContain("above all because of the word itself");
  const segment = { ...word, name: "segment", kind: "segment" as const };
  expect(reason({ ...FOUND, key: side(3, segment) }, tell)).toContain("the sentence “on”₃ is in");
  const opening = head(16, 0, 6, 2);
  const rested = { ...opening, sources: [{ ...opening.sources[0], token: "[CLS]" }] };
  expect(reason({ ...FOUND, key: side(3, rested) }, tell)).not.toContain("the token before");
  expect(brought(side(3, rested), tell)).not.toContain("carries");
});

test("where no part decides, or nothing speaks for the look, the sentence says so", () => {
  expect(reason({ ...FOUND, key: side(3, head(16, 0, 1, 2)) }, tell)).toContain("for many small reasons");
  expect(reason({ ...FOUND, centred: -2 }, tell)).toContain("below the mean of the row");
  expect(reason({ ...FOUND, key: side(3, mlp(4, -6)) }, tell)).toContain("Nothing draws 18.6");
  expect(reason({ ...FOUND, centred: 0, visible: 1 }, tell)).toContain("can see nothing but “on”₃");
  expect(brought(side(3, mlp(4, 6)), tell)).toBe("");
});

const SIDES = () => ({ query: "decoder", key: "decoder" });
const measure = (text: string) => 8 * text.length;
const drawn = (width: number, names: readonly string[] = TOKENS) =>
  layoutOf(linesOf([TOP], ANSWERS), [{ side: "decoder", names }], SIDES, width, 70, measure);

test("the look is on top, the layer that led to it below, with how many lie between", () => {
  const { rows, arcs, stems, columns, gaps } = drawn(1000);
  expect(rows.map(({ layer, between }) => [layer, between])).toEqual([
    [18, 0],
    [16, 1],
  ]);
  expect(rows[0].base).toBeLessThan(rows[1].top);
  expect(columns.map(({ position }) => position)).toEqual(TOKENS.map((_, i) => i));
  expect(gaps).toEqual([]);
  const at = (position: number) => columns[position].x;
  expect(arcs.map(({ from, to }) => [from, to])).toEqual([
    [at(9), at(3)],
    [at(3), at(2)],
  ]);
  expect(stems).toHaveLength(1);
  expect(stems[0].x).toBe(at(3));
  expect(stems[0].from).toBeGreaterThan(stems[0].to); // from the lower layer up
  expect([...rows[1].lit].map(({ position }) => position).sort()).toEqual([2, 3]);
});

test("in a narrow picture tokens that take part stay, others give way in order", () => {
  const names = Array.from({ length: 200 }, (_, i) => `token${i}`);
  const { columns, gaps, width } = drawn(420, names);
  const shown = columns.map(({ position }) => position);
  expect(shown).toEqual(expect.arrayContaining([2, 3, 9]));
  expect(shown.length + gaps.reduce((sum, { hidden }) => sum + hidden, 0)).toBe(200);
  expect(columns.every(({ x }, i) => i === 0 || x > columns[i - 1].x)).toBe(true);
  expect(columns.every(({ x, width: wide }) => x - wide / 2 >= 70 && x + wide / 2 <= width)).toBe(true);
});

test("even too many lines for the width stay within it", () => {
  const names = Array.from({ length: 30 }, () => "x".repeat(40));
  const { columns } = drawn(260, names);
  expect(columns.every(({ x, width }) => x - width / 2 >= 0 && x + width / 2 <= 260)).toBe(true);
});

test("lines of one layer stand above each other, shortest lowest", () => {
  const chain = [...FOUND.chain, { ...look(16, 3, 9, 0), share: 2, into: 0, side: "query" as const }];
  const lines = linesOf([TOP], new Map([[lookName(TOP), { ...FOUND, chain }]]));
  const { arcs } = layoutOf(lines, [{ side: "decoder", names: TOKENS }], SIDES, 1000, 70, measure);
  expect(arcs[2].base).toBe(arcs[1].base);
  expect(arcs[2].lift).toBeGreaterThan(arcs[1].lift);
});

const plain = {
  name: "decoder",
  text: ["straw", "##berry", "jam"],
  special: [0, 0, 0],
  segment: [0, 0, 0],
  segments: [],
  word: [0, 0, 1],
  row: null,
  column: null,
  image: null,
  medium: null,
  spans: null,
};
const PLACE = { kind: "decoder", layer: 1, head: 2 };

test("pins mean a pair, a row, a column or a block; a word means all its tokens", () => {
  const tokens = axisOf(plain, "tokens");
  const words = axisOf(plain, "words");
  expect(pinnedEdges(PLACE, { queries: [], keys: [] }, tokens, tokens)).toBeNull();
  expect(pinnedEdges(PLACE, { queries: [2], keys: [] }, tokens, tokens)).toEqual({
    ...PLACE,
    queries: [2],
    keys: [],
  });
  expect(pinnedEdges(PLACE, { queries: [2], keys: [0] }, words, words)).toEqual({
    ...PLACE,
    queries: [2],
    keys: [0, 1],
  });
  expect(pinnedPair({ queries: [2], keys: [0] }, words, words)).toEqual({ query: 1, key: 0 });
  expect(pinnedPair({ queries: [2], keys: [0, 1] }, tokens, tokens)).toBeNull();
});

test("a look is cut where a block of its head covers it", () => {
  const row = [{ ...PLACE, queries: [2], keys: [] }];
  expect(covers(row, { ...PLACE, query: 2, key: 0 })).toBe(true);
  expect(covers(row, { ...PLACE, query: 1, key: 0 })).toBe(false);
  expect(covers(row, { ...PLACE, head: 3, query: 2, key: 0 })).toBe(false);
});

test("a cut is told in one sentence of the reader's language, with its control once that is there", () => {
  const said: Cut["said"] = [
    { code: "cut_head", values: { lines: "sat@9 → on", heads: "18.6" } },
    {
      code: "lowers_probability",
      values: { name: "on", before: "0.740", after: "0.721", difference: "−0.019" },
    },
  ];
  const control = {
    code: "cut_times",
    values: { times: "9.5", mean: "0.0020", sd: "0.0010", count: 16, larger: 0, theirs: "0.84", own: "0.99" },
  };
  expect(sentence({ said, sentence: "" }, "sat₉ → on₃", tell)).toBe(
    "Cutting sat₉ → on₃ in head 18.6 lowers P(“on”) from 0.740 to 0.721 (−0.019).",
  );
  expect(sentence({ said: [...said, control], sentence: "" }, "sat₉ → on₃", tell)).toContain(
    "; that is about 9.5 times what a random line of the nearest weight does (0.0020, sd 0.0010, n = 16, as much or more: 0; weights 0.84 on average, this one 0.99).",
  );
  const zh: Say = (key, values) => say("zh", key, values);
  const [verdict, comparison] = halves({ said: [...said, control], sentence: "" }, "sat₉ → on₃", tell);
  expect(verdict).toContain("sat₉ → on₃");
  expect(verdict).not.toContain("random");
  expect(comparison).toContain("random");
  expect(sentence({ said: [...said, control], sentence: "" }, "sat₉ → on₃", zh)).toMatch(
    /0\.740.*0\.721.*0\.002/,
  );
  const judged = (values: object, code = said[1].code) =>
    chanceOf(
      { said: [said[0], { ...said[1], code }, { code: "", values: { ...control.values, ...values } }] },
      tell,
    );
  expect(judged({})).toBe("None of 16 random cuts did as much (p = 0.06).");
  expect(judged({ larger: 1 })).toBe("1 of 16 random cuts did as much: not clearly more than chance.");
  expect(judged({ size: 256 })).toBe("None of 16 random cuts of 256 links did as much (p = 0.06).");
  expect(judged({}, "keeps_probability")).toBe("");
  const unknown = [{ code: "of the future", values: {} }, said[1]];
  expect(sentence({ said: unknown, sentence: "As it came." }, "x", tell)).toBe("As it came.");
});
