// How a token fills up with others: after each layer, how much of it is itself, other tokens, and resting places.

import { useSay, useStore } from "../../frame/context";
import { inWholes } from "../../marks/scales";
import { quoted } from "../../words/quoted";
import { plain, restingPlaces } from "./said";
import { type Shares, shareText } from "./shares";
import { type Mixture, mixedOf, type Steps } from "./steps";

const PARTS = ["itself", "others", "rests"] as const;
type Part = (typeof PARTS)[number];
const ROOM = 0.08; // a part of a bar that has room for its number

export function Mixing({ shares, steps }: { shares: Shares; steps: Steps }) {
  const store = useStore();
  const tell = useSay();
  const { axis, position, rests } = shares;
  const rows = mixedOf(steps, position, rests);
  const told = PARTS.filter((part) => rows.some((row) => row[part] > 0));
  const word = quoted(plain(axis.names[position]));
  const labels: Record<Part, string> = {
    itself: tell("rolloutStays", { word }),
    others: tell("rolloutOthers"),
    rests: restingPlaces(store, shares),
  };
  return (
    <figure class="mixing">
      <figcaption>
        <h3>{tell("rolloutMixing", { word })}</h3>
        <p class="key">
          {told.map((part) => (
            <span key={part} data-part={part}>
              {labels[part]}
            </span>
          ))}
        </p>
      </figcaption>
      <ol style={{ "--rows": rows.length }}>
        {rows.map((row) => (
          <Row key={row.layers} row={row} parts={told} />
        ))}
      </ol>
    </figure>
  );
}

/** One bar; a number that its first part has no room for stands before it. */
function Row({ row, parts }: { row: Mixture; parts: Part[] }) {
  const tell = useSay();
  const [first] = parts;
  const wholes = inWholes(parts.map((part) => row[part]));
  return (
    <li data-layers={row.layers}>
      <span class="after">{tell("rolloutAfter", { count: row.layers })}</span>
      <span class="small">{row[first] < ROOM && shareText(row[first])}</span>
      <span class="mix">
        {parts.map((part, i) => (
          <i key={part} data-part={part} style={{ width: `${(100 * row[part]).toFixed(2)}%` }}>
            {row[part] >= ROOM && `${wholes[i]}%`}
          </i>
        ))}
      </span>
    </li>
  );
}
