"""What a portrait says of a head, in sentences.

Enters: the sums of a corpus and the description of a head. Leaves: sentences, with where it rests and what it does when
awake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import between
from regard.patterns.definitions import ALWAYS, STRIPES
from regard.patterns.entries import DOES
from regard.studies.heads.describing import BY_DISTANCE, BY_TOKEN, Description, Place
from regard.studies.heads.distances import DISTANCES
from regard.trace.lettering import readable

if TYPE_CHECKING:
    from regard.models.model import Model

OTHERS = "all others"
_FEW = 5  # tokens that a sentence names
_HALF = 0.5


@dataclass(frozen=True)
class Rest:
    """How much of a head's attention rests, by weights and by what arrives, and on which token most of it does."""

    share: float
    arriving: float
    on: str


class CountedTokens:
    """The counted tokens of a corpus, as they are shown."""

    def __init__(self, model: Model, ids: list[int]) -> None:
        texts = [model.tokenizer.decode([token]) for token in ids]
        special = set(model.tokenizer.all_special_ids)
        self.names = [readable(text) or "·" for text in texts] + [OTHERS]
        self.special = np.array([token in special for token in ids] + [False])

    def top(self, values: Array, count: int) -> list[int]:
        """Places of the tokens with the largest values (V,), all others apart."""
        order = np.argsort(-values[:-1], kind="stable")[:count]
        return [int(place) for place in order if values[place] > 0]


def rest_of(sums: Sums, place: Place, tokens: CountedTokens) -> Rest:
    """Where a head rests."""
    kind, layer, head = place
    where = f"{kind}/{layer}"
    share, arriving = (
        1 - float(ratio(sums.whole(f"{where}/{by}_level")[head], sums.whole(f"{where}/{by}_level_rows")))
        if f"{where}/{by}_level" in sums
        else float("nan")
        for by in ("weights", "contributions")
    )
    rested = sums[f"{where}/rested_on"][:, head]
    top = tokens.top(rested, 1)
    named = bool(top) and bool(tokens.special[top[0]]) and rested[top[0]] >= _HALF * rested.sum()
    on = tokens.names[top[0]] if named else "the first token" if kind == "decoder" else "special tokens"
    return Rest(share, arriving, on)


def looked_at(sums: Sums, place: Place, tokens: CountedTokens, count: int = _FEW) -> list[str]:
    """Tokens that a head looks at more than even attention would, the largest part of it first."""
    kind, layer, head = place
    where = f"{kind}/{layer}"
    above = (sums[f"{where}/looked_at"] - sums[f"{where}/looked_at_chance"])[..., head].sum(axis=0)
    names = dict.fromkeys(tokens.names[n] for n in tokens.top(above, 2 * count))  # with and without a space: one word
    return list(names)[:count]


def reach(sums: Sums, place: Place) -> tuple[int, int]:
    """The shortest run of distances with half of what a head looks beyond even attention."""
    kind, layer, head = place
    above = np.maximum(sums[f"{kind}/{layer}/distance"][:, head].sum(axis=0), 0)
    whole = above.sum()
    runs = [
        (stop - start, start)
        for start in range(len(above))
        for stop in range(start, len(above))
        if above[start : stop + 1].sum() >= _HALF * whole
    ]
    length, start = min(runs)
    return DISTANCES[start], DISTANCES[start + length]


def reach_in_words(nearest: int, farthest: int) -> str:
    """A run of distances in words."""
    low, high = nearest, farthest
    if low == high == 0:
        return "at the token itself"
    if high <= 0 or low >= 0:
        direction = "back" if high <= 0 else "ahead"
        ends = sorted((abs(low), abs(high)))
        if ends[0] == ends[1]:
            return f"{_count(ends[0])} {direction}"
        first = "from the token itself to" if ends[0] == 0 else f"{ends[0]} to"
        return f"{first} {_count(ends[1])} {direction}"
    return f"from {_count(-low)} back to {_count(high)} ahead"


def _count(distance: int) -> str:
    if distance > DISTANCES[-1] - 1:
        return f"more than {DISTANCES[-1] - 1} tokens"
    return "one token" if distance == 1 else f"{distance} tokens"


def sentence(description: Description, rest: Rest, sums: Sums, place: Place, tokens: CountedTokens) -> str:
    """What a head does: where it rests, and what the rest of its attention does, if that is known."""
    if description.name == ALWAYS:
        return f"Always rests: {rest.share:.2f} of its attention is on {rest.on}."
    rests = resting(rest)
    if not description.verified:
        return f"{rests}; no description of the rest holds on new text. {_most(sums, place, tokens)}."
    told = awake(description, sums, place, tokens)
    return f"{rests}; awake, it {told[:1].lower()}{told[1:]}."


def resting(rest: Rest) -> str:
    """Where a head rests, and for how much of its attention."""
    return f"Rests on {rest.on} for {rest.share:.2f} of its attention"


def awake(description: Description, sums: Sums, place: Place, tokens: CountedTokens) -> str:
    """What a head does, as the heading of its page: its description, or that none holds."""
    if description.name == ALWAYS:
        return "Always rests"
    if not description.verified:
        most = _most(sums, place, tokens)
        return f"No description holds on new text ({most[:1].lower()}{most[1:]})"
    told = does(description, sums, place, tokens)
    return f"{told[:1].upper()}{told[1:]}"


def _most(sums: Sums, place: Place, tokens: CountedTokens) -> str:
    """Of a head that nothing describes: the tokens that it looks at most beyond chance."""
    return f"Most above chance: {_listed(looked_at(sums, place, tokens, 3))}"


def does(description: Description, sums: Sums, place: Place, tokens: CountedTokens) -> str:
    """What a head does when awake, after "it"."""
    few = _listed(looked_at(sums, place, tokens))
    if description.name == BY_DISTANCE:
        return f"looks mostly {reach_in_words(*reach(sums, place))}"
    if description.name == BY_TOKEN:
        return f"looks at the same tokens whoever asks: {few}"
    if description.name == STRIPES:
        return f"{DOES[STRIPES]}: {few}"
    return str(DOES[description.name])


def _listed(tokens: list[str]) -> str:
    """Tokens one after the other; marks in quotes, so that they are not read as those of the sentence."""
    return ", ".join(one if any(letter.isalnum() for letter in one) else f"“{one}”" for one in tokens)


def proof(description: Description) -> str:
    """How well a description predicts a head on text that it was not chosen on."""
    if description.name == ALWAYS:
        return ""
    parts = []
    score = description.score
    if description.verified and description.name not in (BY_DISTANCE, BY_TOKEN):
        parts.append(f"this description {score.value:.2f}{between(score.low, score.high)}")
    named = {
        f"one distance ({_signed(description.offset or 0)})": description.by_offset,
        "its mean map by distance": description.by_mean,
        "the tokens it looks at": description.by_token,
    }
    parts += [f"{name} {value:.2f}" for name, value in named.items() if value == value]
    return (
        f"How well its attention is predicted on documents that were not chosen on (correlation): {', '.join(parts)}."
    )


def copying(value: float, low: float, high: float) -> str:
    """Whether a head writes the words that it reads; empty where that is not known."""
    if value != value:
        return ""
    told = "writes" if low > 0 else "suppresses" if high < 0 else "neither writes nor suppresses"
    return (
        f"Awake, it {told} the words it reads: copying {value:+.2f}{between(low, high)}, where +1 promotes the word "
        "that is read above all others, 0 leaves it in the middle, and -1 puts it below all others."
    )


def _signed(distance: int) -> str:
    return reach_in_words(distance, distance).removeprefix("at ")
