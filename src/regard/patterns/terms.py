"""What the terms of a rule mean: which keys are meant for which query.

Enters: a run of query rows and all keys (`Part`). Leaves: `Term`s, joined by and, or, not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np
import regex

from regard.base.errors import UserError
from regard.measures.causal import duplicate_targets, induction_targets
from regard.measures.words import word_targets
from regard.patterns.definitions import WORDS, Part
from regard.trace.places import Array, Grammar, MapContext, Places, spellings
from regard.trace.tokens import Side

ONE_TEXT, TREE = "one text", "tree"  # what must be known before a rule can be asked
_SLOW = 1.0  # seconds that a regular expression may take for the words of one text
_KNOWN = 1 << 16  # words whose answer is kept


@dataclass(frozen=True)
class Term:
    """A predicate on query and key: booleans that broadcast to (rows, keys), and what it needs to be asked."""

    ask: Callable[[Part], Array]
    needs: frozenset[str] = frozenset()

    def __and__(self, other: Term) -> Term:
        return Term(lambda part: self.ask(part) & other.ask(part), self.needs | other.needs)

    def __or__(self, other: Term) -> Term:
        return Term(lambda part: self.ask(part) | other.ask(part), self.needs | other.needs)

    def __invert__(self) -> Term:
        return Term(lambda part: ~self.ask(part), self.needs)


@dataclass(frozen=True, eq=False)
class End:
    """All queries, or all keys, of a map."""

    places: Places
    side: Side
    grammar: Grammar | None


Choose = Callable[[End], Array]  # (n,) booleans


def of_end(name: str, choose: Choose, *needs: str) -> Term:
    """What holds of the query alone, or of the key alone."""

    def ask(part: Part) -> Array:
        assert part.context.sides is not None  # rules are asked of text
        if name == "key":
            return choose(End(part.keys, part.context.sides[1], part.context.grammar))[None, :]
        whole = choose(End(part.context.queries, part.context.sides[0], part.context.grammar))
        return whole[part.start : part.start + len(part.visible), None]

    return Term(ask, frozenset(needs))


def _between(ask: Callable[[Part], Array], *needs: str) -> Term:
    return Term(ask, frozenset(needs))


# -- one end -----------------------------------------------------------------------------------------------------

KINDS: dict[str, Choose] = {
    "punctuation": lambda end: end.places.punctuation,
    "frequent": lambda end: WORDS["frequent words"][0](end.places),
    "common": lambda end: WORDS["frequent words"][0](end.places),  # what they were called, in rules that are saved
    "capitalised": lambda end: WORDS["capitalised words"][0](end.places),
    "number": lambda end: WORDS["numbers"][0](end.places),
    "later piece": lambda end: WORDS["later pieces of words"][0](end.places),
}
TAGS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())


def written(text: str) -> Choose:
    """Tokens of this text, in any case, without the tokenizer's marks for spaces and pieces."""
    wanted = _bare(text)
    return lambda end: np.array([_bare(token.text) == wanted for token in end.side.tokens], bool)


def _bare(text: str) -> str:
    return text.removeprefix("##").strip().lower()


def matching(pattern: regex.Pattern[str]) -> Choose:
    """Pieces of words in which a regular expression finds something; all new words of a text together have a second."""
    known: dict[str, bool] = {}

    def found(word: str, end: float) -> bool:
        try:
            return pattern.search(word, timeout=max(end - monotonic(), 1e-3)) is not None
        except TimeoutError:
            raise UserError(
                f"the regular expression /{pattern.pattern}/ takes more than {_SLOW:.0f} s for words such as "
                f"{word[:40]!r}; write one without repetitions inside repetitions"
            ) from None

    def choose(end: End) -> Array:
        words, until = spellings(end.side), monotonic() + _SLOW
        if len(known) > _KNOWN:
            known.clear()
        for word in words:
            if word not in known:
                known[word] = found(word, until)
        return np.array([known[word] for word in words], bool)

    return choose


def first_in_segment(end: End) -> Array:
    """(n,) the first ordinary token of each segment."""
    numbers = end.places.segments
    known, places = np.unique(numbers, return_index=True)
    found = np.zeros(len(numbers), bool)
    found[places[known >= 0]] = True
    return found


def tagged(tag: str) -> Choose:
    """Pieces of words with this tag."""

    def choose(end: End) -> Array:
        assert end.grammar is not None
        return _by_token(end.grammar, end.grammar.tags == tag, otherwise=False)

    return choose


