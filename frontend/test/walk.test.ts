// Long on purpose: its tests share one walk and read it step by step.
import { expect, test, vi } from "vitest";
import { SvgPen } from "../src/marks/pen";
import { wrapped } from "../src/marks/wrapped";
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
  rmsNorm,
  rotated,
  slice,
  softmax,
  transposed,
} from "../src/walk/maths";
import { ALONE, DECODER, ENCODER, type StepId, stepFor, stepsOf, wordsOf } from "../src/walk/order";
import { drawScene, type Scene } from "../src/walk/picture";
import { short, terms } from "../src/walk/pieces";
import { told } from "../src/walk/steps";
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

test("every step speaks both languages, of every kind of model", () => {
  for (const [data, id] of everyStep())
    for (const language of ["en", "zh"] as const) {
      const { title, formula, text } = wordsOf((key) => say(language, key), data, id);
      expect(text.length, id).toBeGreaterThan(20);
      expect(title && formula, id).toBeTruthy();
    }
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

const KINDS = {
  encoder: ["encoder.in"],
  both: ["encoder.in", "decoder.in", "logits"],
  t5: ["encoder.in", "decoder.in", "encoder.bias", "logits"],
  gated: ["encoder.in", "decoder.in", "encoder.bias", "encoder.W_G", "logits"],
  gpt2: ["decoder.in", "logits"],
  llama: ["decoder.in", "decoder.cos", "logits"],
};

/** A walk of a kind of model, as far as its steps are asked for. */
function walkOf(kind: keyof typeof KINDS): WalkData {
  const llama = kind === "llama";
  const header: WalkData["header"] = {
    ...{ layer: 0, heads: 2, norm: "post", activation: "relu", epsilon: 0, order: [], ids: [] },
    ...{ targets: [1], vocabulary: [], groups: llama ? 1 : 0, normed: llama ? "rms" : "layer" },
    ...{ window: null, candidates: [], divided: !["t5", "gated"].includes(kind) },
  };
  return new WalkData(header, Object.fromEntries(KINDS[kind].map((name) => [name, null as never])));
}

/** Every step of every kind of model. */
const everyStep = (): [WalkData, StepId][] =>
  (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) => {
    const data = walkOf(kind);
    return stepsOf(data).map((id): [WalkData, StepId] => [data, id]);
  });

test("the way back from the neuron view leads to the step that was left, or to the scores of its kind", () => {
  const both = walkOf("both");
  const steps = stepsOf(both);
  expect(stepFor(both, "encoder", steps.indexOf("softmax"))).toBe(steps.indexOf("softmax"));
  expect(stepFor(both, "cross", steps.indexOf("softmax"))).toBe(steps.indexOf("cross"));
  expect(stepFor(both, "decoder", 0)).toBe(steps.indexOf("mask"));
  expect(stepFor(walkOf("encoder"), "encoder", 99)).toBe(steps.indexOf("scores"));
});

test("a correction comes with the claim it corrects, and a claim with its correction", () => {
  for (const id of new Set([...ENCODER, ...DECODER, ...ALONE]))
    for (const kind of ["", "_alone", "_gpt2", "_llama", "_rms", "_t5", "_gated", "_ungated"]) {
      const has = (part: string) => isKey(`step_${id}${kind}_${part}`);
      expect(has("claim"), id + kind).toBe(has("note"));
    }
});

test("a decoder alone has the steps of its kind", () => {
  const [gpt2, llama] = [stepsOf(walkOf("gpt2")), stepsOf(walkOf("llama"))];
  expect(llama).toEqual(ALONE);
  expect(gpt2).toEqual(ALONE.filter((id) => id !== "group" && id !== "rotate"));
});

test("an encoder has no norm of its own step and no bias; T5 has both, and divides by nothing", () => {
  const plain = ENCODER.filter((id) => id !== "norm" && id !== "bias");
  expect(stepsOf(walkOf("encoder"))).toEqual(plain);
  expect(stepsOf(walkOf("both"))).toEqual([...plain, ...DECODER]);
  expect(stepsOf(walkOf("t5"))).toEqual([...ENCODER.filter((id) => id !== "scale"), ...DECODER]);
});

test("turning changes no length, and makes scores depend on distance alone", () => {
  const [rate, places] = [0.7, [2, 5, 9, 12]];
  const table = (f: (x: number) => number) =>
    of(places.map((p) => [f(p * rate), f(p * 0.01), f(p * rate), f(p * 0.01)]));
  const [q, k] = [
    [0.3, -1, 2, 0.5],
    [1, 0.2, -0.4, 0.9],
  ].map((row) => rotated(of(places.map(() => row)), table(Math.cos), table(Math.sin)));
  const rows = (m: typeof q) => places.map((_, i) => list(m).slice(4 * i, 4 * i + 4));
  const dot = (a: number[], b: number[]) => a.reduce((all, value, i) => all + value * b[i], 0);
  for (const row of rows(q)) expect(Math.hypot(...row)).toBeCloseTo(Math.hypot(0.3, -1, 2, 0.5), 5);
  expect(dot(rows(q)[1], rows(k)[0])).toBeCloseTo(dot(rows(q)[3], rows(k)[2]), 5);
  expect(dot(rows(q)[1], rows(k)[0])).not.toBeCloseTo(dot(rows(q)[2], rows(k)[0]), 2);
});

test("RMSNorm divides by the root mean square and takes off no mean", () => {
  const made = list(rmsNorm(of([[3, 4, 0, 0]]), of([[1, 1, 2, 1]]), 0));
  expect(made).toEqual([3 / 2.5, 4 / 2.5, 0, 0].map(Math.fround));
});

test("a window hides what lies further back", () => {
  const made = list(causal(of([0, 0, 0].map(() => [1, 1, 1])), 2));
  expect(made.map(Number.isFinite)).toEqual([true, false, false, true, true, false, false, true, true]);
});

test("every note that corrects something is there in both languages", () => {
  const noted = (language: "en" | "zh") =>
    everyStep()
      .filter(([data, id]) => (wordsOf((key) => say(language, key), data, id).mixUp?.note ?? "").length > 10)
      .map(([, id]) => id);
  expect(noted("zh")).toEqual(noted("en"));
  expect(noted("en").length).toBeGreaterThan(9);
});

test("arrow keys stop at the first and the last step", () => {
  const page = golden();
  page.walk = walkOf("encoder");
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
  const boxes = boxesOf(stepsOf(walkOf("both")), 780);
  expect(Math.max(...boxes.map((box) => box.y + box.high))).toBeLessThan(780);
  expect(boxes[0].high).toBeGreaterThan(boxesOf(stepsOf(walkOf("both")))[0].high); // as large as there is room
  for (const a of boxes)
    for (const b of boxes) {
      if (a === b) continue;
      expect(Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= a.high + 6, `${a.id} ${b.id}`).toBe(
        true,
      );
    }
  const way = wayTo(boxes[11], boxes[12]);
  expect(way.length).toBe(4);
  expect(way[1][0]).toBeGreaterThan(boxes[11].x + boxes[11].width);
  expect(way[1][0]).toBeLessThan(boxes[12].x);
});
