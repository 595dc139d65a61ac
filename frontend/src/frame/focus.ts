// Where the keyboard is: after a box that took it closes, it is where it was before.

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Show a dialog over the page as long as the component is there; the focus goes back to what had it.
 *
 * `close` is called where the browser closes it. What is heard of a dialog that has left the page is not about one that
 * was opened since: the browser says that it closed some time after it did.
 */
export function useModal(box: RefObject<HTMLDialogElement | null>, close: () => void): void {
  useLayoutEffect(() => {
    const dialog = box.current!;
    const before = dialog.ownerDocument.activeElement as HTMLElement | null;
    dialog.showModal();
    dialog.addEventListener("close", close);
    return () => {
      dialog.removeEventListener("close", close);
      dialog.close(); // first, or the page behind it takes no focus
      if (before?.isConnected && before !== dialog.ownerDocument.body) before.focus({ preventScroll: true });
    };
  }, []);
}
