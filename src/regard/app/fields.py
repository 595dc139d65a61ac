"""The fields of a request's body, read by name and type.

Enters: a request. Leaves: values of the right types, or a Problem that names the field.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from starlette.requests import ClientDisconnect, Request

from regard.app.problems import Problem, bad, large
from regard.app.settings import Limits
from regard.base.errors import UserError

if TYPE_CHECKING:
    from regard.models.conversation import Conversation

PLACE = 1_000_000  # largest position of a token
_READ = 10.0  # seconds a client has for sending its body
PLACES = 8192  # positions in one list, and in all lists of one request
T = TypeVar("T", str, int, bool, list[Any], dict[str, Any])


class Fields:
    """A JSON object's fields, read by name and type."""

    def __init__(self, body: Any, where: str = "the body") -> None:
        if not isinstance(body, dict):
            raise bad(f"{where} must be a JSON object")
        self._body: Mapping[str, Any] = body

    def get(self, name: str, kind: type[T]) -> T | None:
        value = self._body.get(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            refuse_type(name, kind)
        return value

    def has(self, name: str) -> bool:
        """Whether a field asks for something."""
        return bool(self._body.get(name))

    def text(self, name: str, most: int) -> str | None:
        value = self.get(name, str)
        if value is None:
            return None
        if len(value) > most:
            raise large(f"{name} has {len(value):,} characters; this server takes at most {most:,}")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise bad(f"{name} contains half a character (a lone surrogate); send whole ones") from None
        return value

    def number(self, name: str, least: int, most: int) -> int | None:
        value = self.get(name, int)
        if value is not None and not least <= value <= most:
            raise bad(f"{name} must be between {least} and {most:,}")
        return value

    def real(self, name: str, least: float, most: float) -> float | None:
        value = self._body.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise bad(f"{name} must be a number between {least:g} and {most:g}")
        return float(value)

    def conversation(self, name: str, limits: Limits) -> Conversation | None:
        """Messages, each with a role and a text."""
        from regard.models.conversation import conversation_of

        messages = self.get(name, list)
        if messages is None:
            return None
        if len(messages) > limits.messages:
            raise large(f"{name} has {len(messages):,} messages; this server takes at most {limits.messages:,}")
        try:
            found = conversation_of(messages)
        except UserError as error:
            raise Problem(422, "input", str(error)) from None
        Fields({name: "".join(one["content"] for one in found.messages)}).text(name, limits.text)
        return found

    def ids(self, name: str, most: int) -> list[int] | None:
        """Numbers of tokens; None for anything but a list."""
        value = self._body.get(name)
        if not isinstance(value, list):
            return None
        if len(value) > most or any(type(one) is not int or one < 0 for one in value):
            raise bad(f"{name} must be a text, or a list of up to {most:,} numbers of tokens")
        return value

    def texts(self, name: str, count: int, most: int) -> tuple[str, ...]:
        """A text or a list of some."""
        value = self._body.get(name)
        some = value if isinstance(value, list) else [] if value is None else [value]
        if len(some) > count:
            raise bad(f"{name} may have at most {count} texts")
        return tuple(filter(None, (Fields({name: one}).text(name, most) for one in some)))

    def places(self, name: str) -> list[int] | None:
        """Positions of tokens: one or a list of them; None for all."""
        value = self._body.get(name)
        if value is None:
            return None
        places = value if isinstance(value, list) else [value]
        if not places or len(places) > PLACES or any(type(one) is not int or not 0 <= one <= PLACE for one in places):
            raise bad(f"{name} must be a position from 0, or a list of up to {PLACES:,} of them")
        return list(dict.fromkeys(places))

    def flag_or_part(self, name: str) -> Fields | None:
        """The fields of an object; true means one without any, false and null none at all."""
        value = self._body.get(name)
        return None if value is None or value is False else Fields({} if value is True else value, name)

    def part(self, name: str) -> Fields | None:
        value = self._body.get(name)
        return None if value is None else Fields(value, name)


async def body_of(request: Request, limits: Limits) -> Fields:
    """The JSON object of a POST; one that is too large is refused before all of it is read."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "media", "send JSON, with Content-Type: application/json")
    data = bytearray()
    try:
        async with asyncio.timeout(_READ):
            async for chunk in request.stream():
                data += chunk
                if len(data) > limits.body:
                    raise large(f"the request is larger than {limits.body:,} bytes")
    except TimeoutError:
        raise bad(f"the request did not arrive within {_READ:.0f} seconds") from None
    except ClientDisconnect:
        raise bad("the connection was closed") from None
    try:
        return Fields(json.loads(data))
    except (ValueError, RecursionError):
        raise bad("the body is not JSON") from None


def refuse_type(name: str, kind: type) -> NoReturn:
    """Say of which type a field has to be."""
    words = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}
    raise bad(f"{name} must be {words[kind]}")
