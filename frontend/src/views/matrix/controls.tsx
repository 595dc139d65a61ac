// What the matrix view shows: one head, its segments, tokens or words.

import { Level, OneHead, Segments, Special } from "../../frame/controls";
import { Folds } from "../../frame/folds";

export function Controls() {
  return (
    <>
      <OneHead />
      <Segments />
      <Folds />
      <Level />
      <Special />
    </>
  );
}
