"""How far the worth of sentences agrees with cutting them off an answer for real.

Enters: a prompt that was read, and the worth of its sentences. Leaves: a correlation, and what is to be said of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.corpus.sums import Array
from regard.measures.ranks import spearman
from regard.models.answering import AnswerRun, ReadPrompt
from regard.models.cutting import cutting
from regard.models.worth import RELIABLE
from regard.trace.edges import EdgeBlock
from regard.trace.heads import Head
from regard.trace.sentences import Message, caution, note

CHECKED = 24  # sentences that are cut for real: half of them those of the largest worth


def said_of(check: dict[str, Any] | None) -> tuple[Message, ...]:
    """What is to be said beside worth: how far it agrees with exact cuts."""
    if check is None or check["spearman"] is None:
        return (caution("evidence_unchecked"),)
    values = {"sentences": check["sentences"], "rho": f"{check['spearman']:.2f}"}
    reliable = check["spearman"] >= RELIABLE
    return (note("evidence_agrees", **values) if reliable else caution("evidence_unreliable", **values),)


def check_sentences(
    read: ReadPrompt, run: AnswerRun, heads: Sequence[Head], owner: Array, worth: Array | None
) -> dict[str, Any] | None:
    """Spearman's correlation of the worth of sentences with what cutting them off the answer's rows really changes."""
    if worth is None or any(run.offset(place) for place in run.operations):
        return None
    order = np.argsort(-np.abs(worth), kind="stable")
    rest = order[CHECKED // 2 :]
    spread = rest[np.linspace(0, len(rest) - 1, min(len(rest), CHECKED // 2)).astype(int)] if len(rest) else rest
    picked = [int(one) for one in (*order[: CHECKED // 2], *spread) if (owner == one).any()]
    before, rows = float(run.logs.sum()), tuple(range(len(run.logs)))
    after = []
    for number in picked:
        block = EdgeBlock(tuple(heads), rows, tuple(np.flatnonzero(owner == number).tolist()))
        with cutting(read.engine, [[block]], "zero"):
            after.append(read.value())
    rho = spearman(worth[picked], before - np.array(after))
    return {"sentences": len(picked), "spearman": None if np.isnan(rho) else rho}
