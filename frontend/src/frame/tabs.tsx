// The tabs: one for each view.

import { useSay, useStore } from "./context";

export function Tabs() {
  const store = useStore();
  const tell = useSay();
  const current = store.selection.value.view;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    event.preventDefault();
    const ids = store.views.map(({ id }) => id);
    const next = ids[(ids.indexOf(current) + step + ids.length) % ids.length];
    store.set({ view: next });
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-view=${next}]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={tell("views")} onKeyDown={move}>
      {store.views.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-view={id}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => store.set({ view: id })}
        >
          {tell(title)}
        </button>
      ))}
    </div>
  );
}
