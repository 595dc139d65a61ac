// Where the keyboard is: after a box that took it closes, it is where it was before.

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Show a dialog over the page as long as the component is there; the focus goes back to what had it. */
export function useModal(box: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = box.current!;
    const before = dialog.ownerDocument.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close(); // first, or the page behind it takes no focus
      if (before?.isConnected && before !== dialog.ownerDocument.body) before.focus({ preventScroll: true });
    };
  }, []);
}
