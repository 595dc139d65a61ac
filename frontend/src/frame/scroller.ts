// What can be seen of something taller than its box: the box's size, and how far down it is.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

export type Seen = { width: number; height: number; top: number };

/** On phones the page scrolls, not the element. */
const flows = (element: HTMLElement): boolean => getComputedStyle(element).overflowY === "visible";

/** The part of an element that is in the window. */
function inWindow(element: HTMLElement): Seen {
  const { top, height } = element.getBoundingClientRect();
  const hidden = Math.max(0, Math.min(height, -top));
  return { width: element.clientWidth, height: Math.min(window.innerHeight, height - hidden), top: hidden };
}

/** Follows an element's size and scrolling; `above` pixels of its height belong to a head that stays. */
export function useSeen(scroller: RefObject<HTMLElement | null>, above = 0): Signal<Seen> {
  const seen = useSignal<Seen>({ width: 0, height: 0, top: 0 });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const look = () => {
      const { clientWidth: width, clientHeight, scrollTop } = element;
      const next = flows(element)
        ? inWindow(element)
        : { width, height: clientHeight - above, top: scrollTop };
      const { width: w, height: h, top: t } = seen.peek();
      if (next.width !== w || next.height !== h || next.top !== t) seen.value = next;
    };
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    window.addEventListener("scroll", look, { passive: true, capture: true });
    return () => {
      watcher.disconnect();
      element.removeEventListener("scroll", look);
      window.removeEventListener("scroll", look, { capture: true });
    };
  }, []);
  return seen;
}

/** Keeps the width of an element until what is returned is called. */
export function followWidth(element: HTMLElement, width: Signal<number>): () => void {
  const look = () => {
    width.value = element.clientWidth;
  };
  look();
  const watcher = new ResizeObserver(look);
  watcher.observe(element);
  return () => watcher.disconnect();
}

/** Whether fingers point here rather than a mouse. */
export const isTouch = (): boolean => window.matchMedia?.("(pointer: coarse)").matches ?? false;
