// The colours of a map with ticks.

import { useSay, useStore } from "../../frame/context";
import { figure, rampStops, ticks, twoSidedStops, twoSidedTicks } from "../../marks/scales";

interface Props {
  top: number;
  log: boolean;
  above: number; // what is left free over it
  high: number;
}

export function ColourBar({ top, log, above, high }: Props) {
  const store = useStore();
  const tell = useSay();
  const signed = store.look.value.worth !== undefined;
  const found = signed ? twoSidedTicks(top) : ticks(top, log);
  const label = tell("colourBar", { from: figure(found[0][0], 2), to: figure(top, 2) });
  const stops = (signed ? twoSidedStops : rampStops)(store.theme.value).join(", ");
  return (
    <div
      class="colour-bar"
      role="img"
      aria-label={label}
      style={{
        background: `linear-gradient(to top, ${stops})`,
        marginTop: `${above}px`,
        height: `${high}px`,
      }}
    >
      {found.map(([value, at]) => (
        <span key={at} style={{ bottom: `${100 * at}%` }}>
          {figure(value, 2)}
        </span>
      ))}
    </div>
  );
}
