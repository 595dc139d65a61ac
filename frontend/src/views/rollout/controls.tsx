// What the roll-out multiplies: which kind of attention, weights or contributions.

import { Kinds } from "../../frame/controls";
import { Quantity } from "../../frame/quantity";

export function Controls() {
  return (
    <>
      <Kinds />
      <Quantity shares={false} />
    </>
  );
}
