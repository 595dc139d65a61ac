// The registry: every view brings what the frame loops over, and nothing else in the frame names a view.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { APP_VIEWS } from "../src/app/views";
import type { Along } from "../src/marks/sentence";
import { Store } from "../src/state/store";
import type { View } from "../src/state/view";
import { VIEWS } from "../src/views";
import { layoutOf } from "../src/views/atlas/layout";
import { freest } from "../src/views/heads/arcs";
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
  const panelled = layoutOf(1096, 580, 12, 6, { width: 1440, height: 690 });
  expect(panelled).toMatchObject({ small: false, beside: 0, blocks: 1 });
  expect(panelled.size).toBeGreaterThan(1.3 * shared.size);
  expect(panelled.panel).toBeGreaterThanOrEqual(380);
  expect(layoutOf(1576, 760, 12, 6, { width: 1920, height: 870 }).panel).toBeGreaterThan(450); // it fills its column
  expect(layoutOf(1060, 570, 9, 30, { width: 1440, height: 680 })).toMatchObject({ blocks: 2, panel: 0 });
  const heights = [300, 400, 500, 600].map((height) =>
    layoutOf(900, height, 12, 6, { width: 1280, height: 600 }),
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

test("on a phone the maps of twelve heads are at least 24 pixels wide, and go without names", () => {
  const phone = layoutOf(366, 590, 12, 6);
  expect(phone).toMatchObject({ small: true, beside: 0 });
  expect(phone.size).toBeGreaterThanOrEqual(24);
  expect(phone.size * 12).toBeLessThan(366);
});
