"""Mentions of people and things: head word, type, and what is known of their person, gender and number.

Enters: words and spans. Leaves: small facts by documented rules for English; no parser is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

TYPES = ("pronoun", "proper", "nominal")


class Traits(NamedTuple):
    """Person (1, 2, 3), gender (m, f, n) and number (s, p); None where unknown."""

    person: int | None = None
    gender: str | None = None
    number: str | None = None

    def agree(self, other: Traits) -> bool:
        """Whether no trait that is known for both differs."""
        return all(one is None or two is None or one == two for one, two in zip(self, other, strict=True))


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `[start, end)` of a document that name something; mentions of one `cluster` name the same thing."""

    start: int
    end: int
    head: int
    type: str
    cluster: int


def _pronouns() -> dict[str, Traits]:
    groups = {
        Traits(1, None, "s"): "i me my mine myself",
        Traits(1, None, "p"): "we us our ours ourselves",
        Traits(2, None, None): "you your yours yourself yourselves thou thee thy thine thyself ye",
        Traits(3, "m", "s"): "he him his himself",
        Traits(3, "f", "s"): "she her hers herself",
        Traits(3, "n", "s"): "it its itself",
        Traits(3, None, "p"): "they them their theirs themselves",
        Traits(3, None, None): "who whom whose",
    }
    return {word: traits for traits, words in groups.items() for word in words.split()}


PRONOUNS = _pronouns()
_MEN = set(
    "mr mr. sir lord king prince duke earl count baron captain monsieur man men boy boys gentleman gentlemen father "
    "papa dad son brother brothers husband uncle nephew grandfather actor waiter fellow lad monk priest".split()
)
_WOMEN = set(
    "mrs mrs. ms ms. miss lady queen princess duchess countess baroness madam madame mademoiselle woman women girl "
    "girls ladies mother mamma mama mom daughter sister sisters wife aunt niece grandmother actress waitress widow "
    "nun".split()
)
_PLURALS = set("men women children people folk folks gentlemen ladies police feet teeth mice oxen".split())
_SINGULARS = ("ss", "us", "is")  # endings in s that are not plural

# Words that can begin a post-modifier: the head word comes before it.
_PREPOSITIONS = set(
    "of in on at by for from with without to into onto upon over under above below behind beside besides between "
    "among amongst about around near against through during before after since until like as than toward towards "
    "within".split()
)
_RELATIVES = set("who whom whose which that where when".split())
_OPENERS = set("( -- ; : – — -lrb-".split())
_DETERMINERS = set("the a an this that these those my your his her its our their some any no every each".split())
_CLITICS = set("' 's ’ ’s".split())


def head_word(words: Sequence[str], start: int, end: int) -> int:
    """The head word of a mention: the last one before a post-modifier, or else the last.

    A post-modifier begins at a preposition, a relative pronoun, a bracket or dash, or at a comma before one of these,
    a determiner or a name ("the captain, a man of ..."); the comma of "a tall, thin man" begins none. A closing 's and
    punctuation are not heads.
    """
    last = end
    for place in range(start + 1, end):
        if _modifies(words, place, end):
            last = place
            break
    while last - 1 > start and (words[last - 1].lower() in _CLITICS or not any(map(str.isalnum, words[last - 1]))):
        last -= 1
    return last - 1


def _modifies(words: Sequence[str], place: int, end: int) -> bool:
    """Whether a post-modifier begins at this word."""
    word = words[place].lower()
    if word == ",":
        following = words[place + 1] if place + 1 < end else ""
        return _begins(following.lower()) or following.lower() in _DETERMINERS or following[:1].isupper()
    return _begins(word)


def _begins(word: str) -> bool:
    return word in _PREPOSITIONS or word in _RELATIVES or word in _OPENERS


def mention_type(words: Sequence[str], start: int, end: int, head: int, *, tag: str = "", certain: bool = True) -> str:
    """pronoun, proper or nominal: by the pronouns of English, then the head's Penn tag, then its capital letter.

    `certain` is false where a capital says nothing, at the start of a sentence.
    """
    if end - start == 1 and words[start].lower() in PRONOUNS:
        return "pronoun"
    if tag:
        return "pronoun" if tag.startswith("PRP") else "proper" if tag.startswith("NNP") else "nominal"
    return "proper" if words[head][:1].isupper() and certain else "nominal"


def traits_of(words: Sequence[str], mention: Mention) -> Traits:
    """Person, gender and number of a mention, as far as its words show."""
    lower = [word.lower() for word in words[mention.start : mention.end]]
    if mention.type == "pronoun":
        return PRONOUNS.get(lower[0], Traits(3))
    head = words[mention.head].lower()
    men, women = any(word in _MEN for word in (lower[0], head)), any(word in _WOMEN for word in (lower[0], head))
    return Traits(3, None if men == women else "m" if men else "f", _number(lower, head, mention.type))


def _number(lower: list[str], head: str, type_: str) -> str:
    if "and" in lower or head in _PLURALS:
        return "p"
    plural = head.endswith("s") and not head.endswith(_SINGULARS) and (type_ == "nominal" or lower[0] == "the")
    return "p" if plural else "s"
