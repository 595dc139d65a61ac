// What the roll-out says in sentences: how much of a token is a resting place, and which others stand out in it.

import { sayIn } from "../../frame/context";
import { figure, percent } from "../../marks/scales";
import type { Store } from "../../state/store";
import { quoted } from "../../words/quoted";
import { againstEven, LITTLE, restingEvenly, restingTokens, type Shares, shareText } from "./shares";

/** A token as a sentence has it: without the sign of the space before it, or of the word it goes on with. */
export const plain = (text: string): string => text.replace(/^(␣+|##)(?=.)/, "");

/** What the roll-out finds: how much rests, and which tokens stand out in what is left; null where nothing can be said. */
export function findingOf(store: Store, shares: Shares): string | null {
  const tell = sayIn(store);
  const { axis, position, layers, left } = shares;
  const said = {
    word: quoted(plain(axis.names[position])),
    count: layers,
    share: percent(1 - left),
    places: restingPlaces(store, shares),
  };
  if (left < LITTLE) return tell("rolloutAllRests", said);
  const most = mostOf(store, shares);
  if (!said.places) return most && tell("rolloutFindingAll", { ...said, most });
  return most ? tell("rolloutFinding", { ...said, most }) : tell("rolloutFindingRests", said);
}

/** The token that is there most beyond an even share: how much, and how many times that; null where that is not known. */
function mostOf(store: Store, shares: Shares): string | null {
  const tell = sayIn(store);
  const [first] = againstEven(shares).filter(({ times }) => times > 1);
  if (!first) return null;
  const { p, times } = first;
  const token = quoted(plain(shares.axis.names[p]));
  return tell("rolloutMost", {
    token: p === shares.position ? tell("rolloutItself", { token }) : token,
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
