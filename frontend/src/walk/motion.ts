// Whether things move here.

/** A reader who asked for less motion sees the states before and after, side by side. */
export const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The state of a cell that is shown. */
export type Phase = "before" | "after";
