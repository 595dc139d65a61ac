"""The questions of a document: whom does this mention refer to? And the answers of simple rules.

Enters: a document with mentions. Leaves: questions with their candidates and right answers, as head words; the answers
of three rules that know nothing of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from regard.corpus.readers.coreference import Document
from regard.corpus.readers.mentions import TYPES, Mention, Traits, traits_of

BASELINES = ("nearest mention", "head-word match", "sieve")
# The groups that a question counts for: its type, and further ones.
GROUPS = (*TYPES, "masculine", "feminine", "pro", "anti")
_GENDERS = {"m": "masculine", "f": "feminine"}


@dataclass(frozen=True)
class CorefQuestion:
    """Whom does a mention refer to? Words are positions in the document."""

    mention: Mention
    candidates: tuple[Mention, ...]
    groups: tuple[str, ...]

    @property
    def word(self) -> int:
        return self.mention.head

    @property
    def right(self) -> frozenset[int]:
        """Head words of the mentions that refer to the same."""
        return frozenset(other.head for other in self.candidates if other.cluster == self.mention.cluster)

    @property
    def words(self) -> frozenset[int]:
        """Head words of all candidates."""
        return frozenset(other.head for other in self.candidates)

    def among(self, seen: Collection[int]) -> CorefQuestion:
        """The question with the candidates whose head word is one of these."""
        return CorefQuestion(self.mention, tuple(other for other in self.candidates if other.head in seen), self.groups)


def questions_of(document: Document) -> list[CorefQuestion]:
    """A question per mention: its candidates are the mentions whose head word stands before its own.

    Where only pronouns are asked about (GAP, WinoBias), the candidates are the names given, on either side.
    """
    mentions = document.mentions
    if document.pronouns:
        mentions = tuple(mention for mention in mentions if mention.type == "pronoun")
    return [CorefQuestion(mention, _candidates(document, mention), _groups(document, mention)) for mention in mentions]


def _candidates(document: Document, mention: Mention) -> tuple[Mention, ...]:
    if document.pronouns:
        return tuple(other for other in document.mentions if other.type != "pronoun" and other.head != mention.head)
    return tuple(other for other in document.mentions if other.head < mention.head)


def _groups(document: Document, mention: Mention) -> tuple[str, ...]:
    gender = _GENDERS.get(traits_of(document.words, mention).gender or "") if mention.type == "pronoun" else None
    return tuple(group for group in (mention.type, gender, document.side) if group is not None)


# -- baselines -------------------------------------------------------------------------------------------------


def baselines_of(document: Document, question: CorefQuestion) -> tuple[bool, ...]:
    """Whether each of `BASELINES` finds a right answer."""
    chosen = (nearest(question), head_match(document, question), sieve(document, question))
    return tuple(word in question.right for word in chosen)


def nearest(question: CorefQuestion, fits: Callable[[Mention], bool] = lambda mention: True) -> int | None:
    """The head word of the nearest candidate that fits; of two as near, the one before."""
    fitting = [other.head for other in question.candidates if fits(other)]
    return min(fitting, key=lambda word: (abs(word - question.word), word), default=None)


def head_match(document: Document, question: CorefQuestion) -> int | None:
    """The nearest candidate with the same head word; None, and so wrong, if there is none."""
    word = document.words[question.word].lower()
    return nearest(question, lambda other: document.words[other.head].lower() == word)


def sieve(document: Document, question: CorefQuestion) -> int | None:
    """The nearest candidate that passes the first of four tests that any candidate passes, as in Clark et al. (2019).

    The same words; the same head word; agreement in person, gender and number as far as known (`traits_of`); any.
    """
    text, mine = _text_of(document.words, question.mention), traits_of(document.words, question.mention)
    same_words = nearest(question, lambda other: _text_of(document.words, other) == text)
    for found in (same_words, head_match(document, question), nearest(question, _agreeing(document.words, mine))):
        if found is not None:
            return found
    return nearest(question)


def _agreeing(words: Sequence[str], mine: Traits) -> Callable[[Mention], bool]:
    return lambda other: mine.agree(traits_of(words, other))


def _text_of(words: Sequence[str], mention: Mention) -> str:
    return " ".join(words[mention.start : mention.end]).lower()
