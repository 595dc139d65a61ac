// What the roll-out says in sentences: how much of a token is a resting place, and which others stand out in it.

import { sayIn } from "../../frame/context";
import { figure, percent } from "../../marks/scales";
import type { Store } from "../../state/store";
import { quoted } from "../../words/quoted";
import { againstEven, LITTLE, restingEvenly, restingTokens, type Shares, shareText } from "./shares";
import { mixedOf, type Steps } from "./steps";

/** A token as a sentence has it: without the sign of the space before it, or of the word it goes on with. */
export const plain = (text: string): string => text.replace(/^(␣+|##)(?=.)/, "");

/** What the roll-out finds: how much of a token stays itself, and how much rests; null where nothing can be said. */
export function findingOf(store: Store, shares: Shares, steps: Steps): string | null {
  const tell = sayIn(store);
  const { axis, position, layers, left, rests } = shares;
  const [first] = mixedOf(steps, position, rests);
  const said = {
    word: quoted(plain(axis.names[position])),
    count: layers,
    share: percent(1 - left),
    places: restingPlaces(store, shares),
    first: shareText(first.itself),
    own: shareText(shares.values[position]),
  };
  if (left < LITTLE) return tell("rolloutAllRests", said);
  if (rests(position)) return said.places ? tell("rolloutFindingRests", said) : null;
  if (first.layers !== 1 || layers < 2) return said.places ? tell("rolloutFindingRests", said) : null;
  return tell(said.places ? "rolloutFinding" : "rolloutFindingOwn", said);
}

/** The other token that is there most beyond an even share, in a sentence; null where none is, or nobody knows. */
export function mostOf(store: Store, shares: Shares): string | null {
  const first = againstEven(shares).find(({ p, times }) => p !== shares.position && times > 1);
  if (!first) return null;
  const { p, times } = first;
  return sayIn(store)("rolloutMost", {
    token: quoted(plain(shares.axis.names[p])),
    share: shareText(shares.values[p]),
    times: figure(times, 2),
  });
}

/** The places where heads rest, by name. */
export function restingPlaces(store: Store, shares: Shares): string {
  const { labels, special } = shares.axis;
  const names = restingTokens(shares).map((p) => (special[p] ? labels[p] : quoted(plain(labels[p]))));
  return names.join(sayIn(store)("rolloutPlaces"));
}

/** Where the heads rest, in a sentence; null where they cannot. */
export function restingText(store: Store, shares: Shares): string | null {
  const places = restingPlaces(store, shares);
  if (!places) return null;
  const tell = sayIn(store);
  const said = { places, share: percent(1 - shares.left), words: 100 - percent(1 - shares.left) };
  const even = restingEvenly(shares);
  return even === null ? tell("rolloutRests", said) : tell("rolloutRestsEven", { ...said, even });
}
