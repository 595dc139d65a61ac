// A button that opens a panel below it; Esc, or a click elsewhere, closes it.

import "./popover.css";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  name: string; // for tests, and the style sheet
  label: ComponentChildren;
  title?: string;
  children: (close: () => void) => ComponentChildren;
}

export function Popover({ name, label, title, children }: Props) {
  const open = useSignal(false);
  const box = useRef<HTMLSpanElement>(null);
  const close = () => {
    open.value = false;
  };
  // Whoever chose something in the panel is back where it was opened.
  const done = () => {
    close();
    box.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open.value) return undefined;
    const abort = new AbortController();
    const { signal } = abort;
    const doc = box.current!.ownerDocument;
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    doc.addEventListener("pointerdown", away, { signal });
    doc.addEventListener("focusin", away, { signal });
    return () => abort.abort();
  }, [open.value]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open.value) return;
    event.stopPropagation();
    done();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only listens for the key that closes what is inside
    <span class={`popover popover-${name}`} ref={box} onKeyDown={onKey}>
      <button
        type="button"
        class="opener"
        data-open-panel={name}
        aria-expanded={open.value}
        title={title}
        onClick={() => (open.value = !open.value)}
      >
        {label}
      </button>
      {open.value && <div class="panel-box">{children(done)}</div>}
    </span>
  );
}
