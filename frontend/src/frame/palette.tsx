// Ctrl-K: a line to type in, and what it finds.

import "./palette.css";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSay, useStore } from "./context";
import { type Entry, entriesOf, search } from "./finding";
import { useModal } from "./focus";

interface Props {
  close: () => void;
  help: () => void;
  more: readonly Entry[];
}

export function Palette({ close, help, more }: Props) {
  const store = useStore();
  const tell = useSay();
  const box = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const query = useSignal("");
  const at = useSignal(0);
  const all = useMemo(() => entriesOf(store, tell, help, more), [store.page, store.language.value]);
  const found = search(all, query.value);
  useModal(box, close);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at.value, query.value]);
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    close(); // first, so that the focus is back before the entry moves it
    entry.run();
  };
  const onKey = keysOf({
    ArrowDown: () => (at.value = Math.min(at.value + 1, found.length - 1)),
    ArrowUp: () => (at.value = Math.max(at.value - 1, 0)),
    Enter: () => choose(found[at.value]),
    Escape: close,
  });
  return (
    <dialog
      class="palette"
      aria-label={tell("palette")}
      ref={box}
      onKeyDown={onKey}
      onClick={(event) => event.target === box.current && close()}
    >
      <Line query={query} at={at} active={found.length ? `regard-palette-${at.value}` : undefined} />
      <div class="found" id="regard-palette" role="listbox" aria-label={tell("palette")} ref={list}>
        {found.map((entry, i) => (
          <Found
            key={`${entry.sort} ${entry.label} ${i}`}
            id={`regard-palette-${i}`}
            entry={entry}
            chosen={i === at.value}
            point={() => (at.value = i)}
            choose={() => choose(entry)}
          />
        ))}
      </div>
      {!found.length && (
        <p class="quiet" role="status">
          {tell("paletteNothing")}
        </p>
      )}
    </dialog>
  );
}

/** The line to type in; what is typed begins at the first entry again. */
function Line({ query, at, active }: { query: Signal<string>; at: Signal<number>; active?: string }) {
  const tell = useSay();
  return (
    <input
      type="text"
      role="combobox"
      aria-expanded="true"
      aria-controls="regard-palette"
      aria-activedescendant={active}
      aria-label={tell("palette")}
      placeholder={tell("paletteHint")}
      spellcheck={false}
      autocomplete="off"
      value={query.value}
      onInput={(event) => {
        query.value = event.currentTarget.value;
        at.value = 0;
      }}
    />
  );
}

/** Keys of the line, which are for nobody else; Ctrl-K once more closes it. */
const keysOf = (keys: Record<string, () => void>) => (event: KeyboardEvent) => {
  event.stopPropagation();
  const again = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const action = again ? keys.Escape : event.isComposing ? undefined : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
};

interface FoundProps {
  id: string;
  entry: Entry;
  chosen: boolean;
  point: () => void;
  choose: () => void;
}

function Found({ id, entry, chosen, point, choose }: FoundProps) {
  const tell = useSay();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      data-found={entry.sort}
      onPointerMove={point}
      onClick={choose}
    >
      <span class="sort">{tell(`palette_${entry.sort}`)}</span>
      <span class={entry.sort === "token" ? "label mono" : "label"} dir="auto">
        {entry.label}
      </span>
      <span class="detail">{entry.detail}</span>
    </div>
  );
}
