// Long on purpose: the parts of the app that need no browser, each with a few tests beside the others.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Ask, fromAddress, LOOKS, NO_OTHER, NOTHING_ASKED, toAddress, toldOf } from "../src/app/address";
import { otherOf } from "../src/app/compare/comparison";
import { besides, compared, distance, fits, otherWords } from "../src/app/compare/difference";
import { listed } from "../src/app/effect";
import { suited } from "../src/app/examples";
import { tidy } from "../src/app/export";
import { judgingOf } from "../src/app/judge";
import { Latest } from "../src/app/latest";
import type { Effect, Example, ModelRecord } from "../src/app/records";
import { APP_VIEWS } from "../src/app/views";
import type { Axis } from "../src/compute/axis";
import { Lenses } from "../src/compute/lens";
import type { Page } from "../src/data/wire";
import { palette, twoSided } from "../src/marks/scales";
import { Store } from "../src/state/store";
import { add, isKey, say } from "../src/words";
import { APP } from "../src/words/app";
import { distance as apart, EYES } from "./eyes";
import { golden } from "./golden";

const finish = <T>(job: Generator<void, T>): T => {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
};

add(APP);
beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A server that answers after a while, and hears when nobody waits any more. */
function slow(milliseconds: number, log: string[]) {
  return (name: string) => (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      log.push(`asked ${name}`);
      setTimeout(() => resolve(name), milliseconds);
      signal.addEventListener("abort", () => {
        log.push(`gave up ${name}`);
        reject(signal.reason);
      });
    });
}

test("while somebody types only the last text is asked for", async () => {
  const log: string[] = [];
  const ask = slow(10, log);
  const latest = new Latest();
  const answers = ["I", "I w", "I we"].map((text) => latest.ask(ask(text), 120));
  await vi.advanceTimersByTimeAsync(400);
  expect(log).toEqual(["asked I we"]);
  expect(await Promise.all(answers)).toEqual([undefined, undefined, "I we"]);
});

test("a newer question gives up the one under way, whose answer never comes", async () => {
  const log: string[] = [];
  const ask = slow(1000, log);
  const latest = new Latest();
  const first = latest.ask(ask("a"));
  await vi.advanceTimersByTimeAsync(300);
  const second = latest.ask(ask("b"));
  await vi.advanceTimersByTimeAsync(1500);
  expect(log).toEqual(["asked a", "gave up a", "asked b"]);
  expect(await first).toBeUndefined();
  expect(await second).toBe("b");
});

test("working is said after a moment, and not for quick answers", async () => {
  const latest = new Latest();
  latest.ask(slow(100, [])("quick"));
  await vi.advanceTimersByTimeAsync(140);
  expect(latest.working.value).toBe(false);
  latest.ask(slow(600, [])("slow"));
  await vi.advanceTimersByTimeAsync(140);
  expect(latest.working.value).toBe(false);
  await vi.advanceTimersByTimeAsync(20);
  expect(latest.working.value).toBe(true);
  await vi.advanceTimersByTimeAsync(500);
  expect(latest.working.value).toBe(false);
});

test("an error of the last question is told, one of an earlier is not", async () => {
  const latest = new Latest();
  const failing = () => Promise.reject(new Error("busy"));
  await expect(latest.ask(failing)).rejects.toThrow("busy");
  const early = latest.ask(failing, 50);
  const late = latest.ask(async () => "fine");
  await vi.advanceTimersByTimeAsync(100);
  expect(await early).toBeUndefined();
  expect(await late).toBe("fine");
  expect(latest.working.value).toBe(false);
});

