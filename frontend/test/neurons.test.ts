// The neuron table: its columns, what its colours mean, and what it says.

import { expect, test } from "vitest";
import { riseOf } from "../src/compute/pairs";
import { sayIn } from "../src/frame/context";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { edgesOf, layout } from "../src/views/neurons/columns";
import { addedTo, expand, sees } from "../src/views/neurons/expanded";
import { countingSaid, scaledBy, scoreOf } from "../src/views/neurons/said";
import { fixed, neuronAt } from "../src/views/neurons/table";
import { golden } from "./golden";

function opened(language: "en" | "zh" = "en") {
  const store = new Store(golden(), "light", language, VIEWS);
  store.set({ view: "neurons", level: "tokens" });
  return { store, lens: store.lens(store.lead), tell: sayIn(store) };
}

const WINDOWS = [
  [358, 32, 6, 16],
  [358, 64, 5, 13],
  [925, 32, 6, 26],
  [925, 64, 6, 26],
  [925, 128, 6, 13],
  [1400, 64, 6, 29],
];

test.each(WINDOWS)("in %d pixels, of %d neurons %d have room for a number", (available, d, named, wide) => {
  const at = layout(available, d, 20, 6);
  expect(at.named).toBe(named);
  expect(at.wide).toBeGreaterThanOrEqual(wide);
  expect(at.width).toBeLessThanOrEqual(available + 1);
  expect(at.strip).toBeCloseTo(named * at.wide + (d - named) * at.cell);
  if (at.k) expect(at.q + at.strip).toBeLessThan(at.product);
});

test("a phone leaves k out, a wide window does not", () => {
  expect(layout(358, 32, 20, 6).k).toBe(false);
  expect(layout(925, 64, 20, 6).k).toBe(true);
});

test("where numbers do not fit, fewer neurons have one and the others stay as they are", () => {
  const at = layout(358, 128, 20, 6);
  expect(at.named).toBeLessThan(6);
  expect(at.wide).toBeGreaterThanOrEqual(13);
  expect(layout(358, 512, 20, 6).named).toBe(0);
});

test.each([true, false])("each neuron that counts has a wide column of its own (ordered: %s)", (ordered) => {
  const { lens } = opened();
  const shown = expand(lens, 3, ordered);
  const at = layout(925, shown.order.length, 20, shown.counting.length);
  const edges = edgesOf(shown, at);
  expect(edges.at(-1)).toBeCloseTo(at.strip);
  shown.order.forEach((neuron, place) => {
    const width = shown.counting.includes(neuron) ? at.wide : at.cell;
    expect(edges[place + 1] - edges[place]).toBeCloseTo(width);
    const middle = (edges[place] + edges[place + 1]) / 2;
    for (const start of [at.q, at.product]) expect(neuronAt(shown, at, start + middle)).toBe(neuron);
  });
  expect(neuronAt(shown, at, at.q - 1)).toBeNull();
  expect(neuronAt(shown, at, at.product + at.strip + 1)).toBeNull();
});

test("cells are in the unit of the score: a row adds up to scaled q × k, and numbers above are cells beyond the average", () => {
  const { lens } = opened();
  const shown = expand(lens, 3, true);
  const rise = riseOf(lens.head, 3, shown.best);
  const cells = addedTo(shown, shown.best);
  expect(cells.reduce((sum, x) => sum + x, 0)).toBeCloseTo(
    lens.head.site.scale * shown.rows[shown.best].product,
    4,
  );
  for (const neuron of shown.counting)
    expect(cells[neuron] - shown.mean[neuron]).toBeCloseTo(rise[neuron], 4);
});

test("numbers below zero have a minus sign, never a hyphen", () => {
  const shown = expand(opened().lens, 3, true);
  expect(fixed(-3.71, shown)).toMatch(/^−3\.7/);
  expect(fixed(Number.NEGATIVE_INFINITY, shown)).toBe("−∞");
});

test("the inspector does not repeat the headline", () => {
  const { lens, tell } = opened();
  const shown = expand(lens, 3, true);
  expect(scoreOf(shown, shown.best, tell)).toMatch(/^The row's average is −?[\d.]+\./);
  const other = shown.rows.findIndex((_, key) => key !== shown.best && sees(shown, key));
  expect(scoreOf(shown, other, tell)).toMatch(/^Score −?[\d.]+, [\d.]+ (above|below) its row's average of/);
});

test.each(["en", "zh"] as const)(
  "the sentence names the neurons that count, in the order of the columns (%s)",
  (language) => {
    const { lens, tell } = opened(language);
    const shown = expand(lens, 3, true);
    expect(countingSaid(shown, shown.best, tell)).toContain(shown.counting.join(tell("comma")));
    expect(scaledBy(lens)).toMatch(/^( \/ √\d+| × [\d.]+|)$/);
  },
);
