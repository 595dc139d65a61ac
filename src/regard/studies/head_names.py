"""How a head is named in the sentences of a study, and where a sentence names one.

Enters: layers and heads; sentences. Leaves: names such as 2.9, and the places of "head 2.9" in a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

_KIND = "[Ee]ncoder|[Dd]ecoder|[Cc]ross"
_NAME = r"\d+\.\d+"
_HEADS = re.compile(rf"\b(?:({_KIND}) )?[Hh]ead(?: {_NAME}\b|s {_NAME}\b(?:(?:, | and | / ){_NAME}\b)*)")
_ABOUT = re.compile(rf"\s*({_KIND})\b")


def head_name(layer: int, head: int) -> str:
    """A head as every page calls it; in a sentence the word head, or heads before a list, makes it a link."""
    return f"{layer}.{head}"


def about_kind(kind: str, kinds: Collection[str]) -> str:
    """How a sentence about a kind of attention begins: with its name, if the model has several."""
    return f"{kind.capitalize()}: " if len(set(kinds)) > 1 else ""


class Pictured(str):
    """A sentence with lines over layers that show what it says."""

    lines: Mapping[str, Sequence[float]]

    def __new__(cls, text: str, lines: Mapping[str, Sequence[float]]) -> Pictured:
        sentence = super().__new__(cls, text)
        sentence.lines = lines
        return sentence


class NamedPlace(NamedTuple):
    """Where a text names a head; `kind` is None where the text does not say it."""

    start: int
    end: int
    kind: str | None
    layer: int
    head: int


def heads_in(text: str) -> Iterator[NamedPlace]:
    """Every head that a sentence names; its kind stands before it, or at the beginning of the sentence."""
    about = _ABOUT.match(text)
    for found in _HEADS.finditer(text):
        kind = found[1] or (about[1] if about else None)
        kind = kind and kind.lower()
        for name in re.finditer(_NAME, found[0]):
            layer, head = map(int, name[0].split("."))
            yield NamedPlace(found.start() + name.start(), found.start() + name.end(), kind, layer, head)
