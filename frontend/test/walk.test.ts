import { expect, test, vi } from "vitest";
import { SvgPen } from "../src/marks/pen";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { WalkData } from "../src/walk/data";
import { boxesOf, wayTo } from "../src/walk/diagram";
import { shrunk } from "../src/walk/drawing";
import { litIn } from "../src/walk/grid";
import {
  ACTIVATIONS,
  causal,
  joined,
  layerNorm,
  matrix,
  product,
  slice,
  softmax,
  transposed,
} from "../src/walk/maths";
import { DECODER, ENCODER, stepFor, stepsOf, wordsOf } from "../src/walk/order";
import { drawScene, type Scene, wrapped } from "../src/walk/picture";
import { told } from "../src/walk/steps";
import { short, terms } from "../src/walk/terms";
import { isKey, say } from "../src/words";
import { golden } from "./golden";

const of = (rows: number[][]) => matrix(rows.length, rows[0].length, Float32Array.from(rows.flat()));
const list = (m: { values: Float32Array }) => Array.from(m.values);

test("a product adds the bias to every row", () => {
  const made = product(
    of([
      [1, 2],
      [3, 4],
    ]),
    of([
      [1, 0],
      [0, 2],
    ]),
    of([[10, 20]]),
  );
  expect(list(made)).toEqual([11, 24, 13, 28]);
});

