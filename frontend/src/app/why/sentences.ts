// What an answer says in words.

import { bare, numbered } from "../../compute/axis";
import type { Say } from "../../frame/context";
import { isKey, type Key } from "../../words";
import type { Why, WhyComponent, WhySide } from "../records";

const DECIDES = 0.3; // of what is to be explained: with less, no part is the reason

/** The same with its position. */
export const placed = (token: string, position: number): string => numbered(bare(token), position);

/** What a part is called. */
export function partName({ kind, name }: Pick<WhyComponent, "kind" | "name">, tell: Say): string {
  const key = `why_${kind}`;
  return isKey(key) ? tell(key) : name;
}

/** The largest part that speaks for the look; null where none does. */
const reasonOf = ({ components }: WhySide): WhyComponent | null => {
  const best = components.reduce<WhyComponent | null>(
    (top, one) => (one.centred > (top?.centred ?? 0) ? one : top),
    null,
  );
  return best;
};

/** Why the head looks there, in one sentence. */
export function reason(found: Why, tell: Say): string {
  const { head, query, key, centred } = found;
  const values = {
    head: head.name,
    query: placed(query.token, query.position),
    key: placed(key.token, key.position),
  };
  const best = reasonOf(key);
  if (found.visible === 1) return tell("whyAlone", values);
  if (centred <= 0 || !best) return tell("whyBelow", values);
  const cause = partName(best, tell);
  const [source] = best.sources;
  const told = { ...values, cause, source: source ? placed(source.token, source.position) : "" };
  if (best.centred < DECIDES * centred) return tell("whyMany", told);
  return tell(isInduction(found) ? "whyInduction" : sentenceFor(best, key), told);
}

/** Whether the key was found by what stood before it, and that is the query's own token. */
export function isInduction({ query, key, centred }: Why): boolean {
  const best = reasonOf(key);
  const source = best?.sources[0];
  if (centred <= 0 || best?.kind !== "head" || !source || best.centred < DECIDES * centred) return false;
  return isBefore(source, key.position) && bare(source.token) === bare(query.token);
}

function sentenceFor({ kind, sources: [source] }: WhyComponent, { position }: WhySide): Key {
  if (kind === "word") return "whyWord";
  if (kind === "segment") return "whySegment";
  if (kind === "position" || kind === "bias") return "whyPlace";
  if (kind !== "head" || !source || source.position === position) return "whyMade";
  return isBefore(source, position) ? "whyBefore" : "whyBrought";
}

const MARKS = /^(\[.+\]|<.+>)$/; // [CLS], <s>: they stand for no word

/** Whether a token is the one before a position, and a part of the text. */
const isBefore = (source: { token: string; position: number }, position: number): boolean =>
  source.position === position - 1 && !MARKS.test(source.token.trim());

/** What the largest head brought to an end of the look; "" where it is none. */
export function brought(side: WhySide, tell: Say): string {
  const best = reasonOf(side);
  const source = best?.sources[0];
  if (best?.kind !== "head" || !source || source.position === side.position) return "";
  const values = {
    cause: best.name,
    source: placed(source.token, source.position),
    key: placed(side.token, side.position),
  };
  return isBefore(source, side.position)
    ? tell("whyCarries", values)
    : tell("whyBroughtHere", { cause: values.cause, source: values.source });
}
