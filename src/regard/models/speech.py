"""An answer as it grows: the tokens, and the text that is complete.

Enters: generated ids, one by one. Leaves: their text, without half characters and without what stops the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.trace.pieces import LOST


class Speech:
    """What a model has said so far; `stop` are texts that end it and are no part of it.

    `ids` are all tokens, also those of a stop text; `given` is the text told so far, `text` all of it.
    """

    def __init__(self, tokenizer: Any, stop: Sequence[str] = ()) -> None:
        self._tokenizer, self._stop = tokenizer, tuple(one for one in stop if one)
        self.ids: list[int] = []
        self.given = ""
        self.stopped = False  # by one of the texts
        self.interrupted = False

    def hear(self, token: int) -> str:
        """The text that is complete with this token, if any."""
        self.ids.append(token)
        whole = self._whole()
        found = [place for one in self._stop if (place := whole.find(one)) >= 0]
        if found:
            self.stopped = True
            whole = whole[: min(found)]
        elif whole.endswith(LOST):
            return ""  # a character of which bytes are missing
        else:
            whole = whole[: len(whole) - self._held(whole)]
        new = whole[len(self.given) :]
        self.given += new
        return new

    def finish(self) -> str:
        """What was held back, once nothing more comes."""
        new = "" if self.stopped else self._whole()[len(self.given) :]
        self.given += new
        return new

    @property
    def text(self) -> str:
        """All of it."""
        return self.given if self.stopped else self._whole()

    @property
    def closed(self) -> bool:
        """Whether the answer came to an end by itself: by a token that closes it, or by a stop text."""
        return self.stopped or (bool(self.ids) and self.ids[-1] in self._tokenizer.all_special_ids)

    def _whole(self) -> str:
        return str(self._tokenizer.decode(self.ids, skip_special_tokens=True))

    def _held(self, text: str) -> int:
        """Characters at the end of a text with which a stop text may begin."""
        longest = max((len(one) - 1 for one in self._stop), default=0)
        sizes = range(min(longest, len(text)), 0, -1)
        return next((size for size in sizes if any(one.startswith(text[-size:]) for one in self._stop)), 0)
