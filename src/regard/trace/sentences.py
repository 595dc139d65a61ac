"""Sentences that people read and code distinguishes: cautions, notes, refusals, reasons why something is n/a.

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
    return _message("reason", code, values)


def caution(code: str, **values: int | str) -> Message:
    """Something to keep in mind."""
    return _message("caution", code, values)


def note(code: str, **values: int | str) -> Message:
    """What to know about a result."""
    return _message("note", code, values)


def refusal(code: str, **values: int | str) -> Message:
    """Why a model is not available, and what to do: the text of a `UserError`."""
    return _message("refusal", code, values)


def coded(text: str) -> dict[str, Any]:
    """Code and values of any sentence; of one without a code, none."""
    return text.record if isinstance(text, Message) and text.code else {}


def _message(kind: str, code: str, values: dict[str, int | str]) -> Message:
    return Message(_TABLE[kind][code][0].format(**values), code, values)
