// The picture of what a study found: named bars, each with a tick, or a second bar, beside it.

import { Fragment } from "preact";
import { percent } from "../../marks/scales";
import type { Chart } from "./records";

const BARS = 6; // that a card shows

export function Bars({ chart }: { chart: Chart }) {
  const { about, bars, top: end, bar } = chart;
  const shown = bars.slice(0, BARS);
  const top = end || Math.max(1e-9, ...shown.flatMap(([, value, tick]) => [value, tick ?? 0]));
  const whole = shown.every(([, value]) => Number.isInteger(value));
  const number = (value: number) =>
    end === 1 ? `${percent(value)}%` : whole ? String(value) : value.toFixed(2);
  const far = (value: number) => `${(100 * value) / top}%`;
  return (
    <figure class="app-chart">
      <figcaption class="app-note" dir="auto">
        {about}
        <Key {...chart} />
      </figcaption>
      <dl>
        {shown.map(([name, value, tick, note]) => (
          <Fragment key={name + note}>
            <dt dir="auto" title={name}>
              {name}
            </dt>
            <dd>
              <span aria-hidden="true" class={bar ? "pair" : ""}>
                <i
                  class={!bar && tick !== null && value < tick ? "below" : ""}
                  style={{ width: far(value) }}
                />
                {tick !== null &&
                  (bar ? <s style={{ width: far(tick) }} /> : <u style={{ left: far(tick) }} />)}
              </span>
              <b title={String(value)}>
                {bar && tick !== null ? (
                  <>
                    <em>{number(value)}</em> · <em class="second">{number(tick)}</em>
                  </>
                ) : (
                  number(value)
                )}{" "}
                {note && <small>{note}</small>}
              </b>
            </dd>
          </Fragment>
        ))}
      </dl>
    </figure>
  );
}

/** What the marks are. */
function Key({ bar, tick }: Pick<Chart, "bar" | "tick">) {
  if (!tick) return null;
  return (
    <span class="key">
      {bar && (
        <span>
          <i />
          {bar}
        </span>
      )}
      <span>
        {bar ? <s /> : <u />}
        {tick}
      </span>
    </span>
  );
}
