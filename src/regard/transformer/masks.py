"""Who may look at whom, and what a decoder keeps of earlier tokens.

Enters: token ids or lengths. Leaves: masks; keys and values so far.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def padding_mask(real: Tensor | None) -> Tensor | None:
    """True where a key is a word and not padding; one row for all queries."""
    if real is None or bool(real.all()):
        return None
    return real.bool()[:, None, None, :]  # (B, S) -> (B, 1, 1, S)


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """True on and below the diagonal: position i sees positions up to i, never a later one."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)  # (T, S)


class Cache:
    """Keys and values of the positions already decoded, so that a step computes only one position."""

    def __init__(self) -> None:
        self.length = 0
        self.held: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order (the surviving beams)."""
        self.held = {owner: (k[rows], v[rows]) for owner, (k, v) in self.held.items()}
