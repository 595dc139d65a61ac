"""What the rows of an answer take from the tokens of its prompt, by head.

Enters: the rows of an answer. Leaves: scores of tokens and sentences by three measures, reduced layer by layer.

The score of a sentence is a sum over the rows that produce the answer, over heads, and over the sentence's tokens that
are not resting places (special tokens, the first token):

    attention     A_ij                                  shares of the sentences of the prompt
    contribution  A_ij ||f(x_j)|| / sum over j of it    the same: of what arrives in each row
    worth         A_ij g_i . v_j                        nats of the answer's log probability, to first order
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.capture.gradients import Gradient
from regard.capture.operation import Operation
from regard.capture.rebuild import attention_of, repeat_heads, value_norms, visible_keys
from regard.corpus.sums import Array
from regard.measures.awake import resting_keys
from regard.models.answering import AnswerRun
from regard.trace.heads import Head
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.models.engine import Engine

MEASURES = ("attention", "contribution", "worth")


class EvidenceScores:
    """Scores of the tokens and sentences of a prompt by every head, reduced layer by layer."""

    def __init__(self, engine: Engine, run: AnswerRun, tokens: Sequence[Token], owner: Array, sentences: int) -> None:
        self.rows = len(run.logs)
        self.counts = np.bincount(owner[owner >= 0], minlength=sentences)
        self._members = np.equal.outer(owner, np.arange(sentences)).astype(np.float64)  # (keys, S)
        special = torch.tensor([token.border for token in tokens[: run.keys]])
        self._by: dict[str, dict[tuple[str, int], Array]] = {name: {} for name in MEASURES}  # (H, keys) of each layer
        projections = engine.plan().projections
        for place, operation in run.operations.items():
            first = run.offset(place)
            found = reduce_layer(operation, projections.get(operation.path), run.gradients.get(place), special[first:])
            for name, values in found.items():
                self._by[name][place] = np.pad(values.double().cpu().numpy(), ((0, 0), (first, 0)))
        self.measures = tuple(name for name in MEASURES if len(self._by[name]) == len(run.operations))

    def tokens(self, heads: Sequence[Head]) -> dict[str, Array]:
        """(keys,) sums over heads, by measure."""
        return {
            name: np.sum([self._by[name][one.kind, one.layer][one.head] for one in heads], axis=0)
            for name in self.measures
        }

    def sentences(self, heads: Sequence[Head]) -> dict[str, Array | None]:
        """(S,) sums over heads and the tokens of each sentence, by measure; None where it is not available."""
        found = self.tokens(heads)
        return {name: found[name] @ self._members if name in found else None for name in MEASURES}

    def heads(self, name: str, heads: Sequence[Head]) -> Array:
        """(heads, S) of one measure."""
        return np.stack([self._by[name][one.kind, one.layer][one.head] for one in heads]) @ self._members


def reduce_layer(
    operation: Operation, projection: Any, gradient: Gradient | None, special: torch.Tensor
) -> dict[str, torch.Tensor]:
    """(H, K) sums over the rows of one layer, by measure, outside resting places."""
    maps = attention_of(operation)[0]  # (H, n, K)
    seen = visible_keys(operation)
    seen = seen[0] if seen.ndim == 4 else seen[None]  # (H or 1, n, K)
    free = ~resting_keys(seen, special.to(seen.device), causal=True)
    found = {"attention": (maps * free).sum(1)}
    if isinstance(projection, torch.nn.Module) and operation.v is not None:
        arriving = maps * value_norms(operation, projection)[0][:, None]
        whole = arriving.sum(-1, keepdim=True)
        found["contribution"] = (arriving / torch.where(whole > 0, whole, 1) * free).sum(1)
    if gradient is not None and operation.v is not None:
        values = repeat_heads(operation.v, operation.heads)[0].float()  # (H, K, e)
        along = torch.einsum("nhe,hke->hnk", gradient.g[0].float(), values)
        found["worth"] = (maps * along * free).sum(1)
    return found
