// One cell of a step, as it comes about: a row meets a column, products drop into their sum, scores become shares.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Say, useSay } from "../frame/context";
import { SIGNS } from "../marks/scales";
import { BarsView } from "./bars";
import { inkOf } from "./formula";
import { lowered } from "./lowered";
import { type Phase, still } from "./motion";
import type { Blocks, CellOf, Dot, Piece, Strip, Strips } from "./pieces";
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
