// The room that the atlas has, measured. Enters: an element of the page. Leaves: a layout, which follows its size.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Cell } from "../../data/report";
import type { Store } from "../../state/store";
import { sidesOf } from "./grid";
import { type Layout, layoutOf, NOTHING, onPhone } from "./layout";

const BELOW = 820; // pixels of the whole up to which the inspector is below the view

/** How the maps fit. What is around them has its size from the window; on a phone its height is theirs, and says nothing. */
export function useLayout(
  around: RefObject<HTMLElement | null>,
  cells: Cell[],
  store: Store,
  shape: { aspect: number; pictured: boolean },
): Layout {
  const room = useSignal({ width: 0, height: 0, whole: { width: 0, height: 0 } });
  useLayoutEffect(() => {
    const element = around.current!;
    const look = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const body = element.closest(".body");
      const whole = { width: body?.clientWidth ?? 0, height: body?.clientHeight ?? 0 };
      if (JSON.stringify(room.peek()) !== JSON.stringify({ width, height, whole }))
        room.value = { width, height, whole };
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const { rows, columns } = sidesOf(cells);
  const fitting = (): Layout => {
    const { width, height, whole } = room.value;
    if (!width || !cells.length) return NOTHING;
    if (store.narrow.value) return onPhone(width, columns.length, rows.length);
    return layoutOf(width, height, columns.length, rows.length, {
      whole: whole.width > BELOW ? whole : undefined,
      ...shape,
    });
  };
  const layout = fitting();
  useLayoutEffect(() => {
    store.panel.value = layout.panel;
  }, [layout.panel]);
  useLayoutEffect(
    () => () => {
      store.panel.value = 0;
    },
    [],
  );
  return layout;
}