test("what was asked survives the address", () => {
  const ask: Ask = {
    model: "a/b",
    text: "café & 草莓 #1 = <b>",
    pair: "two\nlines",
    target: "tres",
    chat: JSON.stringify({ messages: [{ role: "user", content: "café & #1" }], ids: [5, 0], answer: "…" }),
    generate: 20,
    truncate: true,
    off: [
      { kind: "encoder", layer: 1, head: 8 },
      { kind: "cross", layer: 0, head: 11 },
    ],
    mode: "uniform",
    judged: { position: 0, token: " tired" },
    why: [{ kind: "decoder", layer: 18, head: 6, query: 9, key: 3 }],
    cut: [
      { kind: "decoder", layer: 18, head: 6, queries: [9, 10], keys: [3] },
      { kind: "cross", layer: 0, head: 1, queries: [], keys: [2] },
    ],
    how: "zero",
    other: { with: "model", text: "x", pair: "y", model: "c", layer: 0, head: 3 },
  };
  expect(fromAddress(`#${toAddress(ask)}&view=heads&layer=2`)).toEqual(ask);
  expect(toAddress(NOTHING_ASKED)).toBe("");
});

test("a conversation that makes no sense is none", () => {
  expect(toldOf('{"ids":[1]}')).toEqual({ messages: undefined, ids: [1], answer: undefined });
  for (const chat of ["", "{", "null", '{"messages":[]}', '{"messages":[{"role":1,"content":""}],"ids":[]}'])
    expect(toldOf(chat)).toBeNull();
  expect(fromAddress("#text=a&chat=%7B")).toEqual({ ...NOTHING_ASKED, text: "a" });
});

test("an address that makes no sense asks for what can be read", () => {
  expect(fromAddress("#view=heads")).toBeNull();
  expect(fromAddress("#text=a&off=x,encoder:1.2,encoder:1&generate=-3&with=none&otherHead=9")).toEqual({
    ...NOTHING_ASKED,
    text: "a",
    off: [{ kind: "encoder", layer: 1, head: 2 }],
    other: NO_OTHER,
  });
});

test("an address asks about so many looks, and cuts so many, at most", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `decoder:1.2:${i}-0`).join(",");
  const found = fromAddress(`#text=a&why=${many(5000)}&cut=${many(5000)}`)!;
  expect([found.why.length, found.cut.length]).toEqual([LOOKS, 256]);
  expect(fromAddress(`#${toAddress(found)}`)).toEqual(found);
});

test("lines are judged by how they would be cut", () => {
  const ask = { ...NOTHING_ASKED, text: "a", how: "zero" as const };
  expect(judgingOf(ask, null, null)).toEqual({ position: null, token: null, how: "zero", check: 0 });
});

const LOOK = { level: "tokens", contributions: false, relative: false } as const;
const lensOf = (page: Page, site: number, head: number) => new Lenses(page).of(page.sites[site], head, LOOK);

test("a difference is A − B, cell by cell, and its distance the share that moved", () => {
  const page = golden();
  const [a, b] = [lensOf(page, 0, 0), lensOf(page, 0, 1)];
  const { both, cells, distance: share } = finish(compared(a, b));
  const n = a.rows.count;
  const [one, two] = [a.band(0, n), b.band(0, n)];
  expect(both!.size).toEqual([n, a.columns.count]);
  let total = 0;
  one.forEach((value, i) => {
    expect(both!.values[i]).toBeCloseTo(value - two[i], 6);
    total += Math.abs(value - two[i]) / 2;
  });
  expect(share).toBeCloseTo(total / n, 6);
  expect(finish(distance(a, b))).toBeCloseTo(share!, 6);
  const sizes = one
    .map((value, i) => Math.abs(value - two[i]))
    .sort()
    .reverse();
  cells.forEach((cell, i) => {
    expect(Math.abs(cell.a - cell.b)).toBeCloseTo(sizes[i], 6);
  });
  expect(cells.length).toBe(6);
  expect(finish(compared(a, a)).distance).toBe(0);
});

