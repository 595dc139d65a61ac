// The tabs: one for each view.

import { useEffect, useRef } from "preact/hooks";
import { useSay, useStore } from "./context";

export function Tabs() {
  const store = useStore();
  const tell = useSay();
  const current = store.selection.value.view;
  const bar = useRef<HTMLDivElement>(null);
  // Where the tabs do not all fit, the one that is open is in sight.
  useEffect(() => {
    const own = bar.current!.querySelector<HTMLElement>('[aria-selected="true"]');
    if (!own) return;
    const [tab, all] = [own.getBoundingClientRect(), bar.current!.getBoundingClientRect()];
    if (tab.left < all.left || tab.right > all.right)
      bar.current!.scrollLeft += (tab.left + tab.right - all.left - all.right) / 2;
  }, [current, store.narrow.value]);
  // Arrows go from tab to tab and leave the view open; Enter or Space chooses one.
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    event.preventDefault();
    const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[data-view]")];
    const at = tabs.indexOf(event.target as HTMLElement);
    tabs[(at + step + tabs.length) % tabs.length].focus();
  };
  // Who comes with a pointer is in the view from then on: its keys work, and the tab does not hold them back.
  const open = (id: string, event: MouseEvent) => {
    store.set({ view: id });
    if (event.detail)
      (event.currentTarget as HTMLElement).closest<HTMLElement>(".regard")?.focus({ preventScroll: true });
  };
  return (
    <div class="tabs" role="tablist" ref={bar} aria-label={tell("views")} onKeyDown={move}>
      {store.views.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-view={id}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={(event) => open(id, event)}
        >
          {tell(title)}
        </button>
      ))}
    </div>
  );
}
