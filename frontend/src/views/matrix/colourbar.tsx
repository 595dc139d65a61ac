// The colours of a map with ticks.

import { useSay, useStore } from "../../frame/context";
import { figure, rampStops, ticks, twoSidedStops, twoSidedTicks } from "../../marks/scales";

interface Props {
  top: number;
  log: boolean;
  above: number; // what is left free over it
  high: number;
  flat?: boolean; // whether it lies below the map
}

const APART = 0.18; // of a bar that lies flat: numbers closer to its end would cover that

export function ColourBar({ top, log, above, high, flat = false }: Props) {
  const store = useStore();
  const tell = useSay();
  const signed = store.look.value.worth !== undefined;
  const every = signed ? twoSidedTicks(top) : ticks(top, log);
  const found = flat ? every.filter(([, at], i) => i === every.length - 1 || at < 1 - APART) : every;
  const label = tell("colourBar", { from: figure(found[0][0], 2), to: figure(top, 2) });
  const stops = (signed ? twoSidedStops : rampStops)(store.theme.value).join(", ");
  return (
    <div
      class={flat ? "colour-bar flat" : "colour-bar"}
      role="img"
      aria-label={label}
      style={{
        background: `linear-gradient(to ${flat ? "right" : "top"}, ${stops})`,
        ...(!flat && { marginTop: `${above}px`, height: `${high}px` }),
      }}
    >
      {found.map(([value, at]) => (
        <span key={at} style={{ [flat ? "left" : "bottom"]: `${100 * at}%` }}>
          {figure(value, 2)}
        </span>
      ))}
    </div>
  );
}
