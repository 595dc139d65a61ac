"""Heads switched off while the model runs: each keeps its place, and its output is replaced before W_O.

Enters: heads and a mode. Leaves: an `Ablation`, an edit for `outputs`.

zero     the head's output is 0: shows what the model does without the head (Michel et al. 2019).
uniform  its attention is 1/L over the L keys that the query may see (Kovaleva et al. 2019): shows what the choice of
         keys is worth. L counts real keys, special tokens included, but not padding nor, in causal models, later keys.
mean     its mean output over a reference corpus, the same at every position: shows what it adds beyond a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture.operation import from_call
from regard.capture.outputs import Behind, Place
from regard.capture.rebuild import visible_keys
from regard.capture.tap import Call
from regard.trace.heads import MODES, Head

Means = Mapping[tuple[str, int], Any]  # (kind, layer) -> (H, e) mean outputs of its heads


class Ablation:
    """An edit that switches heads off, the same ones in all rows of a batch or different ones in each row.

    Parameters
    ----------
    rows
        The heads to switch off: one collection for any batch, or one per row of the batch.
    mode
        "zero", "uniform" or "mean".
    means
        (kind, layer) -> (H, e) mean outputs, for mode "mean"; see `regard.models.ablated.head_means`.
    """

    def __init__(self, rows: Sequence[Iterable[Head]], mode: str = "zero", means: Means | None = None) -> None:
        if mode not in MODES:
            raise UserError(f"there is no mode {mode!r}; choose from {', '.join(MODES)}")
        if mode == "mean" and means is None:
            raise UserError('mode "mean" needs a reference: pass means=model.head_means(texts)')
        self.rows = tuple(tuple(heads) for heads in rows)
        self.mode = mode
        self.means = means
        self.layers = frozenset((head.kind, head.layer) for heads in self.rows for head in heads)
        self._picked: dict[tuple[Place, int, torch.device], tuple[torch.Tensor, torch.Tensor]] = {}

    @property
    def heads(self) -> tuple[Head, ...]:
        """All heads that are off in at least one row."""
        return tuple(dict.fromkeys(head for heads in self.rows for head in heads))

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor | None:
        """The output (B, Q, H, e) with the heads of this place switched off; None if there are none."""
        if not isinstance(call, Call) and len(self.rows) > 1:
            raise UserError("different heads in each row need a model that uses transformers' attention interface")
        rows, heads = self._pairs(place, out)
        if not len(rows):
            return None
        if call is not None and self.mode != "uniform":
            call.off |= set(zip(rows.tolist(), heads.tolist(), strict=True))
        edited = out.clone()
        edited[rows, :, heads] = self._instead(place, out, call, rows, heads)  # (n, Q, e)
        return edited

    def _pairs(self, place: Place, out: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(n,) rows of the batch and (n,) heads that are off in them."""
        key = (place, out.shape[0], out.device)
        if key not in self._picked:
            per_row, left = divmod(out.shape[0], len(self.rows))  # windows of an image take the place of one row
            if left:
                raise UserError(f"there are heads for {len(self.rows)} rows, but the batch has {out.shape[0]}")
            found = [
                (row * per_row + window, one.head)
                for row, heads in enumerate(self.rows)
                for one in heads
                if (one.kind, one.layer) == place[:2]
                for window in range(per_row)
            ]
            pairs = torch.tensor(found, dtype=torch.long, device=out.device).reshape(-1, 2)
            self._picked[key] = (pairs[:, 0], pairs[:, 1])
        return self._picked[key]

    def _instead(
        self, place: Place, out: torch.Tensor, call: Behind, rows: torch.Tensor, heads: torch.Tensor
    ) -> torch.Tensor:
        """What replaces the output of these heads, (n, Q, e) or broadcast to it."""
        if self.mode == "zero":
            return out.new_zeros(())
        if self.mode == "uniform":
            if not isinstance(call, Call):
                raise UserError(
                    'mode "uniform" needs the value vectors, which only models that use transformers\' attention '
                    'interface show; use "zero" or "mean" for this one'
                )
            return _uniform(call, rows, heads).to(out.dtype)
        assert self.means is not None
        means = self.means.get(place[:2])
        if means is None or np.shape(means) != (place.heads, out.shape[-1]):
            raise UserError(
                f"there are no mean outputs of shape {(place.heads, out.shape[-1])} for {place.kind} layer "
                f"{place.layer}; take them from this model with model.head_means(texts)"
            )
        return torch.as_tensor(means, dtype=out.dtype, device=out.device)[heads][:, None]


def _uniform(call: Call, rows: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """(n, Q, e) means of the value vectors that each query may see; the call records which maps became uniform."""
    operation = from_call(call, "", "")
    assert operation.v is not None
    shape = (operation.batch, operation.heads, operation.queries, operation.keys)
    seen = visible_keys(operation).expand(shape)[rows, heads]  # (n, Q, K)
    weights = seen / seen.sum(-1, keepdim=True).clamp(min=1)
    groups = heads * operation.v.shape[1] // operation.heads
    before = call.uniform
    call.uniform = (rows, heads) if before is None else (torch.cat([before[0], rows]), torch.cat([before[1], heads]))
    return weights.to(operation.v.dtype) @ operation.v[rows, groups]  # (n, Q, K) @ (n, K, e)
