// What the matrix view shows: one head, its segments, tokens or words.

import { Level, OneHead, Segments, Special } from "../../frame/controls";

export function Controls() {
  return (
    <>
      <OneHead />
      <Segments />
      <Level />
      <Special />
    </>
  );
}
