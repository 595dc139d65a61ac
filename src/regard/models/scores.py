"""The scores of a head in one text, split over what made its queries and keys.

Enters: a plain and a frozen run up to the head's layer. Leaves: the components of both sides of a look, and how well
removing them for real agrees with their shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import UserError
from regard.capture.copies import repeated
from regard.capture.frozen import FrozenRun, TakenOut, removed_run
from regard.capture.operation import Operation
from regard.capture.rebuild import attention_of, visible_keys
from regard.capture.shares import Shares, StreamPart, shares_of
from regard.measures.ranks import spearman
from regard.models.reread import Reread
from regard.models.splitting import NEAR, Agreement, Brought, Component, component_of, require_sum, sides_of
from regard.trace.heads import Head
from regard.trace.sentences import refusal
from regard.trace.site import KINDS

if TYPE_CHECKING:
    from regard.models.engine import Engine
    from regard.trace.tokens import Side, Token

TRIED = 24  # parts removed for real: half of them the largest, half drawn from the others
AT_ONCE = 2048  # tokens of all rows that run at once while parts are removed
SOURCES = 5  # tokens named of what a head brought


@dataclass(eq=False)
class SplitLook:
    """A look from a query to a key: (K,) scores q.k, what position adds, weights, visible keys, and three splits.

    `by_key` splits q_i.k_j over what made k_j, for all j at once; `by_query` q_i.k_j over what made q_i, and `centred`
    the same for k_j minus the mean of the visible keys.
    """

    query: int
    key: int
    scores: torch.Tensor
    bias: torch.Tensor
    weights: torch.Tensor
    visible: torch.Tensor
    by_key: Shares
    by_query: Shares
    centred: Shares
    error: float


class SplitScores:
    """The runs of one text up to a head's layer, ready to split any of its scores."""

    def __init__(self, engine: Engine, head: Head, true: Operation, run: FrozenRun, sides: Mapping[str, Side]) -> None:
        target = run.target
        assert target is not None and target.q is not None and target.k is not None
        self.engine, self.head, self.true, self.run, self.sides = engine, head, true, run, sides
        self.scale = target.scale
        self.q, self.k = target.q[0, head.head], _keys(target, head.head)  # (Q, d), (K, d)

    def look(self, query: int, key: int | None) -> SplitLook:
        """Split the score of a query and a key, or of the key that the query looks at most."""
        weights, visible = attention_of(self.true)[0, self.head.head, query], self._visible(query)  # (K,)
        key = int(weights.argmax()) if key is None else key
        if not visible[key]:
            raise UserError(refusal("split_unseen", query=query, key=key))
        scores, bias = self._true_scores(query, visible)
        by_key = shares_of(self.run, self.scale * (self.q[query].detach() * self.k[visible]).sum())
        error = require_sum(self.engine, by_key.total()[visible], scores[visible])
        by_query = shares_of(self.run, self.scale * (self.q[query] * self.k[key].detach()).sum())
        require_sum(self.engine, by_query.total()[query], scores[key], scores[visible].abs().max())
        centred = shares_of(self.run, self.scale * (self.q[query] * self._above_mean(key, visible)).sum())
        return SplitLook(query, key, scores, bias, weights, visible, by_key, by_query, centred, error)

    def key_components(self, look: SplitLook) -> tuple[Component, ...]:
        """What made the key, with the whole query; by the size of the row-centred share."""
        shares = dict(look.by_key.of)
        if bool(look.bias.any()):
            shares[StreamPart("bias")] = look.bias
        found = {
            part: (float(share[look.key]), float(share[look.key] - share[look.visible].mean()))
            for part, share in shares.items()
        }
        return self._components(found, look.by_key, look.key)

    def query_components(self, look: SplitLook) -> tuple[Component, ...]:
        """What made the query, with the whole key."""
        found = {
            part: (float(share[look.query]), float(look.centred.of[part][look.query]))
            for part, share in look.by_query.of.items()
        }
        return self._components(found, look.by_query, look.query)

    def agreements(self, look: SplitLook, ready: dict[str, Any]) -> tuple[Agreement | None, Agreement | None]:
        """How removing parts of the key, and of the query, for real agrees with their shares."""
        key, query = look.key, look.query
        across = self._above_mean(key, look.visible)
        return (
            self._agreement(look.by_key, key, ready, self.k[key].detach(), self.q[query].detach(), "k"),
            self._agreement(look.centred, query, ready, self.q[query].detach(), across, "q"),
        )

    def _components(
        self, found: Mapping[StreamPart, tuple[float, float]], shares: Shares, position: int
    ) -> tuple[Component, ...]:
        layout = self.engine.layout()
        order = sorted(found, key=lambda part: -abs(found[part][1]))
        made = []
        for part in order:
            one = replace(component_of(part, layout), score=found[part][0], centred=found[part][1])
            made.append(one if part.kind != "head" else replace(one, sources=self._sources(shares, part, position)))
        return tuple(made)

    def _sources(self, shares: Shares, part: StreamPart, position: int) -> tuple[Brought, ...]:
        """The tokens from which a head brought most of its share, of those that it can see."""
        values = shares.sources(part, position)
        tokens = self._read_by(part)
        order = values.abs().argsort(descending=True)[:SOURCES].tolist()
        return tuple(Brought(number, tokens[number].text, float(values[number])) for number in order if values[number])

    def _read_by(self, part: StreamPart) -> Sequence[Token]:
        assert part.attention in KINDS
        return sides_of(self.sides, part.attention)[1]

    def _above_mean(self, key: int, visible: torch.Tensor) -> torch.Tensor:
        """(d,) a key minus the mean of the visible keys."""
        fixed = self.k.detach()
        return fixed[key] - fixed[visible].mean(0)

    def _visible(self, query: int) -> torch.Tensor:
        """(K,) booleans: the keys that the query may see."""
        return self._row(visible_keys(self.true), query)

    def _row(self, table: torch.Tensor, query: int) -> torch.Tensor:
        """(K,) of a table that is (B, H, Q, K) or broadcast to it."""
        true = self.true
        return table.expand(1, true.heads, true.queries, true.keys)[0, self.head.head, query]

    def _true_scores(self, query: int, visible: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(K,) scores q.k that the model itself computes, and (K,) what position adds to them."""
        assert self.true.q is not None
        scores = self.scale * (_keys(self.true, self.head.head).float() @ self.true.q[0, self.head.head, query].float())
        bias = torch.zeros_like(scores)
        for extra in (self.true.bias, self.true.mask):
            if extra is not None and extra.dtype != torch.bool:
                bias = bias + self._row(extra, query).float().where(visible, bias.new_zeros(()))
        return scores, bias

    def _agreement(
        self, shares: Shares, position: int, ready: dict[str, Any], own: torch.Tensor, other: torch.Tensor, which: str
    ) -> Agreement | None:
        parts = _tried(shares, position)
        if len(parts) < 3:
            return None
        removals = [TakenOut(shares.leaves[part], part.head, position) for part in parts]
        vectors = self._removed(removals, ready, which, own)  # (parts, d)
        change = self.scale * ((own - vectors) @ other)  # (parts,): what each was worth
        given = torch.stack([shares.of[part][position] for part in parts])
        most = int(change.argmax())
        first = component_of(parts[most], self.engine.layout())
        rho = spearman(given.cpu().numpy(), change.float().cpu().numpy())
        return Agreement(rho, len(parts), first, float(change[most]))

    def _removed(
        self, removals: Sequence[TakenOut], ready: dict[str, Any], which: str, own: torch.Tensor
    ) -> torch.Tensor:
        """(removals, d) keys or queries at the one position of runs that each lack a part.

        A causal model reads that position alone, on top of what came before, if that gives its own vector where nothing
        is removed. Others read the whole text, few rows at a time where it is long.
        """
        if (before := Reread.of(self.engine, ready, removals[0].position)) is not None:
            last = [TakenOut((), None, 0), *(one._replace(position=0) for one in removals)]
            found = self._vectors(before.inputs(len(last)), last, which)[:, -1]
            if torch.allclose(found[0], own, rtol=0, atol=NEAR * float(own.abs().max())):
                return found[1:]
        step = max(1, AT_ONCE // max(len(self.q), len(self.k)))
        some = [removals[start : start + step] for start in range(0, len(removals), step)]
        rows = [self._vectors(repeated(ready, len(part)), part, which)[:, part[0].position] for part in some]
        return torch.cat(rows)

    def _vectors(self, inputs: dict[str, Any], removals: Sequence[TakenOut], which: str) -> torch.Tensor:
        """(removals, T, d) keys or queries of a batch whose rows each lack a part."""
        engine, number, place = self.engine, self.head.head, (self.head.kind, self.head.layer)
        run = removed_run(engine.module, inputs, engine.plan(), engine.places(), place, removals)
        assert run.q is not None
        return _keys(run, number, None) if which == "k" else run.q[:, number]


def _keys(operation: Operation, head: int, row: int | None = 0) -> torch.Tensor:
    """(K, d) keys that a head reads, of one row of the batch or of all."""
    assert operation.k is not None
    group = head * operation.k.shape[1] // operation.heads
    return operation.k[:, group] if row is None else operation.k[row, group]


def _tried(shares: Shares, position: int) -> list[StreamPart]:
    """The parts to remove: the largest, and some of the others, drawn with a fixed seed."""
    parts = [part for part in shares.of if part.kind != "biases"]
    parts.sort(key=lambda part: -abs(float(shares.of[part][position])))
    half = TRIED // 2
    rest = parts[half:]
    drawn = torch.randperm(len(rest), generator=torch.Generator().manual_seed(0))[:half].tolist()
    return [*parts[:half], *(rest[number] for number in drawn)]
