// Where one picture turns into another, the old one fades out while the new one fades in.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { Store } from "../state/store";

const LASTS = 250; // milliseconds

/** Between weights, contributions and worth the stage cross-fades; not for readers who want no motion. */
export function useFade(store: Store, root: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let before = quantityOf(store);
    return effect(() => {
      const now = quantityOf(store);
      // Effects run before the views draw again: the canvases still show the old picture.
      if (now !== before && !matchMedia("(prefers-reduced-motion: reduce)").matches) fade(root.current!);
      before = now;
    });
  }, [store]);
}

const quantityOf = (store: Store): string => {
  const { contributions, relative, worth } = store.look.value;
  return `${contributions} ${contributions && relative} ${worth}`;
};

function fade(root: HTMLElement): void {
  const stage = root.querySelector<HTMLElement>(".stage");
  if (!stage) return;
  for (const left of root.querySelectorAll(":scope > .fading")) left.remove();
  const old = snapshot(root, stage);
  root.append(old);
  const start = () => {
    if (stage.isConnected && stage.classList.contains("busy")) return void requestAnimationFrame(start);
    for (const canvas of stage.querySelectorAll("canvas")) canvas.animate([{ opacity: 0, offset: 0 }], LASTS);
    old.animate([{ opacity: 1 }, { opacity: 0 }], LASTS).finished.then(
      () => old.remove(),
      () => old.remove(),
    );
    old.style.opacity = "0";
  };
  // The second frame from now is the first that knows whether the new picture takes longer.
  requestAnimationFrame(() => requestAnimationFrame(start));
}

/** What the canvases of a stage show, as one picture over it. */
function snapshot(root: HTMLElement, stage: HTMLElement): HTMLCanvasElement {
  const [frame, box] = [root.getBoundingClientRect(), stage.getBoundingClientRect()];
  const picture = root.ownerDocument.createElement("canvas");
  const ratio = devicePixelRatio || 1;
  picture.className = "fading";
  picture.setAttribute("aria-hidden", "true");
  [picture.width, picture.height] = [box.width * ratio, box.height * ratio];
  Object.assign(picture.style, {
    left: `${box.left - frame.left + root.scrollLeft}px`,
    top: `${box.top - frame.top + root.scrollTop}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  });
  const context = picture.getContext("2d")!;
  context.scale(ratio, ratio);
  context.translate(-box.left, -box.top);
  for (const canvas of stage.querySelectorAll("canvas")) copy(context, canvas, stage);
  return picture;
}

/** Draw one canvas where it stands, as far as it is in sight. */
function copy(context: CanvasRenderingContext2D, canvas: HTMLCanvasElement, stage: HTMLElement): void {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  if (!width || !height || !canvas.width) return;
  const seen = (canvas.closest(".scroller") ?? stage).getBoundingClientRect();
  context.save();
  context.beginPath();
  context.rect(seen.left, seen.top, seen.width, seen.height);
  context.clip();
  context.globalAlpha = Number(getComputedStyle(canvas).opacity);
  context.imageSmoothingEnabled = width < canvas.width;
  context.drawImage(canvas, left, top, width, height);
  context.restore();
}
