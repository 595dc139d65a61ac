"""Needles: a planted sentence in a text of the corpus, and the answer that copies it.

Enters: a haystack, a length, a depth. Leaves: a prompt with its answer, where the needle is, and which tokens are the
code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.readers.prose import sentence_spans
from regard.corpus.sums import Array
from regard.models.answering import encode_answer, written_prompt
from regard.models.prepare import Encoded

if TYPE_CHECKING:
    from regard.models.engine import Engine

_COLOURS = ("red", "blue", "green", "black", "white", "yellow", "brown", "grey", "pink", "orange", "purple", "silver")
_THINGS = ("box", "door", "key", "bag", "boat", "lamp", "chair", "table", "cup", "book", "car", "house")


@dataclass(frozen=True, eq=False)
class Planted:
    """A prompt and its answer as one text; (K,) positions that are the needle, (n,) answer tokens that are the code."""

    row: Encoded
    needle: Array
    code: Array


def plant(engine: Engine, haystack: Encoded, text: str, length: int, depth: float, seed: tuple[int, ...]) -> Planted:
    """A needle in the first `length` tokens of a text, between two sentences at a share `depth` of them.

    The prompt is in the model's chat template if it has one. The answer is the needle itself.
    """
    draw = np.random.default_rng(seed)
    name = f"{draw.choice(_COLOURS)} {draw.choice(_THINGS)}"
    fact, number = f"The code of the {name} is", str(draw.integers(1000, 10000))
    ends = np.array([token.end or 0 for token in haystack.side.tokens])
    last = int(ends[: min(length, len(ends))].max())
    spans = [span for span in sentence_spans(text) if span[1] <= last] or [(0, last)]
    borders = np.array([0, *(end for _, end in spans)])
    place = int(borders[np.abs(borders - depth * borders[-1]).argmin()])
    before, after = text[:place].rstrip(), text[place : borders[-1]].strip()
    start = len(before) + bool(before)
    needle = f"{fact} {number}."
    prompt = " ".join(part for part in (before, needle, after) if part)
    chat = bool(getattr(engine.tokenizer, "chat_template", None))
    written, begin = written_prompt(engine, prompt, f"What is the code of the {name}?", chat)
    row = encode_answer(engine, written, needle)
    first = row.side.segments[1].start
    inside = [
        position < first
        and token.end is not None
        and not token.special
        and start <= token.end - 1 - begin < start + len(needle)
        for position, token in enumerate(row.side.tokens)
    ]
    answered = row.side.tokens[first:]
    # Where the code begins; a space before it that is a token of its own is no part of it.
    offset = len(fact) + 1 + (answered[0].text[:1].isspace() and not needle[:1].isspace())
    code = [token.end is not None and offset < token.end <= offset + len(number) for token in answered]
    return Planted(row, np.array(inside[:-1]), np.array(code))
