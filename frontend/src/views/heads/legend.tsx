// What colour and strength of a line mean, with swatches.

import { quantityOf, sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { strengthOf } from "../../marks/columns";
import { strengthEntries, strengths, swatches } from "../../marks/legend";
import type { Pen } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { coloursOf, type Scene, together } from "./scene";

export function Legend({ scene, sentence = false }: { scene: Scene; sentence?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const { count, top, left } = scene.links;
  const many = together(scene);
  const { layer } = store.site.value;
  return (
    <div class="legend">
      <p>
        {tell(sentence ? "legendSentence" : many ? "legendTogether" : "legendHeads", {
          what: quantity,
          count: scene.heads.length,
        })}
        {many && sentence && ` ${tell("legendMany", { count: scene.heads.length })}`}
        {many && <span class="listed"> {scene.heads.map((head) => `${layer}.${head}`).join(" ")}</span>}
        {left && !sentence && ` ${tell("legendLeft", { count })}`}
      </p>
      <Swatches top={top} colours={coloursOf(scene, store.theme.value)} />
    </div>
  );
}

/** Lines of a few strengths, each with its weight. */
function Swatches({ top, colours }: { top: number; colours: string[] }) {
  const tell = useSay();
  const values = strengths(top);
  const colour = colours.length === 1 ? colours[0] : "currentColor";
  return (
    <span
      class="swatches"
      role="img"
      aria-label={tell("swatches") + tell("colon") + values.map(([, text]) => text).join(", ")}
    >
      {values.map(([value, text]) => (
        <span key={value}>
          <i style={{ background: colour, opacity: strengthOf(value, top) }} />
          {text}
        </span>
      ))}
    </span>
  );
}

/** The same in a saved picture: strengths, and the colours of the heads; returns the height. */
export function legendPicture(pen: Pen, store: Store, scene: Scene, width: number): number {
  const tell = sayIn(store);
  const colours = palette(store.theme.value);
  const own = coloursOf(scene, store.theme.value);
  const strong = strengthEntries(scene.links.top, own.length === 1 ? own[0] : colours.ink);
  const high = swatches(pen, 10, width, strong, quantityOf(store), colours);
  if (own.length === 1) return 10 + high;
  const { layer } = store.site.value;
  const heads = scene.heads.map((head, h) => ({ colour: own[h], text: `${layer}.${head}` }));
  return 10 + high + swatches(pen, 10 + high, width, heads, tell("headAxis"), colours);
}
