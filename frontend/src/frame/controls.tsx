// What is shown: layer, heads, kind, segments, threshold, level.

import type { ButtonHTMLAttributes } from "preact";
import { coverage, mostAligning } from "../compute/aligning";
import { hasWords } from "../compute/axis";
import { FEW } from "../compute/mean";
import { isHere } from "../data/wire";
import { headColour, inkOn, type Theme } from "../marks/scales";
import { type Selection, samePlace } from "../state/selection";
import type { Store } from "../state/store";
import { isKey } from "../words";
import { partNames, type Say, useSay, useStore } from "./context";

/** Which one head. */
export function OneHead() {
  return (
    <>
      <Kinds />
      <Layers />
      <HeadPatches single />
    </>
  );
}

/** A row of exclusive choices. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, name: string, hint?: string])[];
  choose: (value: T) => void;
  title?: string;
}) {
  return (
    <fieldset class="choice" title={props.title}>
      <legend class="unseen">{props.label}</legend>
      {props.options.map(([value, name, hint]) => (
        <button
          key={value}
          type="button"
          aria-pressed={props.value === value}
          onClick={() => props.choose(value)}
          data-value={value}
          title={hint}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

/** A button with a sign for its words: they are its name, and the tip. */
export function SignButton({ sign, words, ...rest }: SignProps) {
  return (
    <button type="button" class="plain" aria-label={words} title={words} {...rest}>
      {sign}
    </button>
  );
}

interface SignProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> {
  sign: string;
  words: string;
  type?: "button" | "submit";
  [data: `data-${string}`]: string;
}

const named = (tell: Say, name: string): string => (isKey(name) ? tell(name) : name);

const SEARCHED = 256; // rows and columns of cross attention that are looked through

/** Where to begin with a kind: cross attention with the head that pairs the words of both texts best. */
function begun(store: Store, kind: string): Partial<Selection> {
  const sites = store.page.sites.filter((site) => site.kind === kind && isHere(site));
  const [first] = sites;
  const sides = [first?.query, first?.key].map((side) => store.page.sides.get(side ?? ""));
  const small = sides.every((side) => side && !side.medium && side.text.length <= SEARCHED);
  if (kind !== "cross" || !first || !small) return {};
  const places = sites.flatMap((site) => site.heads.map((_, index) => ({ site, index })));
  const look = { level: "tokens", contributions: false, relative: false } as const;
  const { site, index } = mostAligning(places, ({ site, index }) => {
    const lens = store.lenses.of(site, index, look);
    return coverage(lens.band(0, lens.rows.count), lens.columns.count);
  });
  return { layer: site.layer, part: site.part, heads: [site.heads[index]] };
}

export function Kinds() {
  const store = useStore();
  const tell = useSay();
  if (store.kinds.length < 2) return null;
  const options = store.kinds.map((kind) => [kind, named(tell, kind)] as const);
  return (
    <Choice
      label={tell("kind")}
      value={store.selection.value.kind}
      options={options}
      choose={(kind) =>
        store.set({ kind, queries: [], keys: [], pairs: [], from: null, to: null, ...begun(store, kind) })
      }
    />
  );
}

