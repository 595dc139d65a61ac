import { expect, test } from "vitest";
import { COLOURS, colourOf } from "../src/data/report";
import {
  brief,
  changeStops,
  decimals,
  figure,
  headColour,
  hundredths,
  indexer,
  inkOn,
  palette,
  ramp,
  roundTicks,
  type Theme,
} from "../src/marks/scales";
import { contrast, deltaE, EYES, linear, oklab, TWINS } from "./eyes";
import { golden } from "./golden";

const heads = (theme: Theme) => Array.from({ length: 32 }, (_, head) => headColour(head, theme));

/** Where a colour stands on the wheel, in degrees. */
function hue(hex: string): number {
  const [, a, b] = oklab(linear(hex));
  return (Math.atan2(b, a) * 180) / Math.PI;
}

/** Degrees between two hues. */
const apart = (one: number, other: number): number =>
  Math.min(Math.abs(one - other), 360 - Math.abs(one - other));

/** A colour of the middle of the ramp of weights. */
function middleOfRamp(theme: Theme): string {
  const middle = ramp(theme).slice(3 * 150, 3 * 151);
  return `#${Array.from(middle, (x) => x.toString(16).padStart(2, "0")).join("")}`;
}

// A just noticeable difference is about 2 in CIELAB. Twelve heads are what a layer of most small models has.
test.each(Object.entries(EYES))("32 head colours stay apart for %s eyes on both grounds", (_, eye) => {
  for (const all of [heads("light"), heads("dark")])
    for (const [i, hex] of all.entries())
      for (const other of all.slice(0, i))
        expect(deltaE(eye, hex, other), `${hex} ${other}`).toBeGreaterThan(i < 12 ? 15 : 9);
});

test.each(Object.entries(EYES))("the colours of names stay apart for %s eyes on both grounds", (_, eye) => {
  const names = Object.keys(COLOURS.pattern).filter((name) => !(name in TWINS));
  for (const theme of ["light", "dark"] as const)
    for (const [i, name] of names.entries())
      for (const other of names.slice(0, i)) {
        const [a, b] = [name, other].map((one) => colourOf(golden(), "pattern", one, theme));
        expect(deltaE(eye, a, b), `${theme} ${name} ${other}`).toBeGreaterThan(theme === "dark" ? 15 : 12);
      }
  for (const [name, twin] of Object.entries(TWINS)) expect(COLOURS.pattern[name]).toBe(COLOURS.pattern[twin]);
});

test("a name has one hue on both grounds, and stands out from the dark one", () => {
  for (const name of Object.keys(COLOURS.pattern)) {
    const [light, dark] = (["light", "dark"] as const).map((theme) =>
      colourOf(golden(), "pattern", name, theme),
    );
    if (name !== "always rests") expect(apart(hue(light), hue(dark)), name).toBeLessThan(25); // which is grey
    expect(contrast(dark, palette("dark").ground), name).toBeGreaterThan(3);
  }
});

test("what a name's colour stresses on one ground it stresses on the other", () => {
  const names = Object.keys(COLOURS.pattern).filter((name) => !(name in TWINS));
  const on = (theme: Theme) => (name: string) =>
    contrast(colourOf(golden(), "pattern", name, theme), palette(theme).ground);
  const [light, dark] = [on("light"), on("dark")];
  const rest = "always rests"; // stands behind all others
  for (const name of names.filter((one) => one !== rest)) {
    expect(light(name), name).toBeGreaterThan(Math.max(2.6, light(rest)));
    expect(dark(name), name).toBeGreaterThan(dark(rest) * 0.92);
  }
  const tone = (name: string) => hue(colourOf(golden(), "pattern", name, "light"));
  for (const [i, a] of names.entries())
    for (const b of names.slice(0, i)) {
      if (a === rest || b === rest || apart(tone(a), tone(b)) > 45) continue; // other tones are told apart by tone
      const [x, y] = [light(a) / light(b), dark(a) / dark(b)];
      if (x > 1.25) expect(y, `${a} ${b}`).toBeGreaterThan(0.8);
      if (x < 0.8) expect(y, `${a} ${b}`).toBeLessThan(1.25);
    }
});

test("of a dark map a tenth of the strongest weight is plain to see", () => {
  const table = ramp("dark");
  const faint = `#${Array.from(table.slice(3 * 26, 3 * 27), (x) => x.toString(16).padStart(2, "0")).join("")}`;
  expect(oklab(linear(faint))[0] - oklab(linear(palette("dark").ground))[0]).toBeGreaterThan(0.1);
});

test.each(["light", "dark"] as const)("head colours and text stand out from the %s ground", (theme) => {
  const { ground, ink, quiet } = palette(theme);
  for (const hex of heads(theme)) {
    expect(contrast(hex, ground)).toBeGreaterThan(3);
    expect(contrast(hex, inkOn(hex))).toBeGreaterThan(4.5);
  }
  expect(contrast(ink, ground)).toBeGreaterThan(7);
  expect(contrast(quiet, ground)).toBeGreaterThan(4.5);
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

test.each(["light", "dark"] as const)("the %s colours of change are not those of attention", (theme) => {
  const stops = changeStops(theme).map((rgb) => {
    const parts = rgb.match(/\d+/g)!.map(Number);
    return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  });
  const sign = theme === "light" ? -1 : 1;
  for (const [i, hex] of stops.entries())
    if (i) expect(sign * (oklab(linear(hex))[0] - oklab(linear(stops[i - 1]))[0])).toBeGreaterThan(0.03);
  const [change, look] = [stops[5], middleOfRamp(theme)].map((hex) => hue(hex));
  expect(apart(change, look)).toBeGreaterThan(60);
});

test("a head has one hue on both grounds", () => {
  for (const [head, light] of heads("light").entries())
    expect(apart(hue(light), hue(headColour(head, "dark"))), `head ${head}`).toBeLessThan(15);
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
  expect([brief(1), brief(0.9999), brief(0.044)]).toEqual(["1.00", "1.00", "0.044"]);
});

test("ticks are round numbers within the range, 0 among them, written with as many decimals", () => {
  expect(roundTicks(-0.14, 0.067)).toEqual([
    [-0.1, "−0.10"],
    [-0.05, "−0.05"],
    [0, "0"],
    [0.05, "+0.05"],
  ]);
  for (const [low, high] of [
    [-3, 0],
    [0, 1e-5],
    [-0.0021, 0.9],
    [-7000, 12000],
  ]) {
    const ticks = roundTicks(low, high);
    expect(ticks.length).toBeGreaterThan(1);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.some(([value, text]) => value === 0 && text === "0")).toBe(true);
    for (const [value, text] of ticks) {
      expect(value).toBeGreaterThanOrEqual(low);
      expect(value).toBeLessThanOrEqual(high);
      expect(Number(text.replace("−", "-"))).toBeCloseTo(value, 12);
    }
  }
});

test("numbers have a minus sign, not a hyphen", () => {
  expect([decimals(-3.71, 1), decimals(0.5, 2), figure(-3.71, 2)]).toEqual(["−3.7", "0.50", "−3.7"]);
});

test("shares in lists are percentages, with a decimal where they are small", () => {
  expect([1, 0.9996, 0.684, 0.0876, 0.0044, 0.0002, 0].map(hundredths)).toEqual([
    "100%",
    "100%",
    "68%",
    "8.8%",
    "0.4%",
    "<0.1%",
    "0%",
  ]);
});
