"""What splits of scores and of logits share: components by name, tokens, and the check that they add up.

Enters: shares of a frozen run. Leaves: components as people read them, and as a page draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from regard.base.errors import UserError
from regard.capture.shares import StreamPart
from regard.trace.heads import Head, Heads, Layout, parse_heads
from regard.trace.sentences import refusal
from regard.trace.tokens import Side, Token

if TYPE_CHECKING:
    from regard.models.engine import Engine

NEAR = 1e-4  # of the largest score: how well the shares must add up
_HALF = 5e-2  # in half precision, whose sums are rounded at every step


class Brought(NamedTuple):
    """What a head brought from a token it reads."""

    position: int
    token: str
    score: float


@dataclass(frozen=True)
class Component:
    """Something that made a query or a key, and its share of the score.

    `kind` is "head", "mlp", "word", "position", "segment", "biases" or "bias" (what position adds to the score itself);
    `centred` is the share minus its mean over the visible keys, `sources` the tokens that a head read it from.
    """

    name: str
    kind: str
    attention: str | None
    layer: int | None
    head: int | None
    score: float = 0.0
    centred: float = 0.0
    sources: tuple[Brought, ...] = ()

    def as_record(self) -> dict[str, Any]:
        return {**vars(self), "sources": [one._asdict() for one in self.sources]}


@dataclass(frozen=True)
class Agreement:
    """How removing parts for real agrees with their shares: Spearman's correlation over `parts` parts.

    `first` is the part without which the score falls most, `fall` by how much.
    """

    spearman: float
    parts: int
    first: Component
    fall: float

    def as_record(self) -> dict[str, Any]:
        return {**vars(self), "first": {"name": self.first.name, "kind": self.first.kind}}


@dataclass(frozen=True)
class SplitSide:
    """A score split over one side, the other whole; components by the size of their row-centred share.

    `position` and `token` say where the vectors come from.
    """

    position: int
    token: str
    components: tuple[Component, ...]
    agreement: Agreement | None = None

    def as_record(self, count: int) -> dict[str, Any]:
        """The largest components, and the rest in one."""
        shown, rest = self.components[:count], self.components[count:]
        return {
            "position": self.position,
            "token": self.token,
            "components": [one.as_record() for one in shown],
            "rest": {
                "count": len(rest),
                "score": sum(one.score for one in rest),
                "centred": sum(one.centred for one in rest),
            },
            "agreement": None if self.agreement is None else self.agreement.as_record(),
        }


def component_of(part: StreamPart, layout: Layout) -> Component:
    """A part under the name that people read."""
    name = {"word": "word embedding", "position": "position embedding", "segment": "segment embedding"}.get(part.kind)
    several = len({kind for kind, _ in layout}) > 1
    prefix = f"{part.attention}:" if several else ""
    if part.kind == "head":
        name = f"{prefix}{part.layer}.{part.head}"
    elif part.kind == "mlp":
        name = f"{prefix}MLP {part.layer}"
    elif part.kind == "bias":
        name = "position bias"
    return Component(name or part.kind, *part)


def one_head(head: Heads, layout: Layout) -> Head:
    """The one head that is named."""
    found = parse_heads(head, layout)
    if len(found) != 1:
        raise UserError(refusal("split_one_head", count=len(found)))
    return found[0]


def sides_of(sides: Mapping[str, Side], kind: str) -> tuple[Sequence[Token], Sequence[Token]]:
    """The tokens of the queries and of the keys of a kind of attention."""
    if len(sides) == 1:
        only = next(iter(sides.values())).tokens
        return only, only
    return sides["encoder" if kind == "encoder" else "decoder"].tokens, sides[
        "decoder" if kind == "decoder" else "encoder"
    ].tokens


def require_sum(engine: Engine, sums: torch.Tensor, true: torch.Tensor, largest: torch.Tensor | None = None) -> float:
    """The largest difference between sums of shares and what the model computed, of the largest; refused if large."""
    scale = float((true.abs().max() if largest is None else largest).clamp(min=1e-6))
    error = float((sums.float() - true.float()).abs().max()) / scale
    half = next(engine.module.parameters()).dtype in (torch.float16, torch.bfloat16)
    if not error <= (_HALF if half else NEAR):
        raise UserError(refusal("split_sum", model=type(engine.module).__name__, error=f"{error:.2g}"))
    return error
