"""A site: one attention operation that ran, kept as its causes (q, k and whatever else enters the softmax).

Enters: arrays of one example. Leaves: scores, rows, tiles or whole maps, computed on demand:

    A[i, j] = exp(softcap(scale * q_i . k_j) + bias_ij + mask_ij - lse_i)

Long on purpose: rows, tiles, maps and norms of one attention operation share its formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from regard.base.errors import OutOfRangeError, UserError
from regard.trace.mask import Mask

Array = np.ndarray[Any, Any]
KINDS = ("encoder", "decoder", "cross")  # of attention
Positions = int | slice | Sequence[int] | Array | None

SURE = 0.95  # weights above which renormalising is no small change, and only the exact cut tells
# Rows of scores held at once while log-sum-exps are computed: bounds memory to 2**22 floats (16 MB) per head.
_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Site:
    """One attention operation: its heads' q, k, v and whatever else decides where they look.

    Shapes, for H heads, G key-value heads, Q queries and K keys: q (H, Q, d), k (G, K, d), v (G, K, e),
    lse (H, Q), norms (H, K), gram (H, e, e) = W_O^h W_O^hᵀ, bias (H or 1, Q, K) or, when it depends on
    key - query alone, (H or 1, Q + K - 1); sink (H,); maps (H, Q, K) instead of q and k for families where those
    are not available. `head_ids` are the heads' numbers in the model.

    `kind`, `layer` and `part` say which operation it is, `path` which module ran it, `query_side` and `key_side` over
    which tokens. Scores are multiplied by `scale`, bounded by `softcap` and hidden by `mask`. `known_lse` and
    `known_norms` hold precomputed values, `no_norms` says why there are none. `parts` names the parts that q and k are
    exact sums of, in `qparts` and `kparts` (P, H, positions, d). `g` (H, Q, e) is the gradient of a number of the
    model's output by each head's output o, `go` (H, Q) the product g . o.
    """

    kind: str
    layer: int
    query_side: str
    key_side: str
    head_ids: tuple[int, ...]
    part: int = 0
    path: str = ""
    scale: float = 1.0
    mask: Mask = field(default_factory=Mask)
    softcap: float | None = None
    q: Array | None = None
    k: Array | None = None
    v: Array | None = None
    bias: Array | None = None
    sink: Array | None = None
    gram: Array | None = None
    maps: Array | None = None
    known_lse: Array | None = None
    known_norms: Array | None = None
    no_norms: str = ""  # with its code, where it is one of trace/sentences.json
    parts: tuple[str, ...] = ()
    qparts: Array | None = None
    kparts: Array | None = None
    g: Array | None = None
    go: Array | None = None

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.head_ids)

    @property
    def kv_heads(self) -> int:
        """The number of key-value heads that serve them."""
        return self.heads if self.k is None else int(self.k.shape[0])

    @property
    def queries(self) -> int:
        """The number of queries."""
        first = self.q if self.q is not None else self.maps
        assert first is not None
        return int(first.shape[1])

    @property
    def keys(self) -> int:
        """The number of keys."""
        return int(self.k.shape[1] if self.k is not None else self.maps.shape[2])  # type: ignore[union-attr]

    def index(self, head: int) -> int:
        """The index of a head in the arrays; heads keep their numbers from the model."""
        try:
            return self.head_ids.index(head)
        except ValueError:
            raise OutOfRangeError(
                f"layer {self.layer} has heads {ranges(self.head_ids)} here, not {head}; heads count from 0"
            ) from None

    def group(self, index: int) -> int:
        """The key-value head that serves the head at `index` (grouped-query attention shares them)."""
        return index * self.kv_heads // self.heads

    @cached_property
    def lse(self) -> Array:
        """(H, Q) log-sum-exp of each row's scores, the sink included."""
        if self.known_lse is not None:
            return self.known_lse
        return np.stack([self._lse(index) for index in range(self.heads)])

    def row_lse(self, index: int) -> Array:
        """(Q,) log-sum-exp of one head's rows, computed once."""
        if self.known_lse is not None:
            return np.asarray(self.known_lse[index], dtype=np.float32)
        cache: dict[int, Array] = self.__dict__.setdefault("_lse_of", {})
        if index not in cache:
            cache[index] = self._lse(index)
        return cache[index]

    def _lse(self, index: int) -> Array:
        keys = np.arange(self.keys)
        step = max(1, _CHUNK // max(1, self.keys))
        parts = [
            self._chunk_lse(self._scores(index, np.arange(start, min(start + step, self.queries)), keys), index)
            for start in range(0, self.queries, step)
        ]
        return np.concatenate(parts)

    def _chunk_lse(self, scores: Array, index: int) -> Array:
        top = scores.max(axis=-1)
        if self.sink is not None:
            top = np.maximum(top, self.sink[index])
        finite = np.where(np.isfinite(top), top, np.float32(0))
        total = np.exp(scores - finite[:, None]).sum(axis=-1)
        if self.sink is not None:
            total = total + np.exp(self.sink[index] - finite)
        with np.errstate(divide="ignore"):  # a row without any allowed key has lse -inf
            return np.asarray(np.log(total) + finite, dtype=np.float32)

    def _scores(self, index: int, queries: Array, keys: Array) -> Array:
        """(queries, keys) scores of one head; keys that may not be seen are -inf."""
        if self.q is None or self.k is None:
            raise UserError(
                f"scores, q and k of layer {self.layer} are not available: this trace holds attention maps only "
                "(the model's family gives no access to q and k, or the maps came from elsewhere)"
            )
        q = np.asarray(_take(self.q[index], queries), dtype=np.float32)
        k = np.asarray(_take(self.k[self.group(index)], keys), dtype=np.float32)
        scores = (q @ k.T) * np.float32(self.scale)  # (Q, d) @ (d, K) -> (Q, K)
        if self.softcap is not None:
            scores = np.tanh(scores / np.float32(self.softcap)) * np.float32(self.softcap)
        if self.bias is not None:
            scores = scores + self._bias(index, queries, keys)
        allowed = self.mask.allowed(queries, keys, index)
        return scores if allowed is None else np.where(allowed, scores, np.float32(-np.inf))

    def _bias(self, index: int, queries: Array, keys: Array) -> Array:
        assert self.bias is not None
        bias = self.bias[index if self.bias.shape[0] > 1 else 0]
        if bias.ndim == 1:
            return np.asarray(bias[keys[None, :] - queries[:, None] + self.queries - 1])
        return np.asarray(bias[np.ix_(queries, keys)])

    def scores(self, index: int, queries: Positions = None, keys: Positions = None) -> Array:
        """(queries, keys) scores before softmax of the head at `index`."""
        return self._scores(index, positions(queries, self.queries), positions(keys, self.keys))

    def attention(self, index: int, queries: Positions = None, keys: Positions = None) -> Array:
        """(queries, keys) attention of the head at `index`: the whole map, rows or a tile of it."""
        rows, columns = positions(queries, self.queries), positions(keys, self.keys)
        if self.maps is not None:
            return np.asarray(_take(_take(self.maps[index], rows).T, columns).T, dtype=np.float32)
        scores = self._scores(index, rows, columns)
        # Whole rows are summed here: a kernel's own log-sum-exp is accurate only to 1e-5.
        lse = self._chunk_lse(scores, index) if keys is None else self.row_lse(index)[rows]
        seen = ~np.isneginf(lse)[:, None]  # rows that see nothing are 0; NaN stays NaN
        return np.asarray(np.exp(np.where(seen, scores - np.where(seen, lse[:, None], 0), -np.inf)))

    def visible(self, index: int, queries: Positions = None, keys: Positions = None) -> Array:
        """(queries, keys) booleans: what the head at `index` may see."""
        rows, columns = positions(queries, self.queries), positions(keys, self.keys)
        allowed = self.mask.allowed(rows, columns, index)
        return np.ones((len(rows), len(columns)), bool) if allowed is None else allowed

    def worth(self, index: int, queries: Positions = None, keys: Positions = None, how: str = "mask") -> Array:
        """(queries, keys) estimates of what cutting each edge takes from the output; see `Trace.worth`."""
        if self.g is None or self.go is None or self.v is None:
            raise UserError(f"layer {self.layer} has no worth; trace the text with worth=True")
        rows, columns = positions(queries, self.queries), positions(keys, self.keys)
        weights = self.attention(index, queries, keys)
        g = np.asarray(self.g[index][rows], np.float32)
        gv = g @ np.asarray(self.v[self.group(index)][columns], np.float32).T  # g_i . v_j = dm / dA_ij
        if how == "zero":
            return np.asarray(weights * gv)
        if how != "mask":
            raise UserError(f"there is no way {how!r} to cut; choose from mask, zero")
        with np.errstate(divide="ignore", invalid="ignore"):
            found = weights / (1 - weights) * (gv - self.go[index][rows, None])
        return np.asarray(np.where(weights > SURE, np.nan, found), np.float32)

    def attribution(self, index: int, queries: Positions = None, keys: Positions = None) -> Array:
        """(P, P, queries, keys): the scores of a head as a sum over pairs of a query part and a key part."""
        if self.qparts is None or self.kparts is None:
            raise UserError(
                f"layer {self.layer} has no attribution; trace the first layer of a BERT-type model with "
                "attribution=True"
            )
        q = self.qparts[:, index, positions(queries, self.queries)]  # (P, Q, d)
        k = self.kparts[:, index, positions(keys, self.keys)]  # (P, K, d)
        return np.asarray(np.einsum("aid,bjd->abij", q, k) * np.float32(self.scale))

    def block(self, rows: slice = slice(None), out: Array | None = None) -> Array:
        """(H, rows, K) attention of all heads for a run of queries, in one product: for measures of whole layers.

        Faster than head by head, and accurate to 1e-5 where the kernel's own log-sum-exp is used. `out`, if given, is
        filled and returned.
        """
        queries, keys = np.arange(self.queries)[rows], np.arange(self.keys)
        result = np.empty((self.heads, len(queries), len(keys)), np.float32) if out is None else out
        if self.maps is not None:
            result[:] = self.maps[:, rows]
        elif self.q is None or self.k is None or self.softcap is not None or self.bias is not None:
            for index in range(self.heads):
                result[index] = self.attention(index, queries)
        else:
            self._fill_scores(result, rows, queries, keys)
            _softmax(result, None if self.known_lse is None else self.known_lse[:, rows], self.sink)
        return result

    def _fill_scores(self, result: Array, rows: slice, queries: Array, keys: Array) -> None:
        """(H, rows, K) scores; heads that share keys are computed in one product."""
        assert self.q is not None and self.k is not None
        q = np.asarray(self.q[:, rows], dtype=np.float32) * np.float32(self.scale)
        k = np.asarray(self.k, dtype=np.float32)
        grouped = q.reshape(self.kv_heads, -1, q.shape[-1])  # (G, H/G * Q, d)
        np.matmul(grouped, k.transpose(0, 2, 1), out=result.reshape(self.kv_heads, -1, len(keys)))
        hidden = [self.mask.allowed(queries, keys, index) for index in range(self.mask_heads)]
        if hidden[0] is not None:
            result += np.where(np.stack([h for h in hidden if h is not None]), np.float32(0), np.float32(-np.inf))

    @property
    def mask_heads(self) -> int:
        """The number of heads in the mask: one, unless it is a table per head."""
        table = self.mask.table
        return 1 if table is None or table.ndim == 2 else self.heads

    @cached_property
    def norms(self) -> Array | None:
        """(H, K) lengths of what each key's value adds to the output, ||f(x_j)|| (Kobayashi et al. 2020)."""
        if self.known_norms is not None:
            return self.known_norms
        if self.v is None or self.gram is None:
            return None
        v = np.stack([self.v[self.group(i)] for i in range(self.heads)]).astype(np.float32)  # (H, K, e)
        squares = np.einsum("hke,hke->hk", v @ self.gram, v)  # (H, K, e) @ (H, e, e) -> (H, K, e)
        return np.asarray(np.sqrt(np.maximum(squares, 0)), dtype=np.float32)

    def select(self, heads: Sequence[int]) -> Site:
        """The same site with some of its heads; shared keys are repeated for each head."""
        picked = [self.index(head) for head in heads]
        groups = [self.group(i) for i in picked]

        def per_head(array: Array | None) -> Array | None:
            return None if array is None else array[picked if array.shape[0] == self.heads else [0] * len(picked)]

        table = self.mask.table
        return replace(
            self,
            head_ids=tuple(heads),
            q=per_head(self.q),
            k=None if self.k is None else self.k[groups],
            v=None if self.v is None else self.v[groups],
            bias=per_head(self.bias),
            sink=per_head(self.sink),
            gram=per_head(self.gram),
            maps=per_head(self.maps),
            known_lse=per_head(self.known_lse),
            known_norms=per_head(self.known_norms),
            qparts=None if self.qparts is None else self.qparts[:, picked],
            kparts=None if self.kparts is None else self.kparts[:, picked],
            g=per_head(self.g),
            go=per_head(self.go),
            mask=self.mask if table is None or table.ndim == 2 else Mask(table=per_head(table)),
        )


def _softmax(scores: Array, lse: Array | None, sink: Array | None) -> None:
    """Turn (H, Q, K) scores into attention, in place."""
    if lse is not None and np.isfinite(lse).all():
        np.exp(np.subtract(scores, lse[..., None], out=scores), out=scores)
        return
    top = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        top = np.maximum(top, sink[:, None, None])
    top[~np.isfinite(top)] = 0
    np.exp(np.subtract(scores, top, out=scores), out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    if sink is not None:
        total += np.exp(sink[:, None, None] - top)
    total[total == 0] = 1  # a row that sees nothing
    scores /= total


def positions(chosen: Positions, length: int) -> Array:
    """Indices of the chosen positions; negative ones count from the end."""
    if chosen is None:
        return np.arange(length)
    if isinstance(chosen, slice):
        return np.arange(length)[chosen]
    indices = np.atleast_1d(np.asarray(chosen, dtype=np.int64))
    if indices.size and (indices.min() < -length or indices.max() >= length):
        raise OutOfRangeError(f"position {int(indices.max())} is out of range: there are {length} positions, from 0")
    return np.where(indices < 0, indices + length, indices)


def _take(array: Array, rows: Array) -> Array:
    """Rows of an array, without a copy if they are contiguous."""
    if rows.size and rows[-1] - rows[0] == rows.size - 1 and (np.diff(rows) == 1).all():
        return array[rows[0] : rows[-1] + 1]
    return array[rows]


def ranges(numbers: Sequence[int]) -> str:
    """0 to 5, or 0, 2, 7."""
    if list(numbers) == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
