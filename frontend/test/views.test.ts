// The registry: every view brings what the frame loops over, and nothing else in the frame names a view.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { APP_VIEWS } from "../src/app/views";
import type { Along } from "../src/marks/sentence";
import { Store } from "../src/state/store";
import type { View } from "../src/state/view";
import { VIEWS } from "../src/views";
import { layoutOf, onPhone } from "../src/views/atlas/layout";
import { freest } from "../src/views/heads/arcs";
import { APART, sizesOf } from "../src/views/heads/room";
import { type Heard, restIn } from "../src/views/sound/scene";
import { golden } from "./golden";

test("ids are single words, each once", () => {
  const ids = APP_VIEWS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z]+$/);
});

test("a view of a page can be drawn, and says what to do where it has an inspector", () => {
  for (const { id, picture, hint, Report, wide } of VIEWS) {
    expect(picture, id).toBeDefined();
    expect(wide || hint || Report, id).toBeTruthy();
  }
});

test("Python's list of views is the registry's", () => {
  const listed = readFileSync(new URL("../../src/regard/static/views.json", import.meta.url), "utf8");
  expect(JSON.parse(listed)).toEqual(VIEWS.map(({ id }) => id));
});

test("a view that is added is chosen, addressed and left like any other", () => {
  const more: View = { id: "extra", title: "atlas", heads: "one", Component: () => null };
  const store = new Store(golden(), "light", "en", [...VIEWS, more]);
  store.set({ view: "extra" });
  expect(store.view).toBe(more);
  store.set({ view: "nonsense" });
  expect(store.view).toBe(more);
  const without = new Store(golden(), "light", "en", [...VIEWS, { ...more, here: () => false }]);
  without.set({ view: "extra" });
  expect(without.view.id).toBe("matrix"); // as the golden file opens
});

test("no module of the frame names a view", () => {
  const folder = new URL("../src/frame/", import.meta.url);
  for (const name of readdirSync(folder).filter((one) => /\.tsx?$/.test(one))) {
    const text = readFileSync(new URL(name, folder), "utf8");
    for (const { id } of APP_VIEWS) expect(text, `${name}: ${id}`).not.toMatch(new RegExp(`view\\W+"${id}"`));
  }
});

test("maps of a picture are as wide as it is, and fill the same room", () => {
  const square = layoutOf(700, 600, 6, 6);
  const wide = layoutOf(1110, 600, 6, 6, { aspect: 1.5 });
  expect(wide.size).toBeGreaterThan(square.size);
  expect((6 * wide.size) / 1.5).toBeLessThan(600);
});

test("maps of a picture grow where there are few, and others do not", () => {
  const plain = layoutOf(700, 640, 4, 4, { whole: { width: 1440, height: 750 } });
  const seen = layoutOf(700, 640, 4, 4, { whole: { width: 1440, height: 750 }, pictured: true });
  expect(plain.size).toBe(112);
  expect(seen.size).toBeGreaterThan(125);
  expect(4 * seen.size + seen.panel).toBeLessThan(1440);
});

test("small pictures stand below what looks where the other picture grows by it, and nothing goes beyond the stage", () => {
  const [width, height] = [1129, 751]; // in a window of 1440 x 900
  const square = sizesOf({ width, height }, { count: 2, aspect: 1, heads: 4 }, false);
  expect(square.below).toBe(true);
  expect(square.key.width).toBeGreaterThan(540);
  expect(square.query.width).toBeGreaterThan(square.key.width / 2);
  expect(square.query.width + APART + square.key.width).toBeLessThan(width);
  expect(square.query.height + square.small.height).toBeLessThan(height);
  const wide = sizesOf({ width, height }, { count: 2, aspect: 1.5, heads: 4 }, false);
  expect(wide.query.width + APART + wide.key.width).toBeLessThan(width);
  const many = sizesOf({ width, height }, { count: 2, aspect: 1, heads: 16 }, false);
  expect(many.small.width).toBeGreaterThanOrEqual(50);
  expect(sizesOf({ width, height }, { count: 1, aspect: 1, heads: 4 }, false).below).toBe(false); // words beside it
  expect(sizesOf({ width: 390, height }, { count: 2, aspect: 1, heads: 4 }, true).below).toBe(false);
});

