"""What a head may do: each pattern as target keys for every query, and when it cannot be asked.

Enters: words, sentences and delimiters of a text (`context`). Leaves: `PATTERNS`, a list that the rest loops over.
One file and long: the list, the targets of its patterns and when each can be asked are read together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.measures.awake import resting_keys
from regard.measures.bag import own_targets
from regard.measures.causal import duplicate_targets, induction_targets
from regard.measures.offset import gaps, near_targets
from regard.measures.patches import border_places, centre_places, column_targets, neighbour_targets, row_targets
from regard.measures.places import place_targets
from regard.measures.predictive import predictive_targets
from regard.measures.words import piece_targets, related_targets, word_targets
from regard.patterns.entries import PHRASES
from regard.trace.places import Array, MapContext, Places
from regard.trace.tokens import UNASKED

USUAL = 0.3  # lift from which a head is named for a pattern; heads of untrained models stay below 0.1
NEAR = 5  # tokens that are near
PUNCTUATED = 0.4  # the same for punctuation, a second place to rest: most of the awake attention

Targets = tuple[Array, Array | None]  # (rows, keys) target keys, and (rows,) which rows may count


@dataclass(frozen=True)
class Part:
    """A run of query rows and all keys, from which tables of targets are made; of one input, or of a padded batch.

    Of a batch all arrays have an axis of inputs in front, those of the context too.
    """

    context: MapContext
    queries: Places
    start: int
    visible: Array  # (rows, keys)

    @property
    def keys(self) -> Places:
        return self.context.keys

    @cached_property
    def gap(self) -> Array:
        """(rows, keys) key - query."""
        return np.asarray(gaps(self.visible, start=self.start))

    @cached_property
    def own(self) -> Array:
        """(rows, keys) ordinary tokens of the query's own sentence."""
        return np.asarray(own_targets(self.queries.segments, self.keys.segments, self.keys.content))

    @cached_property
    def rests(self) -> Array:
        """(rows, keys) where attention goes that has nothing to do."""
        return np.asarray(resting_keys(self.visible, ~self.keys.content, causal=self.context.causal))

    @cached_property
    def free(self) -> Array:
        """(rows, keys) the visible keys that are no resting places."""
        return np.asarray(self.visible & ~self.rests)


@dataclass(frozen=True)
class Pattern:
    """Something a head may do: its name (in patterns.json), its target keys, and when it cannot be asked."""

    name: str
    choose: Callable[[Part], Targets]
    missing: Callable[[MapContext], str]  # the code of a reason (trace/sentences.json), or nothing
    none: str  # the same for why no row counted, where none did
    threshold: float | None = USUAL  # lift from which a head is named for it; None for numbers beside a pattern
    rests: bool = False  # whether its targets are resting places; no other pattern has one among its targets
    words: bool = False  # whether its targets are words of some kind, the same for every query

    def targets(self, part: Part) -> tuple[Array, Array]:
        """(rows, keys) target keys among the visible ones, and (rows,) which rows may count."""
        found, rows = self.choose(part)
        found = found & (part.visible if self.rests else part.free)
        return found, np.ones(found.shape[:-1], bool) if rows is None else rows

    @property
    def phrase(self) -> str:
        """What a head does, in a sentence."""
        return PHRASES[self.name]


def _neighbours(nearest: int, farthest: int) -> Callable[[Part], Targets]:
    def targets(part: Part) -> Targets:
        found = near_targets(part.gap, nearest, farthest, within=part.own)
        return found, part.queries.content

    return targets


def _itself(part: Part) -> Targets:
    return near_targets(part.gap, 0, 0), part.queries.content


def _places(choose: Callable[[Places], Array]) -> Callable[[Part], Targets]:
    def targets(part: Part) -> Targets:
        return place_targets(part.visible, choose(part.keys)), part.queries.content

    return targets


def _same(queries: Array, keys: Array) -> Array:
    """(..., rows, keys) whether a query and a key have the same number."""
    return np.asarray(queries[..., :, None] == keys[..., None, :])


def _across(part: Part) -> Array:
    """(..., rows, keys) whether a query and a key are in different sentences."""
    return ~_same(part.queries.segments, part.keys.segments)


def _same_word(part: Part) -> Targets:
    same = word_targets(part.queries.words, part.keys.words)
    if not part.context.same:
        return same, None
    apart = ~_same(part.queries.pieces, part.keys.pieces)
    return same, (same & apart).any(axis=-1)  # a second occurrence, not a second piece of this one


def _same_word_elsewhere(part: Part) -> Targets:
    here = _same(part.queries.pieces, part.keys.pieces) if part.context.same else None
    return word_targets(part.queries.words, part.keys.words, itself=here), None


