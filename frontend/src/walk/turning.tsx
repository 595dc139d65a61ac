// Cells of decoders: an arrow that turns with its position, heads that share keys, and what is kept of earlier tokens.

import { useSay } from "../frame/context";
import { inkOf } from "./formula";
import type { Phase } from "./motion";
import { type Arrow, type Kept, type Sharing, short, type Turn } from "./pieces";
import { sizeOf, tint } from "./tint";

const SIZE = 132; // of a dial
const REACH = 54; // of the longest arrow

export function TurnView({ cell, phase }: { cell: Turn; phase: Phase }) {
  return (
    <div class={`dials ${phase}`}>
      {cell.arrows.map((arrow, i) => (
        <Dial key={i} arrow={arrow} phase={phase} />
      ))}
    </div>
  );
}

/** A pair of numbers as an arrow: where it pointed, and where it points when it has been turned. */
function Dial({ arrow, phase }: { arrow: Arrow; phase: Phase }) {
  const { from, to, angle } = arrow;
  const scale = REACH / Math.max(1e-12, Math.hypot(...from), Math.hypot(...to));
  const end = ([a, b]: [number, number]) => ({ x2: a * scale, y2: -b * scale }); // up is positive
  const ink = inkOf(arrow.symbol);
  return (
    <figure class="dial" data-angle={angle}>
      <svg
        viewBox={`${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`}
        width={SIZE}
        height={SIZE}
        aria-hidden="true"
      >
        <circle r={REACH} class="rim" />
        <line x1={-REACH} x2={REACH} y1="0" y2="0" class="rim" />
        <line y1={-REACH} y2={REACH} x1="0" x2="0" class="rim" />
        <line x1="0" y1="0" {...end(from)} class={phase === "after" ? `${ink} ghost` : ink} />
        {phase === "after" && (
          <line
            x1="0"
            y1="0"
            {...end(to)}
            class={`${ink} turned`}
            style={{ "--back": `${(angle * 180) / Math.PI}deg` }}
          />
        )}
      </svg>
      <figcaption>
        <b class={ink}>{arrow.symbol}</b> <bdi>{arrow.of.trim()}</bdi>{" "}
        <span class="quiet">
          ({short(from[0])}, {short(from[1])}){phase === "after" && ` → (${short(to[0])}, ${short(to[1])})`}
        </span>
      </figcaption>
    </figure>
  );
}

export function SharingView({ cell, phase }: { cell: Sharing; phase: Phase }) {
  const tell = useSay();
  return (
    <div class={`blocks ${phase}`}>
      {cell.groups.map((heads, g) => (
        <span key={g} class={heads.some(({ on }) => on) ? "block on" : "block"} data-group={g}>
          <small class="ink-K">{tell("walk_keyHead", { head: g })}</small>
          <small>
            {heads.map(({ head, on }) => (
              <span key={head} class={on ? "sharer on" : "sharer"}>
                {tell("walk_head", { head })}
              </span>
            ))}
          </small>
        </span>
      ))}
    </div>
  );
}

/** Rows of earlier tokens as they were; the new one brings a q, a k and a v. */
export function KeptView({ cell, phase }: { cell: Kept; phase: Phase }) {
  const tell = useSay();
  const size = sizeOf(cell.lines.flatMap(({ q, k, v }) => [...(q ?? []), ...k, ...v]));
  const strip = (values: number[]) => (
    <span class="strip">
      {values.map((value, i) => (
        <i key={i} title={short(value)}>
          <i style={tint(value, size)} />
        </i>
      ))}
    </span>
  );
  const lines = phase === "before" ? cell.lines.slice(0, -1) : cell.lines;
  return (
    <table class={`kept ${phase}`} data-table="cache">
      <thead>
        <tr>
          <td />
          {["Q", "K", "V"].map((name) => (
            <th key={name} scope="col" class={inkOf(name)}>
              {name}
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {cell.left > 0 && (
          <tr>
            <td colSpan={5} class="quiet">
              {tell("walk_earlier", { count: cell.left })}
            </td>
          </tr>
        )}
        {lines.map(({ name, q, k, v }, i) => (
          <tr key={i} class={q ? "on" : ""}>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>{q && strip(q)}</td>
            <td>{strip(k)}</td>
            <td>{strip(v)}</td>
            <td class="quiet">{tell(q ? "walk_new" : "walk_kept")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
