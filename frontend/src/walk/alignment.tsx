// Cross attention at a glance: for each word about to be said, where in the source a head looks.

import { numbered } from "../compute/axis";
import type { Say } from "../frame/context";
import { useStore } from "../frame/context";
import { brief, inkOn, shades } from "../marks/scales";
import type { WalkData } from "./data";
import { attention, type WhatIf } from "./layer";
import type { Pair } from "./pair";
import { rowOf } from "./pieces";

const SEEN = 0.1; // a smaller weight is a colour without a number

interface Props {
  data: WalkData;
  head: number;
  what: WhatIf;
  pair: Pair;
  veiled: number | null; // a row that is asked about: shown once it is answered
  tell: Say;
}

export function Alignment({ data, head, what, pair, veiled, tell }: Props) {
  const { weights } = attention(data, "cross", head, what);
  const [said, source] = [namesOf(pair.queries), namesOf(pair.keys)];
  return (
    <figure class="alignment" data-alignment>
      <figcaption class="quiet">{tell("walk_alignment")}</figcaption>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">{tell("walk_afterToSay")}</th>
              {source.map((word) => (
                <th key={word} scope="col">
                  {word}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {said.map((word, row) => (
              <tr key={word} data-row={row} aria-current={row === pair.query ? "true" : undefined}>
                <th scope="row">
                  <span class="quiet">{word}</span> → {said[row + 1] ?? tell("walk_end")}
                </th>
                <Row values={rowOf(weights, row)} row={row} pair={pair} veiled={row === veiled} tell={tell} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** The weights of a row; the largest is framed, and a click on one follows that pair. What is asked about is veiled. */
function Row(props: { values: number[]; row: number; pair: Pair; veiled: boolean; tell: Say }) {
  const { values, row, pair, veiled, tell } = props;
  const colours = shades(useStore().theme.value);
  const most = values.indexOf(Math.max(...values));
  if (veiled)
    return (
      <td class="veiled" colSpan={values.length}>
        {tell("walk_hidden")}
      </td>
    );
  return (
    <>
      {values.map((value, key) => {
        const colour = colours(value);
        const name = `${pair.queries[row].trim()} → ${pair.keys[key].trim()}`;
        const choose = () => pair.choosePositions(row, key);
        return (
          <td
            key={key}
            data-most={key === most || undefined}
            style={{ background: colour, color: inkFor(colour) }}
          >
            <button type="button" aria-label={`${name} ${brief(value)}`} onClick={choose}>
              {value >= SEEN ? brief(value) : ""}
            </button>
          </td>
        );
      })}
    </>
  );
}

/** Black or white on a colour that is given by its parts. */
function inkFor(colour: string): string {
  const parts = colour.match(/\d+/g)!.map(Number);
  return inkOn(`#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`);
}

/** Words without the space before them; one that comes twice carries its position. */
function namesOf(words: readonly string[]): string[] {
  const bare = words.map((word) => word.trim() || "␣");
  return bare.map((word, i) => (bare.indexOf(word) === bare.lastIndexOf(word) ? word : numbered(word, i)));
}