def _same_word_across(part: Part) -> Targets:
    return word_targets(part.queries.words, part.keys.words) & _across(part), None


def _related_word(part: Part) -> Targets:
    assert part.context.related is not None
    return related_targets(part.queries.words, part.keys.words, part.context.related), None


def _related_word_across(part: Part) -> Targets:
    return _related_word(part)[0] & _across(part), None


def _pieces(part: Part) -> Targets:
    return piece_targets(part.queries.pieces, part.keys.pieces, start=part.start), part.queries.words >= 0


def _repeated_token(part: Part) -> Targets:
    return duplicate_targets(part.queries.ids, part.keys.ids, start=part.start), None


def _induction(part: Part) -> Targets:
    return induction_targets(part.queries.ids, part.keys.ids, start=part.start), None


def _predictive(part: Part) -> Targets:
    gains = part.context.gains
    assert gains is not None
    here = gains[part.start : part.start + len(part.visible)]
    return predictive_targets(here, part.free), part.queries.content


def _first(part: Part) -> Targets:
    return place_targets(part.visible, np.arange(part.visible.shape[-1]) == 0), part.queries.content


def _patches(choose: Callable[[Array, Array], Array]) -> Callable[[Part], Targets]:
    """Targets that are chosen by where patches lie in their picture."""

    def targets(part: Part) -> Targets:
        return choose(part.queries.spans, part.keys.spans), np.isfinite(part.queries.spans[..., 0])

    return targets


def _any_delimiter(places: Places) -> Array:
    return places.first | places.later


def _needs(*conditions: Callable[[MapContext], str]) -> Callable[[MapContext], str]:
    """The code of the first reason that applies."""

    def missing(context: MapContext) -> str:
        for condition in conditions:  # of every pattern and input of a corpus: a generator would take twice as long
            if reason := condition(context):
                return reason
        return ""

    return missing


def _text(context: MapContext) -> str:
    return context.no_text or _ordinary(context)


def _ordinary(context: MapContext) -> str:
    return "" if context.ordinary else "specials_only"


def _picture(context: MapContext) -> str:
    return "" if context.pictured else NO_PICTURE


def _one_text(context: MapContext) -> str:
    return "" if context.same else "two_texts"


def _both_ways(context: MapContext) -> str:
    return "unseen_next" if context.causal else ""


def _causal(context: MapContext) -> str:
    return "" if context.causal else "causal_only"


def _not_causal(context: MapContext) -> str:
    return "repeated_instead" if context.causal else ""


def _two_sentences(context: MapContext) -> str:
    return "" if context.sentences >= 2 else "one_sentence"


def _embedded(context: MapContext) -> str:
    known = context.related is not None
    return "" if known else "unrelated"


def _predicted(context: MapContext) -> str:
    return context.no_gains


def _free(context: MapContext) -> str:
    if context.causal:
        return "unseen_sentence"
    return ""


def _delimiters(context: MapContext) -> str:
    if context.causal:
        return "" if context.keys.later.any() else "no_later_special"
    return "" if _any_delimiter(context.keys).any() else "no_specials"


def _opening(context: MapContext) -> str:
    return "" if context.keys.first.any() else "no_opening"


def _closing(context: MapContext) -> str:
    return "" if context.keys.later.any() else "no_closing"


def _punctuated(context: MapContext) -> str:
    return "" if context.keys.punctuation.any() else "no_punctuation"


def _some(choose: Callable[[Places], Array], otherwise: str) -> Callable[[MapContext], str]:
    """Whether the keys have a word of some kind."""
    return lambda context: "" if choose(context.keys).any() else otherwise


def _delimiter(part: Part) -> Targets:
    chosen = part.keys.later if part.context.causal else _any_delimiter(part.keys)
    return place_targets(part.visible, chosen), part.queries.content


def _next_patch(name: str, across: int, down: int) -> Pattern:
    """The pattern of the patch next to each one."""
    choose = _patches(lambda queries, keys: neighbour_targets(queries, keys, across, down))
    later = (_both_ways,) if across + down > 0 else ()
    return Pattern(name, choose, _needs(_picture, _one_text, *later), _FEW_PATCHES)


def _words_of(name: str, choose: Callable[[Places], Array], otherwise: str) -> Pattern:
    """The pattern of words of some kind, wherever they stand."""
    return Pattern(name, _places(choose), _needs(_text, _one_text, _some(choose, otherwise)), otherwise, words=True)


