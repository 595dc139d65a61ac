// Long texts: pictures of heads whose weights are not here, layers that a page does not hold, and finding a token.

import { expect, test } from "vitest";
import { digest, pictured } from "../src/compute/digest";
import { Lenses } from "../src/compute/lens";
import { matching, strongestLook } from "../src/compute/looks";
import { Packed, type Page } from "../src/data/wire";
import { Store } from "../src/state/store";
import { VIEWS } from "../src/views";
import { golden } from "./golden";

const PLAIN = { level: "tokens", contributions: false, relative: false } as const;

/** The golden page, of whose first kind only the first layer has weights. */
function partly(): Page {
  const page = golden();
  const [first, second] = page.sites;
  page.sites = [
    first,
    { ...second, kind: first.kind, layer: 7, part: 0, q: null, k: null, maps: null, bare: true },
  ];
  page.selection = { ...page.selection, kind: first.kind, layer: first.layer, part: first.part };
  return page;
}

test("a page offers the layers it holds, a server all", () => {
  const fetch = () => new Promise<never>(() => {});
  const page = new Store(partly(), "light", "en", VIEWS, { fetch });
  expect(page.layers()).toEqual([page.page.sites[0].layer]);
  page.set({ layer: 7 }); // must come to an end
  expect(page.selection.value.layer).toBe(page.page.sites[0].layer);
  const served = new Store(partly(), "light", "en", VIEWS, { fetch, picture: fetch });
  expect(served.layers()).toContain(7);
});

test("a layer of a page that is still being read is offered", () => {
  const page = partly();
  page.sites[1].bare = false;
  const fetch = () => new Promise<never>(() => {});
  expect(new Store(page, "light", "en", VIEWS, { fetch }).layers()).toContain(7);
});

test("a picture has the pixels that came", () => {
  const pixels = Float32Array.of(1, 0, 0.25, 0.75);
  const blocks = { shape: [1, 2, 2], part: () => pixels } as unknown as Packed;
  const made = pictured({ ...golden().sites[0], blocks, block: 57 }, 0);
  expect(made).toMatchObject({ size: [2, 2], pool: 57, sampled: 1, top: 1, shares: true });
  expect(made.pixels).toBe(pixels);
  expect(made.measures.previous).toBeNaN();
});

/** The golden page with 80 tokens, which its first site looks from and at by weights that differ everywhere. */
function longer(): Page {
  const page = golden();
  const [site] = page.sites;
  const vectors = (shift: number) => {
    const values = Float32Array.from({ length: 80 * 4 }, (_, i) => 2 * Math.sin(i * i + shift));
    return new Packed({ dtype: "f4", shape: [1, 80, 4], offset: 0 }, new Uint8Array(values.buffer));
  };
  const side = page.sides.get(site.query)!;
  const all = <T>(value: T) => new Array<T>(80).fill(value);
  const text = Array.from({ length: 80 }, (_, i) => `token${i}`);
  const other = { ...side, text, special: all(0), segment: all(0), word: null, adds: undefined };
  page.sides = new Map([...page.sides, [site.query, other], [site.key, other]]);
  const open = { left: null, right: null, table: null };
  const nothing = { bias: null, sink: null, norms: null, dots: null, lse: null, maps: null, softcap: null };
  page.sites = [{ ...site, ...nothing, heads: [0], mask: open, q: vectors(1), k: vectors(2) }];
  return page;
}

test("at a glance, a pixel is the largest weight of one row", () => {
  const page = longer();
  const lens = new Lenses(page).of(page.sites[0], 0, PLAIN);
  const step = digest(lens, "glance").next();
  const { pixels, size, pool, sampled, top } = step.value!;
  expect([step.done, size, pool, sampled]).toEqual([true, [27, 27], 3, 3]);
  for (let y = 0; y < 27; y++) {
    const row = lens.row(3 * y);
    for (let x = 0; x < 27; x++)
      expect(pixels[27 * y + x]).toBeCloseTo(Math.max(...row.subarray(3 * x, 3 * x + 3)), 6);
  }
  expect(top).toBeCloseTo(Math.max(...pixels), 6);
});

test("a token is looked at most where its column is largest, apart from itself", () => {
  const page = golden();
  page.sites.forEach((site, s) => {
    const lens = new Lenses(page).of(site, 0, PLAIN);
    for (let key = 0; key < lens.columns.count; key++) {
      const found = strongestLook(lens, key);
      const weights = Array.from({ length: lens.rows.count }, (_, q) =>
        site.query === site.key && q === key ? 0 : lens.row(q)[key],
      );
      const most = Math.max(...weights);
      if (most === 0) expect(found, `site ${s} key ${key}`).toBeNull();
      else expect(found!.value).toBeCloseTo(weights[found!.query], 6);
      if (most > 0) expect(found!.value).toBeCloseTo(most, 6);
    }
  });
});

test("tokens are found by a part of their text, in any case", () => {
  const page = golden();
  const lens = new Lenses(page).of(page.sites[0], 0, PLAIN);
  const name = lens.columns.names[1];
  expect(matching(lens, ` ${name.toUpperCase()} `)).toContain(1);
  expect(matching(lens, "  ")).toEqual([]);
  expect(matching(lens, "nowhere to be found")).toEqual([]);
});
