// The roll-out against Python's in the golden file, against products of whole maps, and where there is none.

import { describe, expect, test } from "vitest";
import { Lenses } from "../src/compute/lens";
import { evenStep, layerStep, rolledOut } from "../src/compute/rollout";
import type { Page, Site } from "../src/data/wire";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { restingText } from "../src/views/rollout/said";
import { askedOf, ofLeft, sharesOf } from "../src/views/rollout/shares";
import { MOST, reasonAgainst, stepsOf } from "../src/views/rollout/steps";
import { golden, reference } from "./golden";

function ended<T>(job: Generator<void, T>): T {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}

const stepsIn = (page: Page, sites: readonly Site[], contributions: boolean): Float32Array[] =>
  sites.map((site) => ended(layerStep(new Lenses(page), site, contributions)));

const encoder = (page: Page) => page.sites.filter(({ kind }) => kind === "encoder");

const close = (found: ArrayLike<number>, wanted: readonly number[]) => {
  expect(found.length).toBe(wanted.length);
  wanted.forEach((value, i) => {
    expect(Math.abs(found[i] - value)).toBeLessThan(1e-5);
  });
};

describe("the roll-out of the golden file", () => {
  const page = golden();
  const wanted = reference(page).rollout;

  test("equals Python's, by weights over three layers", () => {
    const steps = stepsIn(page, encoder(page), false);
    wanted.weights.forEach((row, p) => {
      close(rolledOut(steps, p), row);
    });
  });

  test("equals Python's, by contributions", () => {
    const steps = stepsIn(page, encoder(page).slice(0, 1), true);
    wanted.contributions.forEach((row, p) => {
      close(rolledOut(steps, p), row);
    });
  });
});

test("a row of the product is the row of whole maps multiplied", () => {
  const [a, b] = [Float32Array.of(0.75, 0.25, 0.5, 0.5), Float32Array.of(0, 1, 1, 0)];
  // (½b + ½I)(½a + ½I), by hand
  close(rolledOut([a, b], 0), [0.5625, 0.4375]);
  close(rolledOut([a, b], 1), [0.5625, 0.4375]);
});

test("a row that looks at nothing stays where it is", () => {
  const page = golden();
  const [site] = page.sites;
  const blind = { ...site, mask: { left: null, right: -1, table: null } } as Site; // the first row sees nothing
  const [step] = stepsIn(page, [blind], false);
  close(step.subarray(0, 7), [1, 0, 0, 0, 0, 0, 0]);
});

test("layers that look evenly share among what they may see", () => {
  const mask = (left: number | null, right: number | null) =>
    ({ mask: { left, right, table: null } }) as unknown as Site;
  close(evenStep(mask(null, null), 2)!, [0.5, 0.5, 0.5, 0.5]);
  close(evenStep(mask(null, 0), 3)!, [1, 0, 0, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3]);
  close(evenStep(mask(1, 0), 3)!, [1, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5]);
});

describe("the view", () => {
  const open = (change: Partial<Page> = {}) => {
    const store = new Store({ ...golden(), ...change }, "light", "en", VIEWS);
    store.set({ view: "rollout" });
    return store;
  };

  test("asks about the last word, and about what is pinned", async () => {
    const store = open();
    const steps = await stepsOf(store, new AbortController().signal);
    expect(askedOf(store, steps)).toBe(5); // the last one that is not [SEP]
    store.set({ queries: [1] });
    const shares = sharesOf(steps, askedOf(store, steps));
    close(shares.values, reference(store.page).rollout.weights[1]);
    expect(shares.rests(0)).toBe(true); // [CLS]
    const sorted = shares.order.map((p) => shares.values[p]);
    expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
    expect([...shares.order].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(shares.left).toBeCloseTo(1 - shares.values[0] - shares.values[6], 6);
    expect(ofLeft(shares, 1)[0]).toBeCloseTo(shares.values[1] / shares.left, 9);
    expect(restingText(store, shares)).toContain(
      `the other ${Math.round(100 * (1 - shares.left))}% rests on [CLS] and [SEP]`,
    );
    expect([...shares.values].reduce((sum, share) => sum + share)).toBeCloseTo(1, 6);
    expect([...shares.even!].reduce((sum, share) => sum + share)).toBeCloseTo(1, 6);
  });

  test("fetches layers that are not here, and gives the same", async () => {
    const whole = golden();
    const bare = whole.sites.map((site) => ({ ...site, q: null, k: null, maps: null, lse: null }) as Site);
    const page = { ...golden(), sites: bare, selection: { ...whole.selection, layer: 1 } };
    const fetched: number[] = [];
    const fetch = (site: Site) => {
      fetched.push(site.layer);
      return Promise.resolve(whole.sites[bare.indexOf(site)]);
    };
    const store = new Store(page, "light", "en", VIEWS, { fetch });
    const steps = await stepsOf(store, new AbortController().signal);
    expect(fetched).toEqual([0, 1, 2]);
    close(sharesOf(steps, 3).values, reference(whole).rollout.weights[3]);
  });

  test("says why there is none", () => {
    const store = open();
    expect(reasonAgainst(store)).toBeNull();
    store.set({ kind: "cross" });
    expect(reasonAgainst(store)).toContain("Cross attention");
    store.set({ kind: "encoder", layer: 0, contributions: true });
    expect(reasonAgainst(store)).toContain("layer 1");
    const sites = golden().sites;
    expect(reasonAgainst(open({ sites: sites.slice(1) }))).toContain("Some layers");
    expect(reasonAgainst(open({ sites: [sites[0], { ...sites[1], layer: 0, part: 1 }] }))).toContain(
      "windows",
    );
    const { sides } = golden();
    const side = sides.get("encoder")!;
    sides.set("encoder", { ...side, text: Array(MOST + 1).fill("a") });
    expect(reasonAgainst(open({ sides }))).toContain(String(MOST));
  });
});
