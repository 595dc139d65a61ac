"""Whether the hub answers, before its client is asked for files: where it does not, the client is silent for minutes.

Enters: nothing but the settings of huggingface_hub. Leaves: why the hub is not asked, or None where it answers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FIRST_ANSWER = 10.0  # seconds the hub has for it
_SIGN_OF_LIFE = 2.0  # seconds after which we say what we wait for

_alone = threading.RLock()  # huggingface_hub has one setting for all threads
log = logging.getLogger("regard")


def why_not_asked(offline: bool = False) -> str | None:
    """Why the hub is not asked for files, as the end of a sentence on it; None where it answers."""
    from huggingface_hub import constants

    if offline or constants.HF_HUB_OFFLINE:
        return "was not asked (--offline, or HF_HUB_OFFLINE); leave that out to download it"
    answer = _Answer(constants.ENDPOINT)
    if not answer.came.wait(_SIGN_OF_LIFE):
        log.warning(
            "waiting for %s to answer, for %.0f seconds at most (--offline, or HF_HUB_OFFLINE=1, does not ask it)",
            constants.ENDPOINT,
            FIRST_ANSWER,
        )
        answer.came.wait(FIRST_ANSWER - _SIGN_OF_LIFE)
    if not answer.came.is_set():
        return f"did not answer within {FIRST_ANSWER:.0f} seconds; try again, or take a model that is here"
    return None if answer.good else "could not be reached; check the network, or take a model that is here"


@contextmanager
def leaving_it_alone(wanted: bool) -> Iterator[None]:
    """Its client asks the hub nothing at all while this lasts: looking for local files, it still asks for news."""
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
    """The hub's first answer, whatever it says; in a thread that is left alone when it takes too long.

    Time limits of sockets are no help here: they do not hold for finding the address, and start again at every byte.
    """

    def __init__(self, address: str) -> None:
        self.came, self.good = threading.Event(), False
        threading.Thread(target=self._ask, args=(address,), name="regard-hub", daemon=True).start()

    def _ask(self, address: str) -> None:
        from huggingface_hub import get_session

        try:
            get_session().head(address, timeout=FIRST_ANSWER)
            self.good = True
        except Exception:  # of whichever library speaks HTTP
            self.good = False
        self.came.set()
