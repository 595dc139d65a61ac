// What colour and strength of a line mean, with swatches.

import { restOf } from "../../data/report";
import { quantityOf, sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { RESTING, strengthOf } from "../../marks/columns";
import { strengthEntries, strengths, swatches } from "../../marks/legend";
import type { Pen } from "../../marks/pen";
import { palette } from "../../marks/scales";
import type { Store } from "../../state/store";
import { coloursOf, restingPlaces, type Scene, together } from "./scene";

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
      <span class="swatches">
        <Strengths top={top} colours={coloursOf(scene, store.theme.value)} />
        <Resting scene={scene} />
      </span>
    </div>
  );
}

/** Lines of a few strengths, each with its weight. */
function Strengths({ top, colours }: { top: number; colours: string[] }) {
  const tell = useSay();
  const values = strengths(top);
  const colour = colours.length === 1 ? colours[0] : "currentColor";
  return (
    <span
      class="strengths"
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

/** What grey lines are. */
function Resting({ scene }: { scene: Scene }) {
  const text = restingText(useStore(), scene);
  if (!text) return null;
  return (
    <span data-resting>
      <i class="grey" />
      {text}
    </span>
  );
}

/** Where the heads rest and, of one head, for how much of its attention; null where nothing can be rested on. */
function restingText(store: Store, scene: Scene): string | null {
  const tell = sayIn(store);
  const places = restingPlaces(scene).map((place) => place || tell("first"));
  if (!places.length) return null;
  const [head] = scene.heads;
  const cell = { site: store.site.value, head };
  const rest = scene.heads.length === 1 ? restOf(cell, store.look.value.contributions) : null;
  const said = { places: places.join(tell("comma")), share: rest?.share.toFixed(2) ?? "" };
  return tell(rest ? "legendRestShare" : "legendRest", said);
}

/** The same in a saved picture: strengths, and the colours of the heads; returns the height. */
export function legendPicture(pen: Pen, store: Store, scene: Scene, width: number): number {
  const tell = sayIn(store);
  const colours = palette(store.theme.value);
  const own = coloursOf(scene, store.theme.value);
  const resting = restingText(store, scene);
  const strong = [
    ...strengthEntries(scene.links.top, own.length === 1 ? own[0] : colours.ink),
    ...(resting ? [{ colour: colours.quiet, alpha: RESTING, text: resting }] : []),
  ];
  const high = swatches(pen, 10, width, strong, quantityOf(store), colours);
  if (own.length === 1) return 10 + high;
  const { layer } = store.site.value;
  const heads = scene.heads.map((head, h) => ({ colour: own[h], text: `${layer}.${head}` }));
  return 10 + high + swatches(pen, 10 + high, width, heads, tell("headAxis"), colours);
}
