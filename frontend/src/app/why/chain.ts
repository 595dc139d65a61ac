// Lines back through the layers: each look that was asked about, and the earlier heads that led to it.

import { type Look, sameLook } from "../../state/edges";
import { lookName } from "../address";
import type { Why, WhySide } from "../records";

/** A look in the drawing. */
export interface Line extends Look {
  share: number | null; // attention of the first, else what it adds to the score it leads to; null until it is known
  of: number | null; // all that this score has above the mean of its row, where that is known
  into: number | null; // the line it leads to
  side: "key" | "query" | null; // at which of that line's ends
  asked: boolean;
}

/** The lines of looks that were asked about, in order; answers that are not here yet add nothing. */
export function linesOf(asked: readonly Look[], answers: ReadonlyMap<string, Why>): Line[] {
  const lines: Line[] = [];
  for (const look of asked) {
    const answer = answers.get(lookName(look));
    let at = lines.findIndex((line) => sameLook(line, look));
    if (at < 0) {
      const led = leading(look, lines, answers);
      const { kind, layer, head, query, key } = look;
      const share = led ? led.share : (answer?.weight ?? null);
      at =
        lines.push({
          ...{ kind, layer, head, query, key },
          ...{ of: null, into: null, side: null },
          ...led,
          ...{ share, asked: true },
        }) - 1;
    }
    lines[at].asked = true;
    if (answer) follow(lines, at, answer);
  }
  return lines;
}

/** Put in the heads that led to a line. */
function follow(lines: Line[], at: number, { chain, centred }: Why): void {
  const places = [at]; // of the chain's lines among all
  chain.slice(1).forEach(({ kind, layer, head, query, key, share, into = 0, side = "key" }) => {
    const look = { kind, layer, head, query, key };
    const known = lines.findIndex((line) => sameLook(line, look));
    const to = places[into] ?? at;
    const of = to === at ? centred : null;
    places.push(known >= 0 ? known : lines.push({ ...look, share, of, into: to, side, asked: false }) - 1);
  });
}

/** The line that a look leads to, where its head is among the parts of what was asked. */
function leading(
  look: Look,
  lines: readonly Line[],
  answers: ReadonlyMap<string, Why>,
): Pick<Line, "into" | "side" | "share" | "of"> | null {
  for (const [into, line] of lines.entries()) {
    const answer = answers.get(lookName(line));
    if (!answer) continue;
    for (const side of ["key", "query"] as const) {
      const share = shareOf(answer[side], look);
      if (share !== null) return { into, side, share, of: answer.centred };
    }
  }
  return null;
}

function shareOf({ position, components }: WhySide, look: Look): number | null {
  const found = components.find(
    ({ kind, attention, layer, head, sources }) =>
      kind === "head" &&
      attention === look.kind &&
      layer === look.layer &&
      head === look.head &&
      position === look.query &&
      sources.some((source) => source.position === look.key),
  );
  return found?.centred ?? null;
}

/** What is asked after one more look: it goes on from a line that is there, or begins anew. */
export function askedAfter(
  asked: readonly Look[],
  look: Look,
  answers: ReadonlyMap<string, Why>,
): readonly Look[] {
  if (asked.some((one) => sameLook(one, look))) return asked;
  const lines = linesOf(asked, answers);
  const goesOn = lines.some((line) => sameLook(line, look)) || leading(look, lines, answers) !== null;
  return goesOn ? [...asked, look] : [look];
}
