// One head of the atlas, large and with its tokens: beside the grid, or over it where there is no room.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Cell, isKnown } from "../../data/report";
import { isHere } from "../../data/wire";
import { useSay, useStore } from "../../frame/context";
import { doingOf } from "../../frame/report";
import { Switch } from "../../frame/switch";
import { figure } from "../../marks/scales";
import { Plot, type PlotState } from "../matrix/plot";
import { glimpseOf } from "./ghost";
import { Seen } from "./seen";

/** The head under the pointer, or else the chosen one; as wide as its place unless told. */
export function Beside({ width }: { width?: number }) {
  const store = useStore();
  const tell = useSay();
  const chosen = { site: store.site.value, head: store.lead };
  const pointed = store.pointed.value;
  const cell = pointed && isHere(pointed.site) ? pointed : chosen;
  const { contributions } = store.look.value;
  return (
    <section
      class="beside"
      style={width ? { width: `${width}px` } : {}}
      data-beside={`${cell.site.layer}-${cell.head}`}
    >
      <Name cell={cell} />
      {isKnown(store.page) && <p>{doingOf(cell, contributions, tell)}</p>}
      <Openings />
      <Large cell={cell} aside />
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
  return (
    <>
      {store.look.value.worth && state.value && (
        <p class="quiet">{tell("worthScale", { top: figure(state.value.top, 2) })}</p>
      )}
      {glimpseOf(store, cell) ? <Seen cell={cell} /> : <Plot state={state} cell={cell} aside={aside} />}
    </>
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
