// What can be seen of something taller than its box: the box's size, and how far down it is.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

export type Seen = { width: number; height: number; top: number };

/** Follows an element's size and scrolling; `above` pixels of its height belong to a head that stays. */
export function useSeen(scroller: RefObject<HTMLElement | null>, above = 0): Signal<Seen> {
  const seen = useSignal<Seen>({ width: 0, height: 0, top: 0 });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const look = () => {
      const { clientWidth: width, clientHeight, scrollTop: top } = element;
      seen.value = { width, height: clientHeight - above, top };
    };
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      watcher.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return seen;
}

/** Whether fingers point here rather than a mouse. */
export const isTouch = (): boolean => window.matchMedia?.("(pointer: coarse)").matches ?? false;
