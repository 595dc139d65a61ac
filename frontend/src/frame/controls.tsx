// What is shown: layer, heads, kind, segments, threshold, level.

import { hasWords } from "../compute/axis";
import { MEASURES } from "../compute/digest";
import { isKnown } from "../data/report";
import { figure, headColour } from "../marks/scales";
import { samePlace } from "../state/store";
import { isKey } from "../words/page";
import { type Say, useSay, useStore } from "./context";
import { wordFor } from "./report";

export function Controls() {
  const { selection, powers } = useStore();
  const { view } = selection.value;
  if (view === "compare" || view === "studies") return null; // they bring their own
  return (
    <div class="controls">
      {view !== "walk" && <Kinds />}
      {view !== "atlas" && (view !== "walk" || powers.walks) && <Layers />}
      {view !== "atlas" && <HeadPatches single={view !== "heads"} />}
      {(view === "heads" || view === "matrix") && <Segments />}
      {view !== "neurons" && view !== "walk" && <Level />}
      {(view === "heads" || view === "matrix") && <Special />}
      {view === "heads" && <Threshold />}
      {view === "atlas" && <Order />}
    </div>
  );
}

/** Which one head: for views that bring their own controls. */
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

const named = (tell: Say, name: string): string => (isKey(name) ? tell(name) : name);

function Kinds() {
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

function Layers() {
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

/** Heads as coloured patches with their numbers. */
function HeadPatches({ single }: { single: boolean }) {
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
          style={{ "--head": headColour(head) }}
          aria-pressed={chosen.includes(head)}
          aria-label={`${tell("head")} ${head}`}
          title={tell("headHint", { head })}
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

function Segments() {
  const store = useStore();
  const tell = useSay();
  const site = store.site.value;
  const from = store.page.sides.get(site.query)!.segments;
  const to = store.page.sides.get(site.key)!.segments;
  if (from.length * to.length < 2) return null;
  const { selection } = store;
  const value = selection.value.from === null ? "all" : `${selection.value.from} ${selection.value.to}`;
  const pairs = from.flatMap((a, i) => to.map((b, j) => [`${i} ${j}`, `${a.name} → ${b.name}`] as const));
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

function Level() {
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

function Special() {
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

const STEPS = 100;

/** A slider that is fine near zero, where most weights are. */
function Threshold() {
  const store = useStore();
  const tell = useSay();
  const { threshold } = store.selection.value;
  const value = Math.round(Math.cbrt(Math.min(1, threshold)) * STEPS);
  return (
    <label class="slider">
      {tell("threshold")}{" "}
      <input
        type="range"
        min="0"
        max={STEPS}
        value={value}
        data-control="threshold"
        onInput={(event) =>
          store.set({ threshold: Number(((Number(event.currentTarget.value) / STEPS) ** 3).toPrecision(3)) })
        }
      />{" "}
      <output>{figure(threshold, 2)}</output>
    </label>
  );
}

/** What the atlas is sorted by: measures that came with the page, or else those counted here. */
function Order() {
  const store = useStore();
  const tell = useSay();
  const given = [...new Set(store.page.sites.flatMap((site) => Object.keys(site.measures)))];
  const own = isKnown(store.page) ? [] : MEASURES.filter((measure) => !given.includes(measure));
  const name = (measure: string) => {
    const key = `measure_${measure}`;
    return isKey(key) ? tell(key) : wordFor(tell, measure);
  };
  return (
    <label>
      {tell("order")}{" "}
      <select
        value={store.order.value}
        data-control="order"
        onChange={(event) => (store.order.value = event.currentTarget.value)}
      >
        <option value="grid">{tell("orderGrid")}</option>
        {[...given, ...own].map((measure) => (
          <option key={measure} value={measure}>
            {name(measure)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The tabs. */
export function Tabs() {
  const store = useStore();
  const tell = useSay();
  const current = store.selection.value.view;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    event.preventDefault();
    const next = store.views[(store.views.indexOf(current) + step + store.views.length) % store.views.length];
    store.set({ view: next });
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-view=${next}]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={tell("views")} onKeyDown={move}>
      {store.views.map((view) => (
        <button
          key={view}
          type="button"
          role="tab"
          data-view={view}
          aria-selected={view === current}
          tabIndex={view === current ? 0 : -1}
          onClick={() => store.set({ view })}
        >
          {tell(view)}
        </button>
      ))}
    </div>
  );
}
