import { signal } from "@preact/signals";
import { beforeEach, expect, test, vi } from "vitest";
import type { Selection } from "../src/state/selection";
import { follow, keepKeys, type Model } from "../src/widget";

let frames: (() => void)[] = [];
const paint = () => {
  const due = frames;
  frames = [];
  for (const run of due) run();
};

beforeEach(() => {
  frames = [];
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => {
    frames = [];
  });
});

/** A notebook's model: telling it something is heard at once, by its own listener too. */
function modelOf(selection: object) {
  let hear: (() => void) | null = null;
  const values: Record<string, unknown> = { selection };
  const saved: unknown[] = [];
  const model: Model = {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      hear?.();
    },
    save_changes: () => saved.push(values.selection),
    on: (_, handler) => {
      hear = handler;
    },
    off: () => {
      hear = null;
    },
  };
  return { model, saved };
}

function viewOf(first: object) {
  const selection = signal(first as Selection);
  return {
    selection,
    select: vi.fn((change: Partial<Selection>) => {
      selection.value = { ...selection.peek(), ...change };
    }),
  };
}

test("what Python chose before the view was drawn is shown; Python learns the rest with the first choice", () => {
  const { model, saved } = modelOf({ layer: 2 });
  const view = viewOf({ layer: 0, log: false });
  follow(model, view);
  expect(view.selection.value).toEqual({ layer: 2, log: false });
  paint();
  expect(saved).toEqual([]); // or the word would reach Python after its next choice, and undo it
  view.selection.value = { layer: 2, log: true } as Selection;
  paint();
  expect(saved).toEqual([{ layer: 2, log: true }]);
});

test("what Python chose and the view put right is told", () => {
  const { model, saved } = modelOf({ layer: 9 });
  const view = viewOf({ layer: 0, log: false });
  view.select.mockImplementation((change: Partial<Selection>) => {
    view.selection.value = { ...view.selection.peek(), layer: Math.min(5, change.layer ?? 0) };
  });
  follow(model, view);
  paint();
  expect(saved).toEqual([{ layer: 5, log: false }]);
});

test("many changes in one frame are told once, and come back as no change", () => {
  const { model, saved } = modelOf({ layer: 0 });
  const view = viewOf({ layer: 0 });
  follow(model, view);
  paint();
  view.select.mockClear();
  for (let layer = 1; layer < 9; layer++) view.selection.value = { layer } as Selection;
  paint();
  paint();
  expect(saved).toEqual([{ layer: 8 }]);
  expect(view.select).not.toHaveBeenCalled();
});

test("a choice in Python moves the view, and is not told back unless it was put right", () => {
  const { model, saved } = modelOf({ layer: 0 });
  const view = viewOf({ layer: 0 });
  const stop = follow(model, view);
  paint();
  model.set("selection", { layer: 5 });
  expect(view.selection.value).toEqual({ layer: 5 });
  paint();
  expect(saved).toEqual([]);
  stop();
  model.set("selection", { layer: 1 });
  view.selection.value = { layer: 7 } as Selection;
  paint();
  expect(saved).toEqual([]);
});

test("keys typed in a view do not reach the notebook around it, save those with Ctrl", () => {
  const marks: Record<string, boolean> = {};
  const toggleAttribute = (name: string, on: boolean) => {
    marks[name] = on;
  };
  const defaultView = Object.assign(new EventTarget(), { toggleAttribute }); // stands for what has the focus, too
  const el = Object.assign(new EventTarget(), { ownerDocument: { defaultView }, contains: () => true });
  const free = keepKeys(el as unknown as HTMLElement);
  const typed = (target: EventTarget, ctrlKey = false) => {
    const event = Object.assign(new Event("keydown", { bubbles: true }), { key: "d", ctrlKey });
    target.dispatchEvent(event);
    return event.cancelBubble;
  };
  expect([typed(el), typed(el, true)]).toEqual([true, false]);
  typed(defaultView);
  expect(marks).toEqual({ "data-lm-suppress-shortcuts": true });
  typed(defaultView, true);
  expect(marks).toEqual({ "data-lm-suppress-shortcuts": false });
  free();
  expect(typed(el)).toBe(false);
});
