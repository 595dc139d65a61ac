// How large the maps of the atlas are in the room there is now.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Cell } from "../../data/report";
import { sidesOf } from "./grid";
import { type Layout, layoutOf } from "./layout";

/** How the maps fit. What is around them has its size from the window; on a phone its height is theirs, and says nothing. */
export function useLayout(
  around: RefObject<HTMLElement | null>,
  cells: Cell[],
  narrow: boolean,
  aspect: number,
): Layout {
  const room = useSignal({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = around.current!;
    const look = () => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width !== room.peek().width || height !== room.peek().height) room.value = { width, height };
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const { rows, columns } = sidesOf(cells);
  const { width, height } = room.value;
  if (!width || !cells.length) return { size: 0, small: true, beside: 0, blocks: 1 };
  return layoutOf(width, narrow ? 0 : height, columns.length, rows.length, aspect);
}
