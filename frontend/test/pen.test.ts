// Saved pictures: SVG that any reader of XML opens, whatever the tokens hold.
import { expect, test, vi } from "vitest";
import type { Axis } from "../src/compute/axis";
import { axes } from "../src/marks/axes";
import { onPixel } from "../src/marks/columns";
import { type Pen, SvgPen, visible } from "../src/marks/pen";
import { palette } from "../src/marks/scales";

const WELL_FORMED = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u; // the characters of XML 1.0

function drawn(text: string): string {
  const pen = new SvgPen();
  pen.text(0, 0, text, { colour: "#000" });
  return pen.document(10, 10, "#fff");
}

test("every character of a token gives well-formed SVG", () => {
  for (let code = 0; code <= 0x10ffff; code += code < 0x400 || (code >= 0xfd00 && code < 0x10000) ? 1 : 997)
    expect(drawn(`a${String.fromCodePoint(code)}b`), code.toString(16)).toMatch(WELL_FORMED);
});

test("what cannot be drawn leaves a sign", () => {
  expect(visible("\u0000\n\u007f\u0085\ud800\ufeff\uffff")).toBe("␀␊␡����");
});

test("other texts stay as they are", () => {
  const text = " naïve 你好 😀 $x$ & <b>";
  expect(visible(text)).toBe(text);
});

test("lines of a head that is off are dashed, the others are not", () => {
  const pen = new SvgPen();
  pen.lines([0, 0, 1, 1], 1, 1, { colour: "#000", dashed: true });
  pen.lines([0, 0, 1, 1], 1, 1, { colour: "#000" });
  const paths = pen.document(10, 10, "#fff").match(/<path[^>]*>/g)!;
  expect(paths.map((path) => path.includes("stroke-dasharray"))).toEqual([true, false]);
});

test("a position is set in a proportional face, in which its digits stand close", () => {
  expect(drawn("store₁₀*")).toMatch(/>store<tspan font-family="Inter[^"]*">₁₀<\/tspan>\*<\/text>/);
  expect(drawn("store")).not.toContain("tspan");
});

test("a level line is as wide as it is said to be, wherever its row is", () => {
  expect([12, 12.5, 12.9].map((y) => onPixel(y, 1))).toEqual([12.5, 12.5, 12.5]);
  expect([12, 12.4, 12.5].map((y) => onPixel(y, 2))).toEqual([12, 12, 13]);
});

test("names along a narrow map have smaller letters, and those above it no quotation marks", () => {
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => null }) }); // letters of one width
  const names = ["[CLS]", "went", ".₂", "[SEP]"];
  const axis = { names, count: 4, special: [true, false, false, true] } as unknown as Axis;
  const told = (scale: number) => {
    const texts: [string, number, boolean][] = [];
    const pen: Pen = {
      lines() {},
      rect() {},
      image() {},
      text: (_x, _y, text, { size, turned }) => texts.push([text, size!, Boolean(turned)]),
    };
    const frame = { left: 90, top: 90, width: 4 * scale, height: 4 * scale };
    axes(pen, axis, axis, frame, { x: 0, y: 0, scale }, { rows: [], columns: [] }, palette("light"));
    return texts;
  };
  for (const [scale, most] of [
    [12, 10],
    [13.5, 11],
    [20, 12],
  ]) {
    const texts = told(scale);
    for (const [, size] of texts) expect(size).toBeLessThanOrEqual(most);
    for (const [, size] of texts) expect(size).toBeGreaterThanOrEqual(10);
    expect(texts.filter(([, , turned]) => !turned).map(([text]) => text)).toContain("“.”₂");
    expect(texts.filter(([, , turned]) => turned).map(([text]) => text)).toEqual(names);
  }
  vi.unstubAllGlobals();
});
