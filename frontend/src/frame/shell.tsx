// The frame around the views: name, switches, tabs, controls, inspector, keys.

import "./style.css";
import "./controls.css";
import "./inspector.css";
import "./narrow.css";
import { useSignal } from "@preact/signals";
import type { FunctionComponent, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { foundOf, isKnown } from "../data/report";
import type { Store } from "../state/store";
import { useSay, useStore } from "./context";
import { useFade } from "./fade";
import type { Entry } from "./finding";
import { useModal } from "./focus";
import { Headline } from "./headline";
import { Inspector, type InspectorSlots } from "./inspector";
import { onKey } from "./keys";
import { More } from "./more";
import { Palette } from "./palette";
import { savePicture } from "./picture";
import { Quantity } from "./quantity";
import { doingOf } from "./report";
import { Story } from "./story";
import { strongestOf } from "./strongest";
import { Switches } from "./switches";
import { Tabs } from "./tabs";
import { Tip } from "./tip";
import { WorthLine } from "./worth";

export interface ShellOptions {
  frame: boolean; // the page's own header; a notebook cell goes without
  story?: boolean; // the three cards above the view, and the bar above the first: a report's figure has neither
  slots?: Slots;
}

/** What a page with a model behind it adds to the frame. */
export interface Slots extends InspectorSlots {
  header?: FunctionComponent; // in place of the page's own
  tools?: FunctionComponent;
  judging?: FunctionComponent; // what lines are judged by, and other choices
  below?: FunctionComponent; // under the view, beside the inspector
  commands?: () => readonly Entry[]; // what the palette finds besides
  keys?: readonly string[]; // sentences about more keys
}

export function Shell({ frame, story = true, slots = {} }: ShellOptions) {
  const store = useStore();
  const help = useSignal(false);
  const find = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const { theme, language } = store;
  useEffect(() => {
    const abort = new AbortController();
    const target: HTMLElement | Document = frame ? root.current!.ownerDocument : root.current!;
    target.addEventListener("keydown", (event) => onKey(event as KeyboardEvent, store, help, find), {
      signal: abort.signal,
    });
    return () => abort.abort();
  }, [store, frame]);
  useNarrow(store, root);
  useFade(store, root);
  const narrow = store.narrow.value;
  const { Component, Controls, wide, weighs } = store.view;
  const Top = slots.header ?? Header;
  const tools = (
    <Tools help={() => (help.value = true)} find={() => (find.value = true)} more={slots.tools} />
  );
  return (
    <div
      class={narrow ? "regard narrow" : "regard"}
      data-theme={theme.value}
      lang={language.value}
      ref={root}
      tabIndex={-1}
    >
      {frame && <Top />}
      {(story || store.view !== store.views[0]) && (
        <div class="bar">
          <Tabs />
          <span class="fill" />
          {narrow
            ? Controls && <Choices controls={Controls} />
            : (!wide || weighs) && <Quantity shares={!wide} />}
          {narrow ? <More>{tools}</More> : tools}
        </div>
      )}
      {Controls && !narrow && (
        <div class="controls">
          <Controls />
        </div>
      )}
      {!wide && <WorthLine chooser={slots.judging} />}
      {story && !wide && isKnown(store.page) && <Story />}
      {!wide && <Headline news={slots.news} />}
      <main
        class="body"
        style={store.panel.value ? { gridTemplateColumns: `minmax(0, 1fr) ${store.panel.value}px` } : {}}
      >
        <Component />
        {!wide && slots.below && <slots.below />}
        {!wide && (narrow ? <Drawer {...slots} /> : <Inspector {...slots} />)}
      </main>
      <Tip root={root} />
      {find.value && (
        <Palette
          close={() => (find.value = false)}
          help={() => (help.value = true)}
          more={slots.commands?.() ?? []}
        />
      )}
      {help.value && <Help close={() => (help.value = false)} more={slots.keys ?? []} />}
    </div>
  );
}

const NARROW = 600; // pixels: a phone

/** Whether the frame is as narrow as a phone, whatever the window is. */
function useNarrow(store: Store, root: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = root.current!;
    const look = () => {
      if (element.clientWidth) store.narrow.value = element.clientWidth <= NARROW;
    };
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [store]);
}

