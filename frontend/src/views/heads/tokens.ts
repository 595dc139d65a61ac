// How tokens answer to pointers, fingers and keys: the same in columns and in a sentence.

import { type Axis, visible } from "../../compute/axis";
import { useSay, useStore } from "../../frame/context";
import { NOTHING } from "../../state/selection";
import type { Store } from "../../state/store";

/** Pin a token, or let it go. */
export function toggle(store: Store, side: "query" | "key", token: number): void {
  const name = side === "query" ? "queries" : "keys";
  const pins = store.selection.peek()[name];
  store.set({ [name]: pins.includes(token) ? pins.filter((p) => p !== token) : [...pins, token] });
}

/** When a mouse leaves, nothing is pointed at; a finger that lifts still points at its token. */
export const leaving = (store: Store) => (event: PointerEvent) => {
  if (event.pointerType !== "touch") store.hover.value = NOTHING;
};

let tapped = ""; // the token a finger has just come to: its tap explains, the next one keeps

/** The text of a token as the model reads it, where it is drawn in another way. */
function exactly({ side, starts, labels, folded }: Axis, position: number): string | undefined {
  const text = visible(side.text.slice(starts[position], starts[position + 1]).join(""));
  return folded[position] || text === labels[position] ? undefined : text;
}

/** What a token's button needs. */
export function usePointing(side: "query" | "key", axis: Axis) {
  const store = useStore();
  const tell = useSay();
  const pins = store.selection.value[side === "query" ? "queries" : "keys"];
  const over = (position: number) => store.hover.peek()[side] === position;
  const point = (position: number) => {
    store.hover.value = side === "query" ? { query: position, key: null } : { query: null, key: position };
  };
  return (position: number) => {
    const token = axis.starts[position];
    return {
      type: "button" as const,
      class: "token",
      "data-side": side,
      "data-position": position,
      dir: "auto" as const,
      title: exactly(axis, position),
      "aria-label": tell(side === "query" ? "queryToken" : "keyToken", {
        index: token,
        text: axis.labels[position],
      }),
      "aria-pressed": pins.includes(token),
      onPointerEnter: (event: PointerEvent) => {
        tapped = event.pointerType === "touch" && !over(position) ? `${side} ${position}` : "";
        point(position);
      },
      onFocus: () => point(position),
      onBlur: () => {
        store.hover.value = NOTHING;
      },
      onClick: () => {
        const first = tapped === `${side} ${position}`;
        tapped = "";
        if (!first) toggle(store, side, token);
      },
      onDblClick: () =>
        store.set({ queries: [], keys: [], [side === "query" ? "queries" : "keys"]: [token] }),
    };
  };
}
