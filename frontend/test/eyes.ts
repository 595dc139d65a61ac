// How different colours look, to normal and colour-blind eyes.

import PATTERNS from "../../src/regard/patterns/patterns.json";

export type Rgb = [number, number, number];

export const linear = (hex: string): Rgb =>
  [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Rgb;

export const times = (m: number[][], [r, g, b]: Rgb): Rgb =>
  m.map((row) => Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b))) as Rgb;

export function oklab(rgb: Rgb): Rgb {
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
export const EYES = {
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
  tritanope: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const WHITE = [0.95047, 1, 1.08883];

/** CIELAB. */
function lab([r, g, b]: Rgb): Rgb {
  const xyz = [
    0.4124564 * r + 0.3575761 * g + 0.1804375 * b,
    0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    0.0193339 * r + 0.119192 * g + 0.9503041 * b,
  ].map((value, i) => value / WHITE[i]);
  const [x, y, z] = xyz.map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** How far apart two colours look, as CIE counted it in 1976. */
export function deltaE(eye: number[][], a: string, b: string): number {
  const [x, y] = [a, b].map((hex) => lab(times(eye, linear(hex))));
  return Math.hypot(...x.map((value, c) => value - y[c]));
}

/** How far apart two colours look, in OKLab. */
export function distance(eye: number[][], a: string, b: string): number {
  const [x, y] = [a, b].map((hex) => oklab(times(eye, linear(hex))));
  return Math.hypot(...x.map((value, c) => value - y[c]));
}

const light = (hex: string): number => {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
};

/** Contrast of two colours, as WCAG counts it. */
export const contrast = (a: string, b: string): number => Math.max(light(a) / light(b), light(b) / light(a));

// Names that share the colours of another one: nobody is called both of a pair.
export const TWINS: Record<string, string> = Object.fromEntries(
  PATTERNS.patterns.flatMap(({ name, twin }: { name: string; twin?: string }) =>
    twin ? [[name, twin]] : [],
  ),
);
