// The payload that Python wrote (tests/views/golden.py).

import { readFileSync } from "node:fs";
import { decode, type Page } from "../src/data/wire";

export const bytes = (): Uint8Array =>
  new Uint8Array(readFileSync(new URL("../../tests/data/wire-golden.bin", import.meta.url)));

export const golden = (): Page => decode(bytes());

export interface Reference {
  attention: number[][][][]; // site, head, query, key
  measures: Record<"measures" | "chance", Record<string, number | null>>[][]; // site, head: of regard.measures
  worth: Record<"mask" | "zero", (number | null)[][][]>; // head, query, key: of the first site
  rollout: Record<"weights" | "contributions", number[][]>; // of the encoder; contributions of its first layer alone
  words: number[][][]; // head, word, word: contributions of the first site
}

export const reference = (page: Page): Reference => page.facts.reference as Reference;
