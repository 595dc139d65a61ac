import { expect, test } from "vitest";
import { brief, figure, HEAD_COLOURS, indexer, palette, ramp } from "../src/scales";

type Rgb = [number, number, number];

const linear = (hex: string): Rgb =>
  [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Rgb;

const times = (m: number[][], [r, g, b]: Rgb): Rgb =>
  m.map((row) => Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b))) as Rgb;

function oklab(rgb: Rgb): Rgb {
  const cones = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ];
  const [l, m, s] = cones.map((row) => Math.cbrt(row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

// Machado, Oliveira & Fernandes (2009), complete dichromacy.
const EYES = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranope: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanope: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};

// A just noticeable difference is about 0.02 in OKLab.
test.each(Object.entries(EYES))("32 head colours stay apart for %s eyes", (_, eye) => {
  const seen = HEAD_COLOURS.map((hex) => oklab(times(eye, linear(hex))));
  expect(seen.length).toBe(32);
  for (let i = 0; i < seen.length; i++)
    for (let j = 0; j < i; j++) {
      const distance = Math.hypot(...seen[i].map((x, c) => x - seen[j][c]));
      expect(distance, `${HEAD_COLOURS[i]} ${HEAD_COLOURS[j]}`).toBeGreaterThan(i < 12 ? 0.078 : 0.04);
    }
});

test.each(["light", "dark"] as const)("head colours and text stand out from the %s ground", (theme) => {
  const light = (hex: string) => {
    const [r, g, b] = linear(hex);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const { ground, ink, quiet } = palette(theme);
  const contrast = (hex: string) => Math.max(light(hex) / light(ground), light(ground) / light(hex));
  for (const hex of HEAD_COLOURS) expect(contrast(hex)).toBeGreaterThan(2);
  expect(contrast(ink)).toBeGreaterThan(7);
  expect(contrast(quiet)).toBeGreaterThan(4.5);
});

test.each(["light", "dark"] as const)("the %s ramp goes evenly one way in lightness", (theme) => {
  const table = ramp(theme);
  const lightness = Array.from({ length: 256 }, (_, i) => {
    const hex = `#${Array.from(table.slice(3 * i, 3 * i + 3), (x) => x.toString(16).padStart(2, "0")).join("")}`;
    return oklab(linear(hex))[0];
  });
  const sign = theme === "light" ? -1 : 1;
  for (let i = 8; i < 256; i += 8) expect(sign * (lightness[i] - lightness[i - 8])).toBeGreaterThan(0.005);
});

test("colour indices run from zero to the strongest", () => {
  const plain = indexer(0.5, false);
  expect([plain(0), plain(0.25), plain(0.5), plain(0.9)]).toEqual([0, 127, 255, 255]);
  const log = indexer(1, true);
  expect(log(0)).toBe(0);
  expect(log(0.01)).toBe(127);
  expect(log(1)).toBe(255);
});

test("numbers have three digits and no exponents", () => {
  expect(figure(0.123456)).toBe("0.123");
  expect(figure(0.000123456)).toBe("0.000123");
  expect(figure(-12.345)).toBe("−12.3");
  expect(figure(1234.5)).toBe("1235");
  expect(figure(-Infinity)).toBe("−∞");
  expect(brief(0.0004)).toBe("<0.001");
  expect(brief(0.456)).toBe("0.46");
});
