// The picture that tokens are pieces of, decoded once.

import { type Signal, signal } from "@preact/signals";
import type { Medium, Side } from "./wire";

const decoded = new WeakMap<Medium, Signal<HTMLCanvasElement | null>>();

/** The picture of a side as a canvas; null until it is decoded, and for sides without one. */
export function pictureOf({ medium }: Side): HTMLCanvasElement | null {
  if (medium?.kind !== "picture") return null;
  let known = decoded.get(medium);
  if (!known) {
    known = signal<HTMLCanvasElement | null>(null);
    decoded.set(medium, known);
    void decode(medium, known);
  }
  return known.value;
}

/** Its width through its height; 1 without a picture. */
export const aspectOf = ({ medium }: Side): number =>
  medium?.kind === "picture" ? medium.size[0] / medium.size[1] : 1;

/** Whether a picture is so much wider than high that it stands best by itself in a row, as a line of text does. */
export const isStrip = (side: Side): boolean => aspectOf(side) >= 3;

async function decode(medium: Medium, found: Signal<HTMLCanvasElement | null>): Promise<void> {
  const bytes = medium.data.raw().slice();
  const bitmap = await createImageBitmap(new Blob([bytes], { type: medium.mime })).catch(() => null);
  if (!bitmap) return; // damaged: patches are drawn without it
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d")!.drawImage(bitmap, 0, 0);
  found.value = canvas;
}
