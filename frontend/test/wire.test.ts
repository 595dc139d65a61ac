import { expect, test } from "vitest";
import { fromText } from "../src/data/transport";
import { decode, PayloadError } from "../src/data/wire";
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

test("text in the page becomes the bytes it stands for", () => {
  const digits = Array.from({ length: 87 }, (_, i) => String.fromCharCode(i + 0x28)).filter(
    (c) => !"<>".includes(c),
  );
  const written = (word: number) =>
    [0, 1, 2, 3, 4].map((p) => digits[Math.floor(word / 85 ** p) % 85]).join("");
  const words = [0, 1, 84, 85, 0xdeadbeef, 0xffffffff];
  expect(
    Array.from(
      new Uint32Array(
        fromText([words.slice(0, 2), words.slice(2)].map((part) => part.map(written).join(""))).buffer,
      ),
    ),
  ).toEqual(words);
  expect(() => fromText(["((((<"])).toThrow(PayloadError);
  expect(() => fromText(["((("])).toThrow(PayloadError);
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
