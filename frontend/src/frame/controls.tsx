// What is shown: layer, heads, kind, segments, threshold, level.

import type { ButtonHTMLAttributes } from "preact";
import { hasWords } from "../compute/axis";
import { headColour, inkOn, type Theme } from "../marks/scales";
import { samePlace } from "../state/selection";
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
  options: readonly (readonly [T, string])[];
  choose: (value: T) => void;
  title?: string;
}) {
  return (
    <fieldset class="choice" title={props.title}>
      <legend class="unseen">{props.label}</legend>
      {props.options.map(([value, name]) => (
        <button
          key={value}
          type="button"
          aria-pressed={props.value === value}
          onClick={() => props.choose(value)}
          data-value={value}
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
      choose={(kind) => store.set({ kind, queries: [], keys: [], pairs: [], from: null, to: null })}
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

/** Heads as coloured patches with their numbers. */
export function HeadPatches({ single = false }: { single?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const chosen = single ? [store.lead] : store.selection.value.heads;
  const { kind, layer, heads: all } = store.site.value;
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
          style={ofHead(head)}
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
