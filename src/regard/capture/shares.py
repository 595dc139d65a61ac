"""Shares: how much of a number each part of a frozen run made, and what a head's share brought from where.

Enters: a frozen run and a number computed from it. Leaves: shares by part and position, which add up to the number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from regard.base.errors import UserError
from regard.capture.frozen import HEADS, MLP, FrozenRun, Leaf
from regard.capture.rebuild import attention_of, repeat_heads
from regard.trace.sentences import refusal


class StreamPart(NamedTuple):
    """Something that was added to the stream: a head, an MLP, an embedding, or all biases together.

    `kind` is "head", "mlp", "word", "position", "segment" or "biases"; `attention` the kind of attention of a head, or
    of the layer of an MLP.
    """

    kind: str
    attention: str | None = None
    layer: int | None = None
    head: int | None = None


@dataclass(eq=False)
class Shares:
    """(T,) shares of each part, by the position at which it was added; and the gradients of heads, for sources."""

    run: FrozenRun
    of: dict[StreamPart, torch.Tensor]
    leaves: dict[StreamPart, tuple[int, ...]]  # numbers of the leaves that a part is made of
    gradients: dict[tuple[str, int], torch.Tensor]  # (kind, layer) -> (T, H, e)
    _rows: dict[tuple[tuple[str, int], int], torch.Tensor] = field(default_factory=dict)

    def total(self) -> torch.Tensor:
        """(T,) sums over all parts."""
        return torch.stack(list(self.of.values())).sum(0)

    def sources(self, part: StreamPart, position: int) -> torch.Tensor:
        """(K,) shares of the tokens that a head read at a position; they add up to its share there."""
        attention, layer, head = part.attention, part.layer, part.head
        assert attention is not None and layer is not None and head is not None
        place = (attention, layer)
        if (place, position) not in self._rows:
            operation = self.run.operations[place]
            assert operation.v is not None
            weights = attention_of(operation)[0, :, position]  # (H, K)
            values = repeat_heads(operation.v, operation.heads)[0].float()  # (H, K, e)
            along = torch.einsum("hke,he->hk", values, self.gradients[place][position])
            self._rows[place, position] = weights * along
        return self._rows[place, position][head]


def shares_of(run: FrozenRun, number: torch.Tensor) -> Shares:
    """The share of every part in a number; leaves that it does not depend on have none."""
    values = [leaf.value for leaf in run.leaves]
    gradients: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
        number, values, retain_graph=True, allow_unused=True
    )
    found = Shares(run, {}, {}, {})
    for index, (leaf, gradient) in enumerate(zip(run.leaves, gradients, strict=True)):
        if gradient is None:
            continue
        products = (gradient.float() * leaf.value.detach().float()).sum(-1)[0]  # (T,), of heads (T, H)
        for part, share in _parts(leaf, products):
            if part in found.of and len(found.of[part]) != len(share):
                raise UserError(refusal("split_flat"))
            found.of[part] = found.of[part] + share if part in found.of else share
            found.leaves[part] = (*found.leaves.get(part, ()), index)
        if leaf.kind == HEADS:
            assert leaf.place is not None
            found.gradients[leaf.place[:2]] = gradient[0].float()
    if len({len(share) for share in found.of.values()}) != 1:
        raise UserError(refusal("split_flat"))
    return found


def _parts(leaf: Leaf, products: torch.Tensor) -> Iterable[tuple[StreamPart, torch.Tensor]]:
    place = leaf.place
    if leaf.kind == HEADS:
        assert place is not None
        return [(StreamPart("head", *place[:2], head), products[:, head]) for head in range(place.heads)]
    if leaf.kind == MLP:
        assert place is not None
        return [(StreamPart("mlp", *place[:2]), products)]
    return [(StreamPart(leaf.kind), products)]
