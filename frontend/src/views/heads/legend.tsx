// What colour and strength of a line mean, with swatches.

import { useQuantity, useSay, useStore } from "../../frame/context";
import { strengthOf } from "../../marks/columns";
import { figure } from "../../marks/scales";
import { coloursOf, type Scene, together } from "./scene";

const TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];
const SWATCHES = 4;

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
  const below = TICKS.filter((tick) => tick < 0.85 * top).slice(1 - SWATCHES);
  const colour = colours.length === 1 ? colours[0] : "currentColor";
  return (
    <span
      class="swatches"
      role="img"
      aria-label={tell("swatches") + tell("colon") + [...below, top].map((v) => figure(v, 2)).join(", ")}
    >
      {[...below, top].map((value) => (
        <span key={value}>
          <i style={{ background: colour, opacity: strengthOf(value, top) }} />
          {value === top ? figure(top, 2) : String(value)}
        </span>
      ))}
    </span>
  );
}