def at_position(compare: Callable[[Array, int], Array], number: int) -> Choose:
    """Positions counted from 0, special tokens included."""
    return lambda end: compare(np.arange(len(end.side)), number)


# -- both ends ---------------------------------------------------------------------------------------------------


def offset(compare: Callable[[Array, int], Array], number: int) -> Term:
    """Key - query."""
    return _between(lambda part: compare(part.gap, number), ONE_TEXT)


def _segments(part: Part) -> tuple[Array, Array]:
    """(rows, 1) and (1, keys) numbers of segments, -1 for special tokens."""
    return part.queries.segments[:, None], part.keys.segments[None, :]


def _same_segment(part: Part) -> Array:
    query, key = _segments(part)
    return np.asarray((query == key) & (query >= 0))


def _other_segment(part: Part) -> Array:
    query, key = _segments(part)
    return np.asarray((query != key) & (query >= 0) & (key >= 0))


def _same_token(part: Part) -> Array:
    query, key = part.queries.ids[:, None], part.keys.ids[None, :]
    return np.asarray((query == key) & (query >= 0))


def _follows_last(part: Part) -> Array:
    """The place after the last earlier one of the query's token, if that is before the query."""
    tokens = part.queries.ids, part.keys.ids
    before = np.asarray(duplicate_targets(*tokens, start=part.start))
    count = before.shape[1]
    last = np.where(before.any(axis=-1), count - 1 - before[:, ::-1].argmax(axis=-1), count)
    next_to_last = np.arange(count)[None, :] == last[:, None] + 1
    return np.asarray(next_to_last & induction_targets(*tokens, start=part.start))


SAME = {
    "word": _between(lambda part: np.asarray(word_targets(part.queries.words, part.keys.words))),
    "token": _between(_same_token, ONE_TEXT),
    "segment": _between(_same_segment, ONE_TEXT),
    "position": _between(lambda part: part.gap == 0, ONE_TEXT),
}
OTHER_SEGMENT = _between(_other_segment, ONE_TEXT)
FOLLOWS_LAST = _between(_follows_last, ONE_TEXT)
INDUCTION = _between(
    lambda part: np.asarray(induction_targets(part.queries.ids, part.keys.ids, start=part.start)), ONE_TEXT
)


def head_of(name: str, relation: str | None) -> Term:
    """The key's word is the head of the query's ("key"), or the query's that of the key's ("query")."""

    def ask(part: Part) -> Array:
        grammar = part.context.grammar
        assert grammar is not None
        heads = _by_token(grammar, np.where(_related(grammar, relation), grammar.heads, -1), otherwise=-1)
        rows = slice(part.start, part.start + len(part.visible))
        pieces = grammar.pieces
        if name == "key":
            return np.asarray((heads[rows, None] == pieces[None, :]) & (pieces[None, :] >= 0))
        return np.asarray((pieces[rows, None] == heads[None, :]) & (pieces[rows, None] >= 0))

    return _between(ask, ONE_TEXT, TREE)


def related(relation: str) -> Term:
    """One of the two words depends on the other in this way."""
    return head_of("key", relation) | head_of("query", relation)


def _related(grammar: Grammar, relation: str | None) -> Array:
    """(words,) whether a word depends on its head in this way; "nsubj" stands for "nsubj:pass", too."""
    if relation is None:
        return np.ones(len(grammar.heads), bool)
    return np.array([name == relation or name.startswith(f"{relation}:") for name in grammar.relations], bool)


def _by_token(grammar: Grammar, values: Array, *, otherwise: int) -> Array:
    """(n,) a word's value (words,) for each of its pieces."""
    found = np.full(len(grammar.pieces), otherwise, values.dtype)
    some = grammar.pieces >= 0
    found[some] = values[grammar.pieces[some]]
    return found


# -- when a rule can be asked ------------------------------------------------------------------------------------


def missing_for(needs: frozenset[str]) -> Callable[[MapContext], str]:
    """The code of the reason why a rule with these needs cannot be asked of a text, or nothing."""

    def missing(context: MapContext) -> str:
        if context.no_text or not context.queries.content.any():
            return context.no_text or "specials_only"
        if context.sides is None:
            return "textless"
        if ONE_TEXT in needs and not context.same:
            return "two_texts"
        return "no_tree" if TREE in needs and context.grammar is None else ""

    return missing
