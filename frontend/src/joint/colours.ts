// What colours say: query or key, which token, which place in its text.

import { at, inputOf, type Points } from "./data";

export type By = "side" | "token" | "position";

export interface Coloured {
  colours: Uint32Array; // little-endian RGBA
  legend: { name: string; colour: string }[];
}

const SIDES = ["#2b6fd6", "#d2622a"];
const REST = "#9aa3b2";
const TOKENS = [
  "#2b6fd6",
  "#d2622a",
  "#1a9850",
  "#b0309a",
  "#c9a400",
  "#00a0a8",
  "#7a4fd0",
  "#c8324a",
  "#5f8a1e",
  "#8a5a2e",
];
// From the beginning of a text to its end.
const PLACES = ["#8a4fd0", "#4f6fd6", "#2a9db0", "#22b573", "#8fc93a", "#d8b71c"];
const ENDS = [0, 4, 8, 16, 32, 64]; // where each of them begins

export function coloured(points: Points, by: By): Coloured {
  const colours = new Uint32Array(points.x.length);
  const one = (i: number, colour: string) => {
    colours[i] = codes.get(colour) ?? 0;
  };
  const codes = new Map([...SIDES, REST, ...TOKENS, ...PLACES].map((colour) => [colour, code(colour)]));
  if (by === "side") {
    for (let i = 0; i < colours.length; i++) one(i, SIDES[i < points.queries ? 0 : 1]);
    return { colours, legend: ["queries", "keys"].map((name, n) => ({ name, colour: SIDES[n] })) };
  }
  if (by === "token") {
    const first = frequent(points);
    for (let i = 0; i < colours.length; i++) {
      const { side, place } = at(points, i);
      one(i, first.get(side.words[place]) ?? REST);
    }
    const legend = [...first].map(([word, colour]) => ({ name: points.texts[word], colour }));
    return { colours, legend: [...legend, { name: "all others", colour: REST }] };
  }
  for (let i = 0; i < colours.length; i++) {
    const { side, place } = at(points, i);
    const from = place - side.starts[inputOf(side, place)];
    let step = 0;
    while (step + 1 < ENDS.length && ENDS[step + 1] <= from) step++;
    one(i, PLACES[step]);
  }
  const names = ENDS.map((start, n) => (n + 1 < ENDS.length ? `${start}–${ENDS[n + 1] - 1}` : `${start}+`));
  return { colours, legend: names.map((name, n) => ({ name: `token ${name}`, colour: PLACES[n] })) };
}

/** The most frequent tokens, each with a colour. */
function frequent({ sides, texts }: Points): Map<number, string> {
  const counts = new Uint32Array(texts.length);
  for (const side of new Set(sides)) for (const word of side.words) counts[word]++;
  const order = [...counts.keys()].sort((one, other) => counts[other] - counts[one] || one - other);
  return new Map(order.slice(0, TOKENS.length).map((word, n) => [word, TOKENS[n]]));
}

function code(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