test("small differences count, and only where none is large are two heads the same", () => {
  const page = golden();
  const a = lensOf(page, 0, 0);
  const n = a.rows.count;
  const m = a.columns.count;
  const moved = (by: (i: number) => number) => {
    const band = a.band(0, n).map((value, i) => value + by(i));
    return {
      rows: a.rows,
      columns: a.columns,
      band: (p: number, end: number) => band.subarray(p * m, end * m),
    };
  };
  const small = moved((i) => (i === 0 ? 0.5 : 5e-5)) as unknown as typeof a;
  const wanted = (0.5 + (n * m - 1) * 5e-5) / 2 / n;
  expect(finish(compared(a, small)).distance).toBeCloseTo(wanted, 6);
  expect(finish(distance(a, small))).toBeCloseTo(wanted, 6);
  const noise = moved(() => 5e-5) as unknown as typeof a;
  expect(finish(distance(a, noise))).toBe(0);
  expect(finish(compared(a, noise)).cells).toEqual([]);
});

test("heads of different sizes stand side by side without a difference", () => {
  const page = golden();
  const cross = page.sites.findIndex((site) => site.kind === "cross");
  const [a, b] = [lensOf(page, 0, 0), lensOf(page, cross, 0)];
  expect(fits(a, b)).toBe(false);
  const found = finish(compared(a, b));
  expect(found.both).toBeNull();
  expect(found.distance).toBeNull();
  expect(found.b.size).toEqual([b.rows.count, b.columns.count]);
});

test("words that differ are found by position", () => {
  const [page, other] = [golden(), golden()];
  const side = other.sides.get(other.sites[0].query)!;
  side.text[2] = "another";
  const { rows, count, all } = otherWords(lensOf(page, 0, 0), lensOf(other, 0, 0));
  expect(count).toBe(1);
  expect(rows[2]).toBe(true);
  expect(all).toBe(side.text.length);
});

test.each(Object.entries(EYES))("more and less stay apart for %s eyes, and zero is the ground", (_, eye) => {
  for (const theme of ["light", "dark"] as const) {
    const table = twoSided(theme);
    const hex = (i: number) =>
      `#${Array.from(table.slice(3 * i, 3 * i + 3), (x) => x.toString(16).padStart(2, "0")).join("")}`;
    expect(hex(255)).toBe(palette(theme).ground);
    for (const share of [64, 128, 192, 255])
      expect(apart(eye, hex(255 - share), hex(255 + share)), `${theme} ${share}`).toBeGreaterThan(0.06);
  }
});

test("another page keeps layer, heads and view of the same model, and not what is out of reach", () => {
  const store = new Store(golden(), "light", "en", APP_VIEWS);
  store.set({ view: "compare", layer: 2, heads: [1], queries: [0, 4] });
  const next = golden();
  const side = next.sides.get(next.sites[0].query)!;
  side.text.length = 3;
  const before = store.edition;
  store.replace(next);
  expect(store.edition).toBe(before + 1);
  expect(store.selection.value).toMatchObject({ view: "compare", layer: 2, heads: [1], queries: [0] });
  const other = golden();
  other.facts = { ...other.facts, model: "another" };
  store.replace(other);
  const { kind, layer, heads } = other.selection;
  expect(store.selection.value).toMatchObject({ view: "compare", kind, layer, heads, queries: [] });
});

test("the head under the pointer stays under it when the next answer comes, if the model still has it", () => {
  const store = new Store(golden(), "light", "en", APP_VIEWS);
  const site = store.page.sites.find((one) => one.kind === "encoder" && one.layer === 1)!;
  store.pointed.value = { site, head: 2 };
  const next = golden();
  store.replace(next);
  expect(store.place).toEqual({ kind: "encoder", layer: 1, head: 2 });
  expect(store.pointed.value!.site).toBe(next.sites[1]);
  const smaller = golden();
  smaller.sites[1].heads = [0];
  store.replace(smaller);
  expect(store.pointed.value).toBeNull();
});

test("the head under the pointer is none once its view is left", () => {
  const store = new Store(golden(), "light", "en", APP_VIEWS);
  store.set({ view: "atlas" });
  store.pointed.value = { site: store.page.sites[1], head: 2 };
  store.set({ view: "heads" });
  expect(store.pointed.value).toBeNull();
});

