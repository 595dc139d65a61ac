"""Whether the hub answers, before its client is asked for files: if it does not, the client is silent for minutes.

Enters: the settings of huggingface_hub. Leaves: why a model is not available from the hub, or None if it answers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from regard.trace.sentences import Message, refusal

FIRST_ANSWER = 10.0  # seconds for the hub's first answer
_SIGN_OF_LIFE = 2.0  # seconds after which we say what we are waiting for

_alone = threading.RLock()  # huggingface_hub's setting is shared by all threads
log = logging.getLogger("regard")


def why_not_asked(name: str, offline: bool = False) -> Message | None:
    """Why a model that is not here is not available from the hub; None if the hub answers."""
    from huggingface_hub import constants

    if offline or constants.HF_HUB_OFFLINE:
        return refusal("absent_offline", name=name)
    answer = _Answer(constants.ENDPOINT)
    if not answer.came.wait(_SIGN_OF_LIFE):
        log.warning(
            "waiting for %s to answer, up to %.0f seconds (skip this with --offline or HF_HUB_OFFLINE=1)",
            constants.ENDPOINT,
            FIRST_ANSWER,
        )
        answer.came.wait(FIRST_ANSWER - _SIGN_OF_LIFE)
    if not answer.came.is_set():
        return refusal("absent_silent", name=name, seconds=f"{FIRST_ANSWER:.0f}")
    return None if answer.good else refusal("absent_unreachable", name=name)


@contextmanager
def leaving_it_alone(wanted: bool) -> Iterator[None]:
    """Keep the client from contacting the hub during the block: even for local files it checks for updates."""
    from huggingface_hub import constants

    if not wanted:
        yield
        return
    with _alone:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = True
        try:
            yield
        finally:
            constants.HF_HUB_OFFLINE = before


class _Answer:
    """The hub's first answer, whatever it is; in a thread that is abandoned if it takes too long.

    Socket timeouts do not help here: they do not cover address lookup, and restart at every byte.
    """

    def __init__(self, address: str) -> None:
        self.came, self.good = threading.Event(), False
        threading.Thread(target=self._ask, args=(address,), name="regard-hub", daemon=True).start()

    def _ask(self, address: str) -> None:
        from huggingface_hub import get_session

        try:
            get_session().head(address, timeout=6 * FIRST_ANSWER)  # later than whoever waits for it gives up
            self.good = True
        except Exception:  # from whichever library speaks HTTP
            self.good = False
        self.came.set()