/** What is shown, in words: 0.2, or a layer and how many of its heads. */
function useShown(): string {
  const store = useStore();
  const tell = useSay();
  const { layer, heads } = store.selection.value;
  if (store.view.heads === "some" && heads.length !== 1)
    return tell("layerHeads", { layer, count: heads.length });
  return `${layer}.${store.lead}`;
}

/** On a phone all choices are behind one button. */
function Choices({ controls: Controls }: { controls: FunctionComponent }) {
  const store = useStore();
  const tell = useSay();
  const box = useRef<HTMLDialogElement>(null);
  const shown = useShown();
  const close = () => box.current?.close();
  return (
    <>
      <button type="button" class="choose" data-sheet="open" onClick={() => box.current?.showModal()}>
        {store.view.heads === "all" ? tell("choices") : shown} ▾
      </button>
      <dialog class="choices" ref={box} aria-label={tell("choices")}>
        <div class="controls">
          <Controls />
          {(!store.view.wide || store.view.weighs) && <Quantity shares={!store.view.wide} />}
          <button type="button" class="plain" data-sheet="close" onClick={close}>
            {tell("close")}
          </button>
        </div>
      </dialog>
    </>
  );
}

/** On a phone the inspector is a drawer at the lower edge. */
function Drawer({ first, verdict, aside }: InspectorSlots) {
  const store = useStore();
  const tell = useSay();
  const shown = useShown();
  const one = store.view.heads !== "some" || store.selection.value.heads.length === 1;
  const cell = { site: store.site.value, head: store.lead };
  const { contributions } = store.look.value;
  const named = foundOf(cell, contributions).length > 0;
  const lede =
    one && isKnown(store.page)
      ? ((named ? null : strongestOf(store, cell, tell)) ?? doingOf(store, cell, tell))
      : null;
  return (
    <details class="drawer">
      <summary>
        <b>{shown}</b> <span>{lede ?? tell("inspector")}</span>
      </summary>
      <Inspector first={first} verdict={verdict} aside={aside} />
    </details>
  );
}

function Header() {
  const { facts, read } = useStore().page;
  return (
    <header class="head-bar">
      <strong>regard</strong>
      {facts.model !== undefined && <span class="model">{String(facts.model)}</span>}
      {read && (
        <q class="read" dir="auto">
          {read}
        </q>
      )}
    </header>
  );
}

function Tools({ help, find, more: More }: { help: () => void; find: () => void; more?: FunctionComponent }) {
  const store = useStore();
  const tell = useSay();
  const { theme, language } = store;
  return (
    <span class="tools">
      <button type="button" class="plain" data-tool="find" title={tell("help_palette")} onClick={find}>
        {tell("palette")}
      </button>
      <Switches {...{ language, theme, tell }} />
      {More ? (
        <More />
      ) : (
        <button
          type="button"
          class="plain"
          data-tool="save"
          title={tell("save")}
          onClick={(event) => savePicture(store, event.currentTarget.ownerDocument)}
        >
          {tell("saveShort")}
        </button>
      )}
      <button type="button" class="plain" data-tool="help" onClick={help}>
        {tell("keys")}
      </button>
    </span>
  );
}

const GESTURES = ["help_hover", "help_click", "help_double", "help_esc"] as const;
const KEYS = ["help_layers", "help_heads", "help_views", "help_palette", "help_undo"] as const;
const SWITCHES = ["help_contributions", "help_worth", "help_words", "help_help"] as const;

function Help({ close, more }: { close: () => void; more: readonly string[] }) {
  const tell = useSay();
  const box = useRef<HTMLDialogElement>(null);
  const own = useStore().views.flatMap(({ help }) => help ?? []);
  useModal(box, close);
  return (
    <dialog class="help" aria-label={tell("keys")} ref={box}>
      <h2>{tell("keys")}</h2>
      <ul>
        {[...GESTURES, ...KEYS, ...own, ...SWITCHES].map((key) => (
          <li key={key}>{tell(key)}</li>
        ))}
        {more.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <button type="button" onClick={close}>
        {tell("close")}
      </button>
    </dialog>
  );
}
