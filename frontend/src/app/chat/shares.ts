// Where all the attention was when a word was chosen, in parts that add up to it.

import { inWholes } from "../../marks/scales";
import type { Shares } from "../records";

export type Part = "answer" | "prompt" | "first" | "template" | "sink";

export interface Piece {
  part: Part;
  share: number; // of all the attention
  told: number; // in whole percent; those of all pieces add up to 100
}

/** The parts of the attention that are there, words first; what is missing from all of it went to a learned sink. */
export function piecesOf(shares: Shares): Piece[] {
  const { answer, prompt, first, template } = shares;
  const sink = Math.max(0, 1 - answer - prompt - first - template);
  const parts: [Part, number][] = [
    ["prompt", prompt],
    ["answer", answer],
    ["first", first],
    ["template", template],
    ["sink", sink],
  ];
  const told = inWholes(parts.map(([, share]) => share));
  return parts.map(([part, share], i) => ({ part, share, told: told[i] })).filter(({ told }) => told > 0);
}

/** A share of all the attention as it is read: small ones with a decimal. */
export const inPercent = (share: number): string => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
