// One head of the atlas, large and with its tokens: beside the grid, or over it where there is no room.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Cell, isKnown } from "../../data/report";
import { isHere } from "../../data/wire";
import { useSay, useStore } from "../../frame/context";
import { doingOf } from "../../frame/report";
import { Switch } from "../../frame/switch";
import { figure } from "../../marks/scales";
import { samePlace } from "../../state/selection";
import { Plot, type PlotState } from "../matrix/plot";
import { glimpseOf } from "./ghost";
import { Seen } from "./seen";
import "./large.css";

/** In the inspector, which has its name and says what it does: the head large, where the atlas has room for it there. */
export function InPanel() {
  return useStore().panel.value ? <Beside named={false} /> : null;
}

interface BesideProps {
  width?: number; // as wide as its place unless told
  named?: boolean;
  told?: boolean; // with what it does, where the inspector is out of sight
}

/** The head under the pointer, or else the chosen one. */
export function Beside({ width, named = true, told = false }: BesideProps) {
  const store = useStore();
  const tell = useSay();
  const chosen = { site: store.site.value, head: store.lead };
  const pointed = store.pointed.value;
  const cell = pointed && isHere(pointed.site) ? pointed : chosen;
  return (
    <section
      class="beside"
      style={width ? { width: `${width}px` } : {}}
      data-beside={`${cell.site.layer}-${cell.head}`}
    >
      {named && <Name cell={cell} />}
      {told && isKnown(store.page) && <p>{doingOf(store, cell, tell)}</p>}
      <Large cell={cell} aside />
      <Openings />
    </section>
  );
}

/** The chosen head over the atlas. */
export function Enlarged() {
  const store = useStore();
  const tell = useSay();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const cell = { site: store.site.value, head: store.lead };
  const name = tell("layerHead", { layer: cell.site.layer, head: cell.head });
  return (
    <div class="enlarged" role="dialog" aria-label={name} tabIndex={-1} ref={box}>
      <div class="enlarged-head">
        <Name cell={cell} />
        <span class="fill" />
        <Switch place={store.place} />
        <Openings />
        <button
          type="button"
          class="plain"
          aria-label={tell("close")}
          onClick={() => (store.enlarged.value = false)}
        >
          ✕
        </button>
      </div>
      <Large cell={cell} />
    </div>
  );
}

function Name({ cell: { site, head } }: { cell: Cell }) {
  const tell = useSay();
  return <strong>{tell("layerHead", { layer: site.layer, head })}</strong>;
}

function Large({ cell, aside = false }: { cell: Cell; aside?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const state = useSignal<PlotState | null>(null);
  const { kind, layer } = cell.site;
  const off = store.off.value.some((one) => samePlace(one, { kind, layer, head: cell.head }));
  if (off && store.shading === "change") return <p class="is-off">{tell("isOff")}</p>; // its map says nothing of that
  return (
    <div class={off ? "large off" : "large"} data-large-off={off ? "" : undefined}>
      {off && <p class="is-off">{tell("isOff")}</p>}
      {store.look.value.worth && state.value && (
        <p class="quiet">{tell("worthScale", { top: figure(state.value.top, 2) })}</p>
      )}
      {glimpseOf(store, cell) ? <Seen cell={cell} /> : <Plot state={state} cell={cell} aside={aside} />}
    </div>
  );
}

/** The views that show this one head. */
function Openings() {
  const store = useStore();
  const tell = useSay();
  const views = store.views.filter((view) => view.heads !== "all" && !view.wide);
  const open = (view: string) => {
    store.enlarged.value = false;
    store.set({ view });
  };
  return (
    <span class="openings">
      {tell("openIn")}
      {views.map(({ id, title }) => (
        <button key={id} type="button" data-open={id} onClick={() => open(id)}>
          {tell(title)}
        </button>
      ))}
    </span>
  );
}
