"""From logits to sentences: the most likely word at each step, or the best of several sentences kept in parallel.

Enters: a Translator and source ids. Leaves: target ids, start token first, padded after the end token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.base.errors import UserError
from regard.transformer.masks import Cache, causal_mask, padding_mask

if TYPE_CHECKING:
    from regard.transformer.model import Translator


class _Steps:
    """The decoder one word at a time: log-probabilities of the next word, given all ids so far."""

    def __init__(self, model: Translator, source: Tensor, real: Tensor | None, *, use_cache: bool) -> None:
        self.model, self.cache = model, Cache() if use_cache else None
        self.memory_mask = padding_mask(real)
        self.memory = model.encode(source, self.memory_mask)  # (B, S, D)

    def __call__(self, ids: Tensor) -> Tensor:
        """(B, T) ids -> (B, V) log-probabilities."""
        if self.cache is None:
            mask: Tensor | None = causal_mask(ids.shape[1], ids.shape[1], ids.device)
        else:
            ids, mask = ids[:, -1:], None  # one query, and every key is earlier than it
        x = self.model.decode(ids, self.memory, mask, self.memory_mask, self.cache)
        logits: Tensor = self.model.output(x[:, -1])  # (B, D) -> (B, V)
        logits[:, [self.model.config.pad, self.model.config.start]] = -torch.inf  # never part of a sentence
        return logits.log_softmax(-1)

    def select(self, rows: Tensor) -> None:
        self.memory = self.memory[rows]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
        if self.cache is not None:
            self.cache.select(rows)


def greedy(model: Translator, source: Tensor, real: Tensor | None, limit: int, *, use_cache: bool = True) -> Tensor:
    """(B, T) the most likely next word at every step; a choice is never revised."""
    config, batch = model.config, source.shape[0]
    step = _Steps(model, source, real, use_cache=use_cache)
    ids = torch.full((batch, 1), config.start, device=source.device)
    ended = torch.zeros(batch, dtype=torch.bool, device=source.device)
    for _ in range(limit):
        word = step(ids).argmax(-1).masked_fill(ended, config.pad)  # (B,)
        ids = torch.cat([ids, word[:, None]], 1)
        ended |= word == config.end
        if bool(ended.all()):
            break
    return ids


def beam(
    model: Translator, source: Tensor, real: Tensor | None, limit: int, *, beams: int = 4, penalty: float = 0.6
) -> Tensor:
    """(B, T) the sentence with the best log-probability, divided by ((5 + length) / 6)^penalty as in Wu et al. 2016."""
    if beams < 1:
        raise UserError(f"the number of beams must be at least 1, not {beams}")
    found = [
        _beam_of_one(model, source[i : i + 1], None if real is None else real[i : i + 1], limit, beams, penalty)
        for i in range(source.shape[0])
    ]
    longest = max(len(ids) for ids in found)
    padded = [ids + [model.config.pad] * (longest - len(ids)) for ids in found]
    return torch.tensor(padded, device=source.device)


def _beam_of_one(
    model: Translator, source: Tensor, real: Tensor | None, limit: int, beams: int, penalty: float
) -> list[int]:
    config = model.config
    step = _Steps(model, source, real, use_cache=True)
    ids = torch.full((1, 1), config.start, device=source.device)
    total = torch.zeros(1, device=source.device)
    finished: list[tuple[float, list[int]]] = []
    for length in range(1, limit + 1):
        scores = total[:, None] + step(ids)  # (beams, V)
        best, flat = scores.flatten().topk(min(2 * beams, scores.numel()))  # enough, even if half of them end
        rows, words = flat // scores.shape[1], flat % scores.shape[1]
        norm = ((5 + length) / 6) ** penalty
        for value, row, word in zip(best.tolist(), rows.tolist(), words.tolist(), strict=True):
            if word == config.end:
                finished.append((value / norm, [*ids[row].tolist(), word]))
        going = (words != config.end).nonzero()[:beams, 0]
        rows, total = rows[going], best[going]
        ids = torch.cat([ids[rows], words[going, None]], 1)
        step.select(rows)
        if len(finished) >= beams and max(finished)[0] > float(total[0]) / ((5 + limit) / 6) ** penalty:
            break
    # if nothing ended, use the best unfinished sentence
    return max(finished)[1] if finished else [int(token) for token in ids[0]]
