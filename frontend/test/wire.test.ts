import { expect, test } from "vitest";
import { opening } from "../src/data/opening";
import type { Ref } from "../src/data/packed";
import { Pieces } from "../src/data/pieces";
import { decode, extents, headerOf, isHere, PayloadError } from "../src/data/wire";
import { bytes, golden } from "./golden";

test("the golden file says what it holds", () => {
  const page = golden();
  expect([...page.sides.keys()]).toEqual(["encoder", "decoder"]);
  expect(page.sides.get("encoder")!.text).toContain("</script>");
  expect(page.sites.map((site) => site.kind)).toEqual(["encoder", "encoder", "encoder", "decoder", "cross"]);
  expect(page.selection).toMatchObject({ view: "matrix", kind: "encoder", layer: 1, heads: [2] });
  expect(Array.from(page.sites[0].measures.height.all())).toEqual([0.5, 1.5, 2.5, 3.5]);
  expect(page.sites[1].patterns![1][0]).toMatchObject({ name: "previous token", score: 0.75 });
  expect(page.sites[1].types!.part(1)[page.types.indexOf("diagonal")]).toBe(0.75);
  expect(page.sites[1].measures["previous token"].all()).toEqual(Float32Array.of(Number.NaN, 0.5));
});

test("some rows of a head are those of the whole head, however its numbers are packed", () => {
  const records = headerOf(bytes()).sites as Record<string, Ref | null | undefined>[];
  expect(new Set(records.flatMap(({ q, maps }) => [q, maps].map((one) => one?.dtype)))).toContain("vec");
  const arrays = golden().sites.flatMap(({ q, k, maps }) => [q, k, maps].filter((one) => one !== null));
  for (const array of arrays) {
    const [heads, n, width] = array.shape;
    for (let h = 0; h < heads; h++)
      for (const [from, every] of [
        [0, 1],
        [0, 3],
        [1, 2],
      ]) {
        const whole = array.part(h);
        const wanted: number[] = [];
        for (let row = from; row < n; row += every)
          wanted.push(...whole.subarray(row * width, (row + 1) * width));
        expect(Array.from(array.rows(h, [from, n], every))).toEqual(wanted);
      }
  }
});

test("a sound comes with its side, and tokens with their seconds in it", () => {
  const { medium, spans } = golden().sides.get("decoder")!;
  expect(medium).toMatchObject({ kind: "sound", mime: "audio/wav", size: [2.5] });
  expect(new TextDecoder().decode(medium!.data.raw())).toBe("RIFF\0golden");
  expect(medium!.features!.shape).toEqual([3, 4]);
  expect(Array.from(medium!.features!.raw())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(Array.from(spans!.all())).toEqual([Number.NaN, Number.NaN, 0, 0.5, 0.5, 1, 1, 2, 2, 2.5]);
  expect(golden().sides.get("encoder")).toMatchObject({ medium: null, spans: null });
});

test("a sound is here before the first layer is", () => {
  const page = decode(bytes(), extents(bytes()).ends[0]);
  expect(page.sites.map(isHere)).toEqual([true, false, false, false, false]);
  expect(Array.from(page.sides.get("decoder")!.medium!.features!.raw())).toHaveLength(12);
});

const DIGITS = Array.from({ length: 87 }, (_, i) => String.fromCharCode(i + 0x28)).filter(
  (c) => !"<>".includes(c),
);
const written = (word: number) =>
  [0, 1, 2, 3, 4].map((p) => DIGITS[Math.floor(word / 85 ** p) % 85]).join("");
const textOf = (words: Iterable<number>) => Array.from(words, written).join("");

test("text in the page becomes the bytes it stands for", async () => {
  const words = [0, 1, 84, 85, 0xdeadbeef, 0xffffffff];
  const pieces = new Pieces(24);
  pieces.add(textOf(words.slice(0, 2)));
  expect(pieces.here).toBe(8);
  const waiting = pieces.until();
  pieces.add(textOf(words.slice(2)));
  pieces.tell(true);
  await waiting;
  expect(Array.from(new Uint32Array(pieces.bytes.buffer))).toEqual(words);
});

test.each(["((((<", "(((", textOf([1, 2, 3])])(
  "text that is not as it was written is refused",
  async (text) => {
    const pieces = new Pieces(8);
    pieces.add(text);
    pieces.tell(true);
    await expect(pieces.until()).rejects.toThrow(PayloadError);
  },
);

test("a page opens with its first layer while the others are on their way", async () => {
  const words = new Uint32Array(bytes().slice().buffer);
  const pieces = new Pieces(4 * words.length);
  const opened = opening(pieces);
  let first: boolean[] = [];
  opened.then(({ page }) => {
    first = page.sites.map(isHere);
  });
  const step = 64;
  for (let at = 0; at < words.length; at += step) {
    pieces.add(textOf(words.subarray(at, at + step)));
    pieces.tell(at + step >= words.length);
    await new Promise((done) => setTimeout(done));
  }
  const { page, whole } = await opened;
  expect(await whole()).toBe(true);
  expect(first[golden().sites.findIndex(({ kind, layer }) => kind === "encoder" && layer === 1)]).toBe(true);
  expect(first).toContain(false);
  expect(page.sites.every(isHere)).toBe(true);
  for (const [i, site] of golden().sites.entries())
    expect(page.sites[i].q && Array.from(page.sites[i].q!.all())).toEqual(site.q && Array.from(site.q.all()));
});

test("of a payload of which only the beginning is here, the sites before its end can be looked at", () => {
  const { ends } = extents(bytes());
  expect(decode(bytes(), ends[1]).sites.map(isHere)).toEqual([true, true, false, false, false]);
  expect(decode(bytes(), ends[1] - 1).sites.map(isHere)).toEqual([true, false, false, false, false]);
});

test("bytes that begin anywhere are read", () => {
  const moved = new Uint8Array(bytes().length + 3);
  moved.set(bytes(), 3);
  const page = decode(moved.subarray(3));
  expect(Array.from(page.sites[0].q!.part(3))).toEqual(Array.from(golden().sites[0].q!.part(3)));
});

test.each([
  ["damaged", (data: Uint8Array) => data.subarray(0, 4)],
  ["damaged", (data: Uint8Array) => data.subarray(0, 2000)],
  ["damaged", (data: Uint8Array) => data.subarray(0, data.length - 64)],
  ["foreign", (data: Uint8Array) => replaced(data, '"format":"regard"', '"format":"others"')],
  ["version", (data: Uint8Array) => replaced(data, '"version":1', '"version":7')],
])("a payload that cannot be read is called %s", (code, change) => {
  let caught: unknown;
  try {
    decode(change(bytes()));
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(PayloadError);
  expect((caught as PayloadError).code).toBe(code);
});

function replaced(data: Uint8Array, from: string, to: string): Uint8Array {
  const text = Buffer.from(data).toString("latin1").replace(from, to);
  return new Uint8Array(Buffer.from(text, "latin1"));
}