test("a layer whose weights are not here is fetched before it is shown", async () => {
  const page = golden();
  const far = page.sites.find(
    (site) => site.kind === page.sites[0].kind && site.layer !== page.selection.layer,
  )!;
  const { q, k, maps } = far;
  Object.assign(far, { q: null, k: null, maps: null });
  const fetched: number[] = [];
  const store = new Store(page, "light", "en", APP_VIEWS, {
    fetch: async (site) => {
      fetched.push(site.layer);
      return Object.assign(site, { q, k, maps });
    },
  });
  const layer = store.selection.value.layer;
  store.set({ kind: far.kind, layer: far.layer });
  expect(store.selection.value.layer).toBe(layer);
  await vi.advanceTimersByTimeAsync(1);
  expect(store.selection.value.layer).toBe(far.layer);
  expect(fetched).toEqual([far.layer]);
});

test("of hidden states the mean comes first, told by its code and not by its name", () => {
  const row = (name: string, cosine: number, code: "mean" | "" = "") => ({
    name,
    before: null,
    after: { zero: cosine },
    code,
  });
  const rows = [row("(mean of all tokens)", 0.5), row("cat", 0.2), row("x", 0.9, "mean")];
  const found = { about: "hidden states", rows } as unknown as Effect;
  expect(listed(found, "zero").map(({ name }) => name)).toEqual(["x", "cat", "(mean of all tokens)"]);
});

test("a difference agrees with the two numbers beside it", () => {
  expect(besides(0.5538, 0.2964, 0.2574)).toEqual(["0.554", "0.296", "+0.258"]);
  expect(besides(0.1, 0.4, 0.3)).toEqual(["0.100", "0.400", "−0.300"]);
  expect(besides(0.5, 0.5, 0.02)).toEqual(["0.5000", "0.5000", "0.0000"]);
});

test("the other side of a comparison is another text, another model, or all heads on", () => {
  const off = [{ kind: "encoder", layer: 0, head: 2 }];
  const ask: Ask = { ...NOTHING_ASKED, text: "a", pair: "b", off };
  const other = (change: Partial<typeof NO_OTHER>) =>
    otherOf({ ...ask, other: { ...NO_OTHER, ...change } }, "m");
  expect(other({ text: " " })).toBeNull();
  expect(other({ text: "c" })).toMatchObject({ text: "c", pair: "", off });
  expect(other({ with: "model", model: "m" })).toBeNull();
  expect(other({ with: "model", model: "n" })).toMatchObject({ model: "n", text: "a", off: [] });
  expect(other({ with: "on" })).toMatchObject({ text: "a", pair: "b", off: [] });
  expect(otherOf({ ...ask, off: [], other: { ...NO_OTHER, with: "on" } }, "m")).toBeNull();
});

test("sentences come in both languages with their values", () => {
  expect(say("en", "inputsOf", { count: 32 })).toBe("32 inputs");
  expect(say("zh", "inputsOf", { count: 32 })).toContain("32");
  expect(isKey("toString")).toBe(false);
});

test("the examples of a model come first, and one for its family where it has none", () => {
  const example = (id: string, model: string | null, family: string | null = null) =>
    ({ id, model, family }) as Example;
  const all = [
    example("a", "one"),
    example("b", "two"),
    example("c", null, "encoder"),
    example("d", null, "decoder"),
  ];
  const ids = (name: string, family: string) =>
    suited(all, { name, about: { family } } as ModelRecord).map(({ id }) => id);
  expect(ids("two", "encoder")).toEqual(["b", "a"]);
  expect(ids("three", "decoder")).toEqual(["d", "a", "b"]);
});

test("a map leaves as a tidy table, with quoted words and the positions of those that occur twice", () => {
  const side = (names: string[], starts: number[]) =>
    ({ names, starts: Int32Array.from(starts) }) as unknown as Axis;
  const lens = {
    rows: side(["a₀", 'say "b"'], [0, 1, 3]),
    columns: side(["x,y"], [0, 1]),
    row: (p: number) => Float32Array.from([p ? 0.25 : 1]),
  };
  expect(tidy(lens)).toBe(
    'query_index,query,key_index,key,value\r\n0,a₀,0,"x,y",1\r\n1,"say ""b""",0,"x,y",0.25\r\n',
  );
});