export function Layers() {
  const store = useStore();
  const tell = useSay();
  const { layer, part } = store.selection.value;
  const layers = store.layers();
  const parts = store.parts();
  const at = layers.indexOf(layer);
  return (
    <span class="stepper">
      <button
        type="button"
        aria-label={`${tell("layer")} −`}
        disabled={at <= 0}
        onClick={() => store.set({ layer: layers[at - 1] })}
      >
        ‹
      </button>
      <label>
        {tell("layer")}{" "}
        <select
          value={layer}
          onChange={(event) => store.set({ layer: Number(event.currentTarget.value) })}
          data-control="layer"
        >
          {layers.map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        aria-label={`${tell("layer")} +`}
        disabled={at >= layers.length - 1}
        onClick={() => store.set({ layer: layers[at + 1] })}
      >
        ›
      </button>
      {parts.length > 1 && (
        <label>
          {tell("part")}{" "}
          <select
            value={part}
            onChange={(event) => store.set({ part: Number(event.currentTarget.value) })}
            data-control="part"
          >
            {parts.map((number) => (
              <option key={number} value={number}>
                {number}
              </option>
            ))}
          </select>
        </label>
      )}
    </span>
  );
}

const THEMES: Theme[] = ["light", "dark"];

/** The colour of a head in both themes, and a number's colour on it. */
const ofHead = (head: number): Record<string, string> =>
  Object.fromEntries(
    THEMES.flatMap((theme) => {
      const colour = headColour(head, theme);
      return [
        [`--head-${theme}`, colour],
        [`--on-${theme}`, inkOn(colour)],
      ];
    }),
  );

/** Heads as patches with their numbers; a few chosen together have the colours of their lines. */
export function HeadPatches({ single = false }: { single?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const chosen = single ? [store.lead] : store.selection.value.heads;
  const { kind, layer, heads: all } = store.site.value;
  const hued = chosen.length > 1 && chosen.length <= FEW;
  const toggle = (head: number) => {
    if (single) return store.set({ heads: [head] });
    const heads = chosen.includes(head)
      ? chosen.filter((h) => h !== head)
      : all.filter((h) => h === head || chosen.includes(h));
    return store.set({ heads });
  };
  return (
    <fieldset class="heads">
      <legend class="unseen">{tell("head")}</legend>
      {all.map((head) => (
        <button
          key={head}
          type="button"
          class={store.off.value.some((one) => samePlace(one, { kind, layer, head })) ? "head off" : "head"}
          data-head={head}
          style={hued && chosen.includes(head) ? ofHead(head) : undefined}
          aria-pressed={chosen.includes(head)}
          aria-label={`${tell("head")} ${layer}.${head}`}
          title={tell("headHint", { layer, head })}
          onClick={() => toggle(head)}
          onDblClick={() => store.set({ heads: [head] })}
        >
          {head}
        </button>
      ))}
      {!single && (
        <>
          <button
            type="button"
            class="plain"
            data-heads="all"
            onClick={() => store.set({ heads: all.slice() })}
          >
            {tell("all")}
          </button>
          <button type="button" class="plain" data-heads="none" onClick={() => store.set({ heads: [] })}>
            {tell("none")}
          </button>
        </>
      )}
    </fieldset>
  );
}

export function Segments() {
  const store = useStore();
  const tell = useSay();
  const site = store.site.value;
  const from = store.page.sides.get(site.query)!.segments;
  const to = store.page.sides.get(site.key)!.segments;
  if (from.length * to.length < 2) return null;
  const name = partNames(store);
  const { selection } = store;
  const value = selection.value.from === null ? "all" : `${selection.value.from} ${selection.value.to}`;
  const pairs = from.flatMap((a, i) =>
    to.map((b, j) => [`${i} ${j}`, `${name(a.name)} → ${name(b.name)}`] as const),
  );
  const choose = (text: string) => {
    const [i, j] = text.split(" ").map(Number);
    store.set(text === "all" ? { from: null, to: null } : { from: i, to: j });
  };
  return (
    <label>
      {tell("segments")}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)} data-control="segments">
        <option value="all">{tell("all")}</option>
        {pairs.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Level() {
  const store = useStore();
  const tell = useSay();
  const { query, key } = store.site.value;
  if (![query, key].some((side) => hasWords(store.page.sides.get(side)!))) return null;
  const options = [["tokens", tell("tokens")] as const, ["words", tell("words")] as const];
  return (
    <Choice
      label={tell("level")}
      value={store.selection.value.level}
      options={options}
      choose={(level) => store.set({ level })}
    />
  );
}

export function Special() {
  const store = useStore();
  const tell = useSay();
  const { query, key } = store.site.value;
  if (![query, key].some((side) => store.page.sides.get(side)!.special.includes(1))) return null;
  return (
    <label class="check">
      <input
        type="checkbox"
        data-control="special"
        checked={store.selection.value.special}
        onChange={(event) => store.set({ special: event.currentTarget.checked })}
      />{" "}
      {tell("special")}
    </label>
  );
}
