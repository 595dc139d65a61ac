"""Edges cut while the model runs: what a head takes from a key for a query is left out, and nothing else changes.

Enters: blocks of edges. Leaves: an `EdgeCut`, an edit for `outputs`.

mask  the score is -inf, and the row's other weights grow until they sum to 1 again (Geva et al. 2023).
zero  the weight is 0, and the others stay as they are.

The model's own kernel runs; the rows with a cut are computed once more in float32, and replace its output there. A row
that is left with no key has output 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from regard.base.errors import UserError
from regard.capture.operation import Operation, operation_of
from regard.capture.outputs import Behind, Place
from regard.capture.rebuild import row_scores
from regard.trace.edges import CUTS, EdgeBlock


class EdgeCut:
    """An edit that cuts edges, the same ones in all rows of a batch or different ones in each row.

    Parameters
    ----------
    rows
        The edges to cut: one collection for any batch, or one per row of the batch.
    how
        "mask" or "zero".
    family
        The model's type.
    """

    def __init__(self, rows: Sequence[Sequence[EdgeBlock]], how: str = "mask", family: str = "") -> None:
        if how not in CUTS:
            raise UserError(f"there is no way {how!r} to cut; choose from {', '.join(CUTS)}")
        self.rows = tuple(tuple(blocks) for blocks in rows)
        self.how, self.family = how, family
        self.layers = frozenset(
            (head.kind, head.layer) for blocks in self.rows for block in blocks for head in block.heads
        )

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor | None:
        """The output (B, Q, H, e) with the edges of this place cut; None if there are none."""
        operation = None if call is None else operation_of(call, self.family)
        if call is None or operation is None:
            raise UserError(
                "edges of this model cannot be cut: its query, key and value vectors are hidden; "
                "switch whole heads off with ablate"
            )
        wanted = self._wanted(place, out.shape[0])
        wanted = [one for one in wanted if one[:2] not in call.off]
        if not wanted:
            return None
        edited = out.clone()
        for row, head, blocks in wanted:
            queries, cut = _rows(blocks, operation)
            edited[row, queries, head] = self._instead(operation, out, row, head, queries, cut)
            if self.how == "mask":
                call.cut.append((row, head, queries, cut))
        return edited

    def _wanted(self, place: Place, batch: int) -> list[tuple[int, int, list[EdgeBlock]]]:
        """(row of the batch, head, its blocks) at a place."""
        each, left = divmod(batch, len(self.rows))
        if left:
            raise UserError(f"there are edges for {len(self.rows)} rows, but the batch has {batch}")
        found: dict[tuple[int, int], list[EdgeBlock]] = {}
        for number, blocks in enumerate(self.rows):
            for block in blocks:
                for head in block.heads:
                    if (head.kind, head.layer) == place[:2]:
                        for row in range(number * each, (number + 1) * each):
                            found.setdefault((row, head.head), []).append(block)
        return [(*pair, blocks) for pair, blocks in found.items()]

    def _instead(
        self, operation: Operation, out: torch.Tensor, row: int, head: int, queries: torch.Tensor, cut: torch.Tensor
    ) -> torch.Tensor:
        """(n, e) outputs of the rows that a cut changes."""
        assert operation.v is not None
        values = operation.v[row, head * operation.v.shape[1] // operation.heads].float()  # (K, e)
        scores, seen = row_scores(operation, row, head, queries)
        if self.how == "zero":
            lost = (_softmax(scores, operation, head) * cut) @ values
            return (out[row, queries, head].float() - lost).to(out.dtype)
        weights = _softmax(scores.masked_fill(cut, float("-inf")), operation, head)
        return torch.where((seen & ~cut).any(-1, keepdim=True), weights @ values, 0).to(out.dtype)


def _rows(blocks: Sequence[EdgeBlock], operation: Operation) -> tuple[torch.Tensor, torch.Tensor]:
    """(n,) queries that blocks of one head concern, and (n, K) booleans: the keys that are cut from each."""
    assert operation.q is not None
    device = operation.q.device
    queries = sorted({query for block in blocks for query in block.queries})
    place = {query: number for number, query in enumerate(queries)}
    last = max(key for block in blocks for key in block.keys)
    if queries[-1] >= operation.queries or last >= operation.keys:
        raise UserError(
            f"there is no line from position {queries[-1]} to {last}: this text has {operation.queries} queries and "
            f"{operation.keys} keys, from 0"
        )
    cut = torch.zeros(len(queries), operation.keys, dtype=torch.bool)
    for block in blocks:
        places = torch.tensor([place[query] for query in block.queries])
        cut[places[:, None], torch.tensor(block.keys)[None]] = True
    return torch.tensor(queries, device=device), cut.to(device)


def _softmax(scores: torch.Tensor, operation: Operation, head: int) -> torch.Tensor:
    """(n, K) weights of (n, K) scores; a row without any key gets 0."""
    if operation.sink is not None:
        sink = operation.sink[head].float().reshape(1, 1).expand(len(scores), 1)
        return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[:, :-1]
    return torch.nan_to_num(torch.softmax(scores, dim=-1))
