"""A token as people name it: its position, its text, or both.

Enters: 7, "7", "cat" or "cat@7". Leaves: the position, checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.errors import OutOfRangeError, UserError
from regard.trace.tokens import Token


def position_of(tokens: Sequence[Token], chosen: int | str) -> int:
    """The position that is meant; a text that several tokens have needs its position, as in "cat@7".

    Examples
    --------
    >>> position_of([Token("the"), Token("cat")], "cat")
    1
    """
    if isinstance(chosen, str):
        name, at, number = chosen.rpartition("@")
        if not at or not number.lstrip("-").isdigit():
            return _by_text(tokens, chosen)
        chosen = int(number)
        if name and tokens[_inside(tokens, chosen)].text.strip() != name.strip():
            shown = tokens[_inside(tokens, chosen)].text.strip()
            raise UserError(f"position {chosen} is {shown!r}, not {name!r}; positions count from 0")
    return _inside(tokens, chosen)


def _by_text(tokens: Sequence[Token], name: str) -> int:
    wanted = name.strip().lower()
    found = [number for number, token in enumerate(tokens) if token.text.strip().lower() == wanted]
    if not found and name.strip().lstrip("-").isdigit():
        return _inside(tokens, int(name))
    if not found:
        shown = " ".join(token.text.strip() for token in tokens[:20])
        raise UserError(f"no token is {name!r}; name one of these or its position, from 0: {shown}")
    if len(found) > 1:
        places = ", ".join(f"{name.strip()}@{number}" for number in found[:10])
        raise UserError(f"{len(found)} tokens are {name!r}; say which: {places}")
    return found[0]


def _inside(tokens: Sequence[Token], number: int) -> int:
    if not -len(tokens) <= number < len(tokens):
        raise OutOfRangeError(f"there is no position {number}: there are {len(tokens)} tokens, from 0")
    return number % len(tokens)
