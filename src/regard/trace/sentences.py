"""Sentences that people read and code distinguishes: cautions, and reasons why something is n/a.

Enters: a code and its values. Leaves: the English sentence, which remembers both; the page shows the same in the
reader's language (sentences.json has both languages, and the front end bundles it).
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_TABLE: dict[str, dict[str, list[str]]] = json.loads(
    (files("regard.trace") / "sentences.json").read_text("utf-8"),
)


class Message(str):
    """A sentence with its code and its values."""

    def __new__(cls, text: str, code: str = "", values: dict[str, int | str] | None = None) -> Message:
        message = super().__new__(cls, text)
        message.code, message.values = code, values or {}
        return message

    code: str
    values: dict[str, int | str]

    @property
    def record(self) -> dict[str, Any]:
        """Code and values, for the wire."""
        return {"code": self.code, "values": self.values}


def reason(code: str, **values: int | str) -> Message:
    """Why something is not available."""
    return Message(_TABLE["reason"][code][0].format(**values), code, values)


def caution(code: str, **values: int | str) -> Message:
    """Something to keep in mind."""
    return Message(_TABLE["caution"][code][0].format(**values), code, values)
