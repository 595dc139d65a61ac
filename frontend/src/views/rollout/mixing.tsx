// How a token fills up with others: after each layer, how much of it is itself, other tokens, and resting places.

import { useSay } from "../../frame/context";
import { percent } from "../../marks/scales";
import { plain, type Shares } from "./scene";
import { type Mixture, mixedOf, type Steps } from "./steps";

const PARTS = ["itself", "others", "rests"] as const;
const LABELS = { itself: "rolloutStays", others: "rolloutOthers", rests: "rolloutRestsHere" } as const;
const ROOM = 0.08; // a part of a bar that has room for its name

export function Mixing({ shares, steps }: { shares: Shares; steps: Steps }) {
  const tell = useSay();
  const { axis, position, rests } = shares;
  const rows = mixedOf(steps, position, rests);
  const told = PARTS.filter((part) => rows.some((row) => row[part] > 0));
  const word = plain(axis.names[position]);
  return (
    <figure class="mixing">
      <figcaption>
        <h3>{tell("rolloutMixing", { word })}</h3>
        <p class="key">
          {told.map((part) => (
            <span key={part} data-part={part}>
              {tell(LABELS[part])}
            </span>
          ))}
        </p>
      </figcaption>
      <ol>
        {rows.map((row) => (
          <Row key={row.layers} row={row} parts={told} />
        ))}
      </ol>
    </figure>
  );
}

function Row({ row, parts }: { row: Mixture; parts: (typeof PARTS)[number][] }) {
  const tell = useSay();
  return (
    <li data-layers={row.layers}>
      <span class="after">{tell("rolloutAfter", { count: row.layers })}</span>
      <span class="mix">
        {parts.map((part) => (
          <i key={part} data-part={part} style={{ width: `${(100 * row[part]).toFixed(2)}%` }}>
            {row[part] >= ROOM && `${percent(row[part])}%`}
          </i>
        ))}
      </span>
    </li>
  );
}
