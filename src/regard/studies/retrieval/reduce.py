"""One needle: what each head looks at while the answer copies it, and whether the model answers.

Enters: a planted prompt. Leaves: numbers of each head, and of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.rebuild import attention_of
from regard.corpus.sums import Array
from regard.models.answering import AnswerRun, ReadPrompt
from regard.studies.retrieval.planting import Planted

if TYPE_CHECKING:
    from regard.models.engine import Engine

RECENT = 32  # the last keys of a row, which a streaming head looks at


@dataclass(frozen=True, eq=False)
class NeedleReading:
    """Numbers of one needle.

    By (kind, layer), (H,) each: `retrieved`, answer tokens that the head's strongest key in the text is the same
    token of the needle for; `sink`, its weight on the first token and on special ones, and `recent`, on the last
    keys, summed over rows. `tokens` and `rows` are what these are out of. `answered` is whether every token of the
    code is the model's first choice, `logs` the mean log probability of its tokens.
    """

    retrieved: dict[tuple[str, int], Array]
    sink: dict[tuple[str, int], Array]
    recent: dict[tuple[str, int], Array]
    tokens: int
    rows: int
    answered: bool
    logs: float


def read_needle(engine: Engine, planted: Planted) -> NeedleReading:
    """Run a prompt with its answer, and reduce each layer."""
    run = ReadPrompt(engine, planted.row).answer()
    ids = np.array(planted.row.ids)
    wanted = ids[run.first + 1 :]  # (n,) what each row predicts
    same = planted.needle[None, :] & (ids[:-1][None, :] == wanted[:, None])  # (n, K) the token, in the needle
    copied = same.any(axis=-1)
    special = np.array([token.border for token in planted.row.side.tokens[:-1]])
    special[0] = True
    retrieved: dict[tuple[str, int], Array] = {}
    sink: dict[tuple[str, int], Array] = {}
    recent: dict[tuple[str, int], Array] = {}
    for place in run.operations:
        retrieved[place], sink[place], recent[place] = _layer(run, place, same[copied], copied, special)
    code = planted.code
    return NeedleReading(
        retrieved,
        sink,
        recent,
        tokens=int(copied.sum()),
        rows=len(wanted),
        answered=bool((run.ranks.cpu().numpy()[code] == 0).all()),
        logs=float(run.logs.cpu().numpy()[code].mean()),
    )


def _layer(
    run: AnswerRun, place: tuple[str, int], same: Array, copied: Array, special: Array
) -> tuple[Array, Array, Array]:
    """(H,) each: tokens that were retrieved, weight on resting places, weight on recent keys."""
    maps = attention_of(run.operations[place])[0]  # (H, n, K)
    first, (_, rows, keys) = run.offset(place), maps.shape
    strongest = maps[:, torch.from_numpy(copied).to(maps.device)].argmax(-1).cpu().numpy() + first  # (H, copied)
    hits = same[np.arange(same.shape[0])[None, :], strongest].sum(axis=1)
    rests = torch.from_numpy(special[first:]).to(maps.device)
    positions = torch.arange(keys, device=maps.device) + first
    distance = run.first + torch.arange(rows, device=maps.device)[:, None] - positions  # (n, K)
    near = (distance < RECENT) & ~rests
    sink, recent = (maps * rests).sum((1, 2)), (maps * near).sum((1, 2))
    return hits.astype(np.float64), sink.double().cpu().numpy(), recent.double().cpu().numpy()