test("slices of a matrix joined give it back", () => {
  const whole = of([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
  expect(list(joined([slice(whole, 0, 2), slice(whole, 2, 4)]))).toEqual(list(whole));
});

test("transposing twice changes nothing", () => {
  const whole = of([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  expect(list(transposed(transposed(whole)))).toEqual(list(whole));
  expect(list(transposed(whole))).toEqual([1, 4, 2, 5, 3, 6]);
});

test("softmax rows sum to 1, also where a mask hides most of them", () => {
  const made = softmax(
    causal(
      of([
        [900, 1, 2],
        [3, 3, 9],
        [0, 0, 0],
      ]),
    ),
  );
  const sums = [0, 1, 2].map((i) =>
    list(made)
      .slice(3 * i, 3 * i + 3)
      .reduce((a, b) => a + b),
  );
  for (const sum of sums) expect(sum).toBeCloseTo(1, 6);
  expect(list(made).slice(0, 6)).toEqual([1, 0, 0, 0.5, 0.5, 0]);
});

test("layer norm gives mean 0 and variance 1 before scale and shift", () => {
  const made = list(layerNorm(of([[1, 2, 3, 6]]), of([[1, 1, 1, 1]]), of([[0, 0, 0, 0]]), 0));
  expect(made.reduce((a, b) => a + b)).toBeCloseTo(0, 5);
  expect(made.reduce((a, b) => a + b * b, 0) / 4).toBeCloseTo(1, 5);
});

test("the activations have their known values", () => {
  expect(ACTIVATIONS.gelu(1)).toBeCloseTo(0.8413447, 6);
  expect(ACTIVATIONS.gelu(-1)).toBeCloseTo(-0.1586553, 6);
  expect(ACTIVATIONS.silu(1)).toBeCloseTo(0.7310586, 6);
  expect(ACTIVATIONS.relu(-3)).toBe(0);
});

test("a cell of a product lights the row and the column it came from", () => {
  const at = { item: 3, row: 2, column: 5 };
  expect([0, 1, 2, 3].map((index) => litIn("product", 4, at, index))).toEqual([
    { row: 2 },
    { column: 5 },
    { column: 5 },
    { row: 2, column: 5 },
  ]);
});

test("a cell of a factor lights what it goes into", () => {
  expect(litIn("product", 3, { item: 0, row: 2, column: 7 }, 1)).toEqual({ row: 7 });
  expect(litIn("product", 3, { item: 0, row: 2, column: 7 }, 2)).toEqual({ row: 2 });
  expect(litIn("product", 3, { item: 1, row: 7, column: 4 }, 0)).toEqual({ column: 7 });
  expect(litIn("product", 3, { item: 1, row: 7, column: 4 }, 2)).toEqual({ column: 4 });
  expect(litIn("row", 2, { item: 1, row: 1, column: 4 }, 0)).toEqual({ row: 1 });
});

test("every step speaks both languages", () => {
  for (const id of [...ENCODER, ...DECODER])
    for (const language of ["en", "zh"] as const)
      expect(wordsOf((key) => say(language, key), id).text.length).toBeGreaterThan(20);
  expect(say("zh", "walk_step", { at: 1, all: 2 })).toBe("第 1 步，共 2 步");
});

test("the other gelu has its known values", () => {
  expect(ACTIVATIONS.gelu_tanh(1)).toBeCloseTo(0.841192, 6);
  expect(ACTIVATIONS.gelu_tanh(-2)).toBeCloseTo(-0.045402, 6);
});

test("a matrix of more cells than pixels shows the largest of each block", () => {
  const whole = of([
    [1, -5, 0, 2],
    [0, 3, 0, -4],
  ]);
  expect(list(shrunk(whole, 1, 2))).toEqual([-5, -4]);
  expect(shrunk(whole, 2, 4)).toBe(whole);
});

test("a text is broken between words, and between ideographs", () => {
  expect(wrapped("one two three", 60, 13)).toEqual(["one two", "three"]);
  expect(wrapped("词元变成向量", 40, 13)).toEqual(["词元变", "成向量"]);
  expect(wrapped("a", 1, 13)).toEqual(["a"]);
});

const scene = (more: Partial<Scene> = {}): Scene => ({
  title: "Scores <b>",
  formula: "Q·Kᵀ",
  text: "Every query meets every key.",
  changed: "",
  table: null,
  equations: [],
  chosen: null,
  theme: "light",
  ...more,
});

/** The SVG of a scene; colours of matrices, which need a canvas, are left out. */
function svg(of_: Scene, width = 800): { text: string; height: number } {
  vi.stubGlobal("document", { createElement: () => ({ getContext: () => null }) });
  const pen = new SvgPen();
  pen.image = () => {};
  const height = drawScene(pen, of_, width, () => null as unknown as HTMLCanvasElement);
  vi.unstubAllGlobals();
  return { text: pen.document(width, height, "#fff"), height };
}

test("a saved step has its words as text, escaped", () => {
  const rows = ["</script>", "[SEP]"];
  const map = {
    name: "A",
    matrix: of([
      [1, 0.25],
      [0.5, 0.5],
    ]),
    rows,
    columns: rows,
    weights: true,
    map: true,
  };
  const made = svg(scene({ equations: [{ rule: "same", items: [map, "=", map] }] })).text;
  expect(made).toContain(">Scores &lt;b&gt;</text>");
  expect(made).toContain(">&lt;/script&gt;</text>");
  expect(made).toContain(">0.25</text>");
  expect(made).toContain(">A   2 × 2</text>");
  expect(made).not.toContain("<b>");
});

test("a saved step frames the chosen pair in its maps", () => {
  const map = {
    name: "A",
    matrix: of([
      [1, 0],
      [0, 1],
    ]),
    rows: ["a", "b"],
    columns: ["a", "b"],
    map: true,
  };
  const plain = svg(scene({ equations: [{ rule: "same", items: [map] }] })).text;
  const chosen = svg(
    scene({ equations: [{ rule: "same", items: [map] }], chosen: { row: 0, column: 1 } }),
  ).text;
  const frames = (text: string) => text.match(/<path/g)!.length;
  expect(frames(chosen)).toBe(frames(plain) + 1);
});

test("matrices that do not fit side by side go to another line", () => {
  const one = { name: "W", matrix: matrix(4, 60) };
  const items = [one, "·", one, "=", one];
  expect(svg(scene({ equations: [{ rule: "product", items }] }), 400).height).toBeGreaterThan(
    svg(scene({ equations: [{ rule: "product", items }] }), 2000).height,
  );
});

test("a saved table has its numbers and its bars", () => {
  const table = {
    head: ["word", "p"],
    rows: [
      ["hola", "0.9000"],
      ["a", "0.1000"],
    ],
    shares: [0.9, 0.1],
  };
  const made = svg(scene({ table })).text;
  for (const text of ["word", "hola", "0.9000"]) expect(made).toContain(`>${text}</text>`);
  expect(made).toContain('width="144"');
});

/** A walk of an encoder or of both, as far as its steps are asked for. */
const walkOf = (decodes: boolean) =>
  new WalkData(
    {
      layer: 0,
      heads: 1,
      norm: "post",
      activation: "relu",
      epsilon: 0,
      order: [],
      ids: [],
      targets: [],
      vocabulary: [],
    },
    decodes ? { "decoder.in": null as never } : {},
  );

test("the way back from the neuron view leads to the step that was left, or to the scores of its kind", () => {
  const both = walkOf(true);
  const steps = stepsOf(both);
  expect(stepFor(both, "encoder", steps.indexOf("softmax"))).toBe(steps.indexOf("softmax"));
  expect(stepFor(both, "cross", steps.indexOf("softmax"))).toBe(steps.indexOf("cross"));
  expect(stepFor(both, "decoder", 0)).toBe(steps.indexOf("mask"));
  expect(stepFor(walkOf(false), "encoder", 99)).toBe(steps.indexOf("scores"));
});

test("a correction comes with the claim it corrects, and a claim with its correction", () => {
  for (const id of [...ENCODER, ...DECODER]) {
    const has = (part: string) => isKey(`step_${id}_${part}`);
    expect(has("claim"), id).toBe(has("note"));
  }
});

test("every note that corrects something is there in both languages", () => {
  const noted = (language: "en" | "zh") =>
    [...ENCODER, ...DECODER].filter(
      (id) => (wordsOf((key) => say(language, key), id).mixUp?.note ?? "").length > 10,
    );
  expect(noted("zh")).toEqual(noted("en"));
  expect(noted("en").length).toBeGreaterThan(9);
});

test("arrow keys stop at the first and the last step", () => {
  const page = golden();
  page.walk = walkOf(false);
  const store = new Store(page, "light", "en", VIEWS);
  store.set({ view: "walk" });
  const press = (key: string) => store.view.keys!(store)[key]();
  const last = stepsOf(page.walk).length - 1;
  for (let i = 0; i < last + 5; i++) press("ArrowRight");
  expect(store.selection.value.step).toBe(last);
  press("ArrowLeft");
  expect(store.selection.value.step).toBe(last - 1);
  store.set({ step: 99 });
  press("ArrowLeft");
  expect(store.selection.value.step).toBe(last - 1);
});

test("the three largest terms of a sum and the rest make the whole", () => {
  const { first, total, rest } = terms([1, 2, -3, 0.5, 4], [1, 1, 2, 1, -0.25]);
  expect(first).toEqual([2, 1, 0]);
  expect(total).toBeCloseTo(-3.5, 6);
  expect(rest).toBeCloseTo(-0.5, 6);
});

test("numbers are short, with a minus sign", () => {
  expect([3.104, -0.5, 0.006, 0, Number.NEGATIVE_INFINITY].map(short)).toEqual([
    "3.10",
    "−0.50",
    "0.006",
    "0.00",
    "−∞",
  ]);
});

test("words that occur twice are told apart by their positions", () => {
  expect(told(["the", "cat", " the"])).toEqual(["the₀", "cat", "the₂"]);
});

test("boxes of the model never overlap, and the dot goes through the space between the stacks", () => {
  const boxes = boxesOf(true);
  for (const a of boxes)
    for (const b of boxes) {
      if (a === b) continue;
      expect(Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= 24, `${a.id} ${b.id}`).toBe(true);
    }
  const way = wayTo(boxes[11], boxes[12]);
  expect(way.length).toBe(4);
  expect(way[1][0]).toBeGreaterThan(boxes[11].x + boxes[11].width);
  expect(way[1][0]).toBeLessThan(boxes[12].x);
});
