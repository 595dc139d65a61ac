"""A token as people name it: its position, its text, or both.

Enters: 7, "7", "cat" or "cat@7". Leaves: the position, or those of a word's pieces, checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regard.base.errors import OutOfRangeError, UserError
from regard.trace.tokens import Side, Token, word_groups, word_text

_NUMBER = re.compile(r"-?\d+", re.ASCII)
_LISTED = 8  # tokens, or choices, that an error lists


def position_of(tokens: Sequence[Token], chosen: int | str) -> int:
    """The one position that is meant; a text that several tokens have needs its position, as in "cat@7".

    Examples
    --------
    >>> position_of([Token("the"), Token("cat")], "cat")
    1
    """
    found = positions_of(tokens, chosen)
    if len(found) > 1:
        raise UserError(f"the word {chosen!r} is {len(found)} tokens; say which: {_places(tokens, found)}")
    return found[0]


def positions_of(tokens: Sequence[Token], chosen: int | str) -> tuple[int, ...]:
    """The position that is meant by a number, a text or both; of a word, those of all its pieces."""
    if not isinstance(chosen, str):
        return (_inside(tokens, chosen),)
    name, at, number = chosen.rpartition("@")
    if at and _NUMBER.fullmatch(number):
        place = _inside(tokens, int(number))
        if name and plain_text(tokens[place].text) != plain_text(name):
            raise UserError(f"the token at position {place} is {tokens[place].text.strip()!r}, not {name.strip()!r}")
        return (place,)
    return _by_text(tokens, chosen)


def plain_text(text: str) -> str:
    """A token's text as it is compared: without spaces around it."""
    return text.strip().lower() or text


def _by_text(tokens: Sequence[Token], name: str) -> tuple[int, ...]:
    """The one token, or all pieces of the one word, with this text; digits are also a position."""
    wanted = plain_text(name)
    found: list[tuple[int, ...]] = [(place,) for place, token in enumerate(tokens) if plain_text(token.text) == wanted]
    groups = word_groups(Side("", tuple(tokens)))
    words = [tuple(group) for group in groups if plain_text(word_text([tokens[i] for i in group])) == wanted]
    found = found or words
    if _NUMBER.fullmatch(wanted):
        place = int(wanted)
        if not found:
            return (_inside(tokens, place),)
        if -len(tokens) <= place < len(tokens) and (place % len(tokens),) not in found:
            found.append((place % len(tokens),))
    if not found:
        shown = _places(tokens, range(len(tokens)))
        raise UserError(f"the text has no token {name!r}; name one of its tokens, or a position from 0: {shown}")
    if len(found) > 1:
        choices = _places(tokens, [group[0] for group in found])
        raise UserError(f"{name!r} can mean {len(found)} tokens; say which: {choices}")
    return found[0]


def _places(tokens: Sequence[Token], places: Sequence[int]) -> str:
    shown = ", ".join(f"{tokens[place].text.strip()}@{place}" for place in places[:_LISTED])
    return shown + (" …" if len(places) > _LISTED else "")


def _inside(tokens: Sequence[Token], number: int) -> int:
    if not -len(tokens) <= number < len(tokens):
        raise OutOfRangeError(f"there is no position {number}; the text has {len(tokens)} tokens, from 0")
    return number % len(tokens)
