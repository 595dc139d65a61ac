// A row of a map as bars, before and after: scores become shares, or shorter.

import { useSay } from "../frame/context";
import { brief, SIGNS } from "../marks/scales";
import type { Phase } from "./motion";
import { type Bars, short } from "./pieces";

export function BarsView({ cell, phase }: { cell: Bars; phase: Phase }) {
  if (cell.ends.length && phase === "after") return <OverBars cell={cell} />;
  const shares = cell.to === "A";
  const same = !shares && cell.to !== "−log p"; // one scale: what is divided becomes shorter
  const [before, after] = scalesOf(cell, shares, same);
  return (
    <table class={`turning ${phase}`}>
      <thead>
        <tr>
          <td />
          <th colSpan={2} class="quiet">
            {cell.from}
          </th>
          {phase === "after" && (
            <th colSpan={2} class="quiet">
              {cell.by} → {cell.to}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {cell.lines.map((line, i) => (
          <tr key={i} class={line.on ? "on" : ""}>
            <th scope="row">
              <bdi>{line.name.trim()}</bdi>
            </th>
            <td class="number">{SHARED.includes(cell.from) ? brief(line.before) : short(line.before)}</td>
            <td class="room">
              <Bar value={line.before} scale={before} ghost={phase === "after"} />
            </td>
            {phase === "after" && (
              <>
                <td class="number">{shares ? brief(line.after) : short(line.after)}</td>
                <td class="room grown">
                  <Bar value={line.after} scale={after} share={shares} />
                </td>
              </>
            )}
          </tr>
        ))}
        <Undrawn cell={cell} />
      </tbody>
    </table>
  );
}

function Undrawn({ cell: { left, ends } }: { cell: Bars }) {
  const tell = useSay();
  return left > 0 ? (
    <tr>
      <td colSpan={5 + ends.length} class="quiet">
        {tell("walk_undrawn", { count: left })}
      </td>
    </tr>
  ) : null;
}

/** Before and after over each other, which leaves room for what comes of both in the end. */
function OverBars({ cell }: { cell: Bars }) {
  const tell = useSay();
  const [before, after] = scalesOf(cell, false, true);
  return (
    <table class="turning over after">
      <thead>
        <tr>
          <td />
          <th class="quiet number">{cell.from}</th>
          <th colSpan={2} class="quiet">
            {cell.by} → {cell.to}
          </th>
          {cell.ends.map(({ key }) => (
            <th key={key} class="end quiet">
              {tell(key)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {cell.lines.map((line, i) => (
          <tr key={i} class={line.on ? "on" : ""}>
            <th scope="row">
              <bdi>{line.name.trim()}</bdi>
            </th>
            <td class="number">{short(line.before)}</td>
            <td class="number">{short(line.after)}</td>
            <td class="room grown">
              <span class="both">
                <Bar value={line.before} scale={before} ghost />
                <Bar value={line.after} scale={after} />
              </span>
            </td>
            {cell.ends.map(({ key, values }) => (
              <td key={key} class="end" data-end={key}>
                <span>
                  <span class="part">{brief(values[i])}</span>
                  <Bar value={values[i]} scale={SHARES} share />
                </span>
              </td>
            ))}
          </tr>
        ))}
        <Undrawn cell={cell} />
      </tbody>
    </table>
  );
}

/** Where bars begin and end: from the lowest negative number, or 0, to the largest. */
interface Scale {
  low: number; // 0 or negative
  high: number;
}

const SHARED: readonly string[] = ["p", "A"]; // what is a share

const SHARES: Scale = { low: 0, high: 1 };

function scalesOf(cell: Bars, shares: boolean, same: boolean): [before: Scale, after: Scale] {
  const over = (values: number[]): Scale => ({
    low: Math.min(0, ...values.filter(Number.isFinite)),
    high: Math.max(1e-12, ...values.filter(Number.isFinite)),
  });
  const before = cell.lines.map((line) => line.before);
  const after = cell.lines.map((line) => line.after);
  const one = over([...before, ...after]);
  if (same) return [one, one];
  return [cell.from === "p" ? SHARES : over(before), shares ? SHARES : over(after)];
}

/** A bar from zero: to the right, or to the left if the number is negative. */
function Bar({
  value,
  scale,
  ghost,
  share,
}: {
  value: number;
  scale: Scale;
  ghost?: boolean;
  share?: boolean;
}) {
  if (!Number.isFinite(value)) return <i class="amount hidden" />;
  const { low, high } = scale;
  const part = (amount: number) => `${((100 * amount) / (high - low)).toFixed(2)}%`;
  const colour = share ? "var(--ink-a)" : value < 0 ? SIGNS.negative : SIGNS.positive;
  return (
    <span class={low < 0 ? "axis signed" : "axis"} style={{ "--zero": part(-low) }}>
      <i
        class={ghost ? "amount ghost" : "amount"}
        data-sign={value < 0 ? "negative" : "positive"}
        style={{
          marginInlineStart: part(Math.min(value, 0) - low),
          width: `max(2px, ${part(Math.abs(value))})`,
          background: colour,
        }}
      />
    </span>
  );
}
