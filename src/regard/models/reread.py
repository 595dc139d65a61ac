"""One position of a text, read on top of what the model kept of the text before it.

Enters: a causal language model and the inputs of one text. Leaves: its keys and values of the first tokens, and the
inputs of a batch whose rows all read the next token on top of them.

No earlier position depends on a later one, so what happens at one position costs one token per row.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch

from regard.capture.tiers import undisturbed
from regard.models.cutting import KEEP

if TYPE_CHECKING:
    from regard.models.engine import Engine


def cache_of(engine: Engine, ids: torch.Tensor) -> Any:
    """The keys and values of (1, n) tokens; None for a model that keeps none."""
    given: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "use_cache": True}
    if engine.takes(KEEP):
        given[KEEP] = 1
    with undisturbed(engine.module):
        return getattr(engine.module(**engine.ready(given)), "past_key_values", None)


class Reread:
    """A text up to a position, which any number of rows then read."""

    def __init__(self, ids: torch.Tensor, cache: Any) -> None:
        self._ids, self._cache = ids, cache  # (1, n + 1), and what was kept of n

    @classmethod
    def of(cls, engine: Engine, ready: Mapping[str, Any], position: int) -> Reread | None:
        """None where there is nothing before, or the model does not keep it in a way that can be repeated."""
        if position < 1 or engine.is_encoder_decoder or not engine.can_generate or "input_ids" not in ready:
            return None
        ids = ready["input_ids"][:, : position + 1]
        cache = cache_of(engine, ids[:, :-1])
        return cls(ids, cache) if hasattr(cache, "batch_repeat_interleave") else None

    def inputs(self, count: int) -> dict[str, Any]:
        """The inputs of so many rows; a run adds to the cache, so every run has its own."""
        cache = deepcopy(self._cache)
        cache.batch_repeat_interleave(count)
        rows = self._ids.expand(count, -1)
        return {
            "input_ids": rows[:, -1:],
            "attention_mask": torch.ones_like(rows),
            "past_key_values": cache,
            "use_cache": True,
        }
