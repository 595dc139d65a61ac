"""Passages: the parts of a prompt that somebody wrote, and where each stands in what the model reads.

Enters: a prompt or a conversation, and its text as the model's template lays it out. Leaves: passages, and the
sentences in them. What the template writes around them is no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard.corpus.readers.prose import sentence_spans
from regard.models.conversation import Conversation
from regard.trace.tokens import Token

_BETWEEN = "\n\n"  # passages, in the prompt that is shown


class Passage(NamedTuple):
    """A text, where it begins in what the model reads, and where in the prompt that is shown."""

    text: str
    start: int
    at: int

    @property
    def shift(self) -> int:
        """What is added to a place in the reading to find it in the prompt."""
        return self.at - self.start


def passages_of(conversation: Conversation, written: str) -> list[Passage]:
    """The messages of a conversation, without its answer, in the text that its template makes of it."""
    found: list[Passage] = []
    done = at = 0
    for message in conversation.messages[: -1 if conversation.is_answered else None]:
        text = message["content"].strip()
        start = written.find(text, done)
        if text and start >= 0:  # a template may leave a message out
            found.append(Passage(text, start, at))
            done, at = start + len(text), at + len(text) + len(_BETWEEN)
    return found


def shown_prompt(passages: Sequence[Passage]) -> str:
    """The passages as one text."""
    return _BETWEEN.join(one.text for one in passages)


def sentences_in(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    """Where each sentence begins and ends in the prompt; none reaches over two passages."""
    return [(one.at + start, one.at + end) for one in passages for start, end in sentence_spans(one.text)]


def passage_of(token: Token, passages: Sequence[Passage]) -> Passage | None:
    """The passage that a token is in, by its last character."""
    if token.special or token.end is None or token.start == token.end:
        return None
    last = token.end - 1
    return next((one for one in passages if one.start <= last < one.start + len(one.text)), None)
