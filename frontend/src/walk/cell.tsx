// One cell of a step, as it comes about: a row meets a column, products drop into their sum, scores become shares.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Say, useSay } from "../frame/context";
import { brief, SIGNS } from "../marks/scales";
import { inkOf } from "./formula";
import { lowered } from "./lowered";
import { type Phase, still } from "./motion";
import type { Bars, Blocks, CellOf, Dot, Piece, Strip, Strips } from "./pieces";
import { short } from "./pieces";
import { sizeOf, tint } from "./tint";
import { KeptView, SharingView, TurnView } from "./turning";

/** The cell; it moves when it becomes another one, never when the page opens. */
export function CellView({ cell, name }: { cell: CellOf; name: string }) {
  const tell = useSay();
  const shown = useRef(name);
  const [run, play] = useState(0);
  useEffect(() => {
    if (shown.current !== name) play((n) => n + 1);
    shown.current = name;
  }, [name]);
  if (still())
    return (
      <div class="cell" data-cell={cell.kind}>
        {(["before", "after"] as const).map((phase) => (
          <figure key={phase} class="still" data-frame={phase}>
            <figcaption>{tell(`walk_${phase}`)}</figcaption>
            <Frame cell={cell} phase={phase} />
          </figure>
        ))}
        <Written pieces={cell.written} tell={tell} />
      </div>
    );
  return (
    <div class={run ? "cell moving" : "cell"} data-cell={cell.kind} key={run}>
      <Frame cell={cell} phase="after" />
      <Written pieces={cell.written} tell={tell} />
      <button type="button" class="plain again" data-go="again" onClick={() => play((n) => n + 1)}>
        ↻ {tell("walk_play")}
      </button>
    </div>
  );
}

function Frame({ cell, phase }: { cell: CellOf; phase: Phase }) {
  if (cell.kind === "dot") return <DotView cell={cell} phase={phase} />;
  if (cell.kind === "strips") return <StripsView cell={cell} phase={phase} />;
  if (cell.kind === "bars") return <BarsView cell={cell} phase={phase} />;
  if (cell.kind === "turn") return <TurnView cell={cell} phase={phase} />;
  if (cell.kind === "sharing") return <SharingView cell={cell} phase={phase} />;
  if (cell.kind === "kept") return <KeptView cell={cell} phase={phase} />;
  return <BlocksView cell={cell} phase={phase} />;
}

/** The calculation: numbers in the colours of their matrices. */
function Written({ pieces, tell }: { pieces: readonly Piece[]; tell: Say }) {
  if (!pieces.length) return null;
  return (
    <p class="written" data-written>
      {pieces.map(({ text, symbol, power }, i) =>
        symbol === "rest" ? (
          <span key={i} class="quiet">
            {` (${tell("walk_rest", { count: text.replace(/\D/g, "") })})`}
          </span>
        ) : (
          <span key={i} class={symbol ? inkOf(symbol) : ""}>
            {text}
            {power && <sup>{power}</sup>}
          </span>
        ),
      )}
    </p>
  );
}

function Cells({ strip, at, way }: { strip: Strip; at?: number; way?: string }) {
  const tell = useSay();
  const size = sizeOf(strip.values);
  return (
    <>
      <span class="strip-name">
        <b class={inkOf(strip.symbol)}>{strip.symbol === "W" ? "" : nameOf(strip.symbol)}</b>{" "}
        <bdi class={strip.symbol === "W" ? inkOf("W") : ""}>{lowered(strip.of.trim())}</bdi>
        {strip.column !== undefined && <small> {tell("walk_column", { column: strip.column })}</small>}
      </span>
      <span class={`strip ${way ?? ""}`}>
        {strip.values.map((value, i) => (
          <i key={i} class={i === at ? "lit" : ""} title={short(value)}>
            <i style={tint(value, size)} />
          </i>
        ))}
      </span>
    </>
  );
}
const nameOf = (symbol: string) => (symbol === "AV" ? "A·V" : lowered(symbol));

/** Bars up and down from a line in the middle. */
function Products({ values, at }: { values: readonly number[]; at?: number }) {
  const size = sizeOf(values);
  return (
    <span class="strip products">
      {values.map((value, i) => (
        <i key={i} class={i === at ? "lit" : ""} title={short(value)}>
          <i
            style={{
              height: `${(50 * Math.abs(value)) / size}%`,
              [value < 0 ? "top" : "bottom"]: "50%",
              background: value < 0 ? SIGNS.negative : SIGNS.positive,
            }}
          />
        </i>
      ))}
    </span>
  );
}

function DotView({ cell, phase }: { cell: Dot; phase: Phase }) {
  const tell = useSay();
  const [first, second] = cell.strips;
  return (
    <div class={`dot-product ${phase}`}>
      <Cells strip={first} way="from-left" />
      <Cells strip={second} way="from-above" />
      {phase === "after" && (
        <>
          <span class="strip-name quiet">×</span>
          <Products values={cell.products} />
          <span class="strip-name quiet">Σ</span>
          <strong class="sum" data-sum>
            {short(cell.result)}
          </strong>
        </>
      )}
      {phase === "after" && cell.left > 0 && (
        <small class="quiet undrawn">{tell("walk_undrawn", { count: cell.left })}</small>
      )}
    </div>
  );
}

function StripsView({ cell, phase }: { cell: Strips; phase: Phase }) {
  return (
    <div class={`dot-product ${phase}`}>
      {cell.strips.map((strip, i) => (
        <Cells key={i} strip={strip} at={cell.at} way={i ? "from-above" : ""} />
      ))}
      {cell.result && phase === "after" && (
        <>
          <span class="strip-name">
            <b class={inkOf(cell.result.symbol)}>= {cell.result.symbol}</b>
          </span>
          <Products values={cell.result.values} at={cell.at} />
        </>
      )}
    </div>
  );
}

function BarsView({ cell, phase }: { cell: Bars; phase: Phase }) {
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

function BlocksView({ cell, phase }: { cell: Blocks; phase: Phase }) {
  const tell = useSay();
  const size = sizeOf(cell.blocks.flatMap((block) => block.values));
  return (
    <div class={`blocks ${phase}`}>
      {cell.blocks.map((block, h) => (
        <span key={h} class={block.on ? "block on" : "block"}>
          <small>{tell("walk_head", { head: h })}</small>
          <span class="strip">
            {block.values.map((value, i) => (
              <i key={i} title={short(value)}>
                <i style={tint(value, size)} />
              </i>
            ))}
          </span>
        </span>
      ))}
    </div>
  );
}