test("a moment that nearly every word looks at is where heads rest", () => {
  const heardIn = (rows: number[][]) =>
    ({
      words: rows.map(String),
      frames: 40,
      values: Float32Array.from(rows.flat()),
    }) as unknown as Heard;
  const row = (own: number, rest: number) =>
    Array.from({ length: 40 }, (_, frame) => (frame === own ? 0.5 : frame === 30 ? rest : 0.001));
  const words = [2, 5, 8, 11, 14, 17];
  const found = restIn(heardIn(words.map((own) => row(own, 0.02))));
  expect(found?.frame).toBe(30);
  expect(found?.share).toBeCloseTo(0.02);
  expect(restIn(heardIn(words.map((own) => row(own, 0.001))))).toBeNull(); // nowhere in particular
  expect(restIn(heardIn(words.slice(1).map((own) => row(own, 0.02))))).toBeNull(); // too few words to tell
});

test("the number of an arc stands where no other arc runs", () => {
  const along =
    (height: number): Along =>
    (t) => [100 + 400 * t, 300 - height * Math.sin(Math.PI * t)];
  const lone = along(100);
  expect(freest(lone, [lone], [])).toEqual(lone(0.5));
  const steep: Along = (t) => [t < 0.55 ? 100 + 400 * t : 500 - 200 * t, lone(t)[1]]; // with it to beyond the middle
  const [x] = freest(lone, [lone, steep], []);
  expect(x).toBeGreaterThan(lone(0.55)[0]);
  expect(freest(lone, [lone], [[300, 200]])).not.toEqual(lone(0.5)); // nor where another number stands
});

test("maps of the atlas share their room with one that is large, and give up little for it", () => {
  const wide = layoutOf(1110, 500, 12, 6); // a window of 1440 x 900
  expect(wide.beside).toBeGreaterThanOrEqual(336);
  expect(wide.size * 12 + wide.beside).toBeLessThan(1110);
  const tight = layoutOf(800, 500, 12, 6);
  expect(tight).toMatchObject({ small: false, beside: 0 });
});

test("where the inspector is beside them it has the large map, and all maps share the rest of the width and the height", () => {
  const shared = layoutOf(1096, 580, 12, 6); // a window of 1440 x 900, the inspector apart
  const panelled = layoutOf(1096, 580, 12, 6, { whole: { width: 1440, height: 690 } });
  expect(panelled).toMatchObject({ small: false, beside: 0, blocks: 1 });
  expect(panelled.size).toBeGreaterThan(1.3 * shared.size);
  expect(panelled.panel).toBeGreaterThanOrEqual(380);
  expect(layoutOf(1576, 760, 12, 6, { whole: { width: 1920, height: 870 } }).panel).toBeGreaterThan(450); // it fills its column
  const many = layoutOf(1060, 570, 9, 30, { whole: { width: 1440, height: 680 } });
  expect(many).toMatchObject({ blocks: 2, panel: 0 });
  const heights = [300, 400, 500, 600].map((height) =>
    layoutOf(900, height, 12, 6, { whole: { width: 1280, height: 600 } }),
  );
  expect(new Set(heights.map(({ panel }) => panel)).size).toBe(1); // whatever the legend takes: else the two would swing
});

test("thirty layers fit in columns side by side, with one head large beside them where there is room", () => {
  const screen = layoutOf(1060, 570, 9, 30); // a window of 1440 x 900
  expect(screen).toMatchObject({ small: true, blocks: 2 });
  expect(screen.size).toBeGreaterThanOrEqual(28);
  expect(screen.size * 15).toBeLessThan(570);
  expect(screen.beside).toBeGreaterThanOrEqual(336);
  expect(layoutOf(1060, 480, 9, 30)).toMatchObject({ blocks: 3, beside: 0 });
  const short = layoutOf(900, 360, 9, 30); // cells would be too small: they scroll, with names
  expect(short).toMatchObject({ small: false, blocks: 1 });
});

test("on a phone maps are as large as a finger: layers across where they are fewer, or else they scroll", () => {
  const turned = onPhone(366, 12, 6);
  expect(turned).toMatchObject({ small: false, beside: 0, turned: true }); // with names
  expect(turned.size).toBeGreaterThanOrEqual(44);
  expect(turned.size * 6).toBeLessThan(366);
  expect(onPhone(366, 9, 30)).toMatchObject({ size: 34, turned: false }); // and fit
  expect(onPhone(366, 12, 12)).toMatchObject({ size: 44, turned: false }); // and scroll
});
