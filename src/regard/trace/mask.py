"""Masks: which keys a query may see, in the shortest form.

Enters: a rule or a table. Leaves: booleans per query and key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Mask:
    """Which keys a query may see: those with `-left <= key - query <= right`, or an explicit table.

    `left` or `right` is None if that side is open. Tables are (queries, keys) or (heads, queries, keys).
    """

    left: int | None = None
    right: int | None = None
    table: Array | None = None

    @property
    def rule(self) -> str:
        if self.table is not None:
            return "explicit"
        if self.left is None:
            return {None: "full", 0: "causal"}.get(self.right, "window")
        return "window"

    @property
    def causal(self) -> bool:
        """Whether no query sees a later key."""
        if self.table is not None:
            return not bool(np.triu(self.table, 1).any())
        return self.right == 0

    def allowed(self, queries: Array, keys: Array, head: int) -> Array | None:
        """(queries, keys) booleans, or None if everything is allowed."""
        if self.table is not None:
            table = self.table if self.table.ndim == 2 else self.table[head]
            return np.asarray(table[np.ix_(queries, keys)])
        if self.left is None and self.right is None:
            return None
        distance = keys[None, :] - queries[:, None]
        allowed = np.ones(distance.shape, dtype=bool)
        if self.left is not None:
            allowed &= distance >= -self.left
        if self.right is not None:
            allowed &= distance <= self.right
        return allowed

    @classmethod
    def from_table(cls, table: Array) -> Mask:
        """The shortest description of a boolean (queries, keys) or (heads, queries, keys) table."""
        if table.ndim == 3:
            if not (table == table[:1]).all():
                return cls(table=table)
            table = table[0]
        queries, keys = table.shape
        seen_first, seen_last = np.flatnonzero(table[0]), np.flatnonzero(table[-1])
        if not seen_first.size or not seen_last.size:
            return cls(table=table)
        right = None if seen_first[-1] == keys - 1 else int(seen_first[-1])
        left = None if seen_last[0] == 0 else int(queries - 1 - seen_last[0])
        band = cls(left, right)
        expected = band.allowed(np.arange(queries), np.arange(keys), 0)
        same = table.all() if expected is None else np.array_equal(table, expected)
        return band if same else cls(table=table)