# Kinds of words: which they are, and the code of the reason why there are none.
WORDS: dict[str, tuple[Callable[[Places], Array], str]] = {
    "frequent words": (lambda p: p.common, "no_common"),
    "capitalised words": (lambda p: p.capitalised, "no_capitals"),
    "numbers": (lambda p: p.numbers, "no_numbers"),
    "later pieces of words": (lambda p: p.later_pieces, "no_pieces"),
}
_SHORT = "short"
NO_PICTURE = "no_picture"
_FEW_PATCHES = "few_patches"
# Codes that say nothing of a text: what a model of the other type is asked, and what is asked on request.
OBVIOUS = frozenset({"causal_only", "repeated_instead", NO_PICTURE, UNASKED})

PATTERNS = (
    Pattern(
        "previous token",
        _neighbours(-1, -1),
        _needs(_text, _one_text),
        "no_earlier",
    ),
    Pattern(
        "next token",
        _neighbours(1, 1),
        _needs(_text, _one_text, _both_ways),
        "no_later",
    ),
    Pattern("tokens just before", _neighbours(-NEAR, -1), _needs(_text, _one_text), "no_earlier"),
    Pattern("tokens just after", _neighbours(1, NEAR), _needs(_text, _one_text, _both_ways), "no_later"),
    Pattern("itself", _itself, _needs(_ordinary, _one_text), _SHORT),
    Pattern(
        "same word",
        _same_word,
        _needs(_text, _not_causal),
        "no_repeat",
    ),
    Pattern(
        "same word, elsewhere",
        _same_word_elsewhere,
        _needs(_text, _not_causal),
        "no_repeat",
        threshold=None,
    ),
    Pattern(
        "same word in the other sentence",
        _same_word_across,
        _needs(_text, _one_text, _two_sentences),
        "no_shared",
    ),
    Pattern(
        "related word",
        _related_word,
        _needs(_text, _one_text, _embedded),
        "no_related",
    ),
    Pattern(
        "related word in the other sentence",
        _related_word_across,
        _needs(_text, _one_text, _two_sentences, _embedded),
        "no_related_across",
    ),
    Pattern(
        "other pieces of the word",
        _pieces,
        _needs(_text, _one_text),
        "no_pieces",
    ),
    Pattern("delimiter", _delimiter, _needs(_ordinary, _delimiters), _SHORT, None, rests=True),
    Pattern(
        "[CLS]",
        _places(lambda p: p.first),
        _needs(_ordinary, _opening),
        _SHORT,
        None,
        rests=True,
    ),
    Pattern(
        "[SEP]",
        _places(lambda p: p.later),
        _needs(_ordinary, _closing),
        _SHORT,
        None,
        rests=True,
    ),
    Pattern(
        "punctuation",
        _places(lambda p: p.punctuation),
        _needs(_text, _punctuated),
        "all_punctuation",
        PUNCTUATED,
    ),
    *(_words_of(name, choose, otherwise) for name, (choose, otherwise) in WORDS.items()),
    Pattern(
        "first token (sink)",
        _first,
        _needs(_ordinary, _one_text, _causal),
        _SHORT,
        None,
        rests=True,
    ),
    Pattern(
        "repeated token",
        _repeated_token,
        _needs(_text, _one_text, _causal),
        "no_second",
    ),
    Pattern(
        "induction",
        _induction,
        _needs(_text, _one_text, _causal),
        "no_between",
    ),
    _next_patch("patch to the left", -1, 0),
    _next_patch("patch to the right", 1, 0),
    _next_patch("patch above", 0, -1),
    _next_patch("patch below", 0, 1),
    Pattern("same row", _patches(row_targets), _needs(_picture, _one_text), _FEW_PATCHES),
    Pattern("same column", _patches(column_targets), _needs(_picture, _one_text), _FEW_PATCHES),
    Pattern(
        "centre of the picture",
        _places(lambda p: centre_places(p.spans)),
        _needs(_ordinary, _picture),
        _FEW_PATCHES,
    ),
    Pattern(
        "border of the picture",
        _places(lambda p: border_places(p.spans)),
        _needs(_ordinary, _picture),
        _FEW_PATCHES,
    ),
)
# Asked of a trace that has gains, which take a run of the model per token: not of a whole corpus.
PREDICTIVE = Pattern("predictive word", _predictive, _needs(_text, _one_text, _predicted), "none_predicts")
OF_TRACES = (*PATTERNS, PREDICTIVE)
BAG = "bag of words"
bag_missing = _needs(_text, _one_text, _free, _two_sentences)
STRIPES = "fixed words"
ALWAYS = "always rests"
THRESHOLDS = {pattern.name: pattern.threshold for pattern in OF_TRACES if pattern.threshold is not None} | {BAG: USUAL}
NAMES = (*THRESHOLDS, STRIPES, ALWAYS)
