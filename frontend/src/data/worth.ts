// What the lines of a page were judged by, where they were: `facts["worth"]` of a trace.

import type { Cut, Page } from "./wire";

/** How far estimates agree with exact cuts of the same lines. */
export interface Check {
  edges: number; // lines that were cut
  spearman: number | null;
}

/** One number of the model's output, and how lines are cut. */
export interface Judged {
  about: string; // next token, masked token, labels, token labels, score, similarity
  position: number | null;
  name: string; // of the token or label
  how: Cut;
  check: Check | null; // null until it is known
}

export const RELIABLE = 0.5; // Spearman's correlation below which the estimate is not to be believed

export const judgedOf = ({ facts }: Page): Judged | null => (facts.worth as Judged | undefined) ?? null;
