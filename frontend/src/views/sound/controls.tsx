// Which heads are listened with: one, or the mean of several.

import { HeadPatches, Kinds, Layers } from "../../frame/controls";

export function Controls() {
  return (
    <>
      <Kinds />
      <Layers />
      <HeadPatches />
    </>
  );
}
