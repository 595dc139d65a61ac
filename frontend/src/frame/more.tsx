// On a phone the tools are behind one button.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSay } from "./context";

/** A button that opens a list below it; a choice in it, Esc, or a tap elsewhere closes it. */
export function More({ children }: { children: ComponentChildren }) {
  const tell = useSay();
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const own = box.current!;
    const abort = new AbortController();
    const close = () => own.removeAttribute("open");
    const away = (event: Event) => own.contains(event.target as Node) || close();
    own.ownerDocument.addEventListener("pointerdown", away, { signal: abort.signal });
    own.addEventListener("click", (event) => (event.target as Element).closest(".plain") && close(), {
      signal: abort.signal,
    });
    own.addEventListener("keydown", (event) => event.key === "Escape" && own.open && close(), {
      signal: abort.signal,
    });
    return () => abort.abort();
  }, []);
  return (
    <details class="more" ref={box}>
      <summary aria-label={tell("more")} title={tell("more")}>
        ⋯
      </summary>
      {children}
    </details>
  );
}
