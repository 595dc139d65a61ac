"""q and k in few bits: every dimension of every head gets only the width that the scores need.

Enters: vectors and how much an error in each dimension matters. Leaves: runs of bits, and what they stand for.
docs/reference/wire.md specifies the layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regard.trace.site import Array, Site

WIDEST = 24  # bits; as many as a float32 has
# Weights computed from packed vectors are off by the error of their score. Below this root mean square they keep
# three significant digits.
_SCORE_ERROR = 1e-3
PATCH_ERROR = 3e-3  # of scores of patches, of which there are many: their weights are looked at over the picture
_WORTH_ERROR = 5e-3  # of products g . v, relative to their root mean square: worth is drawn, not read
_PART_ERROR = 5e-3  # parts of scores are shown in a small table, to two digits


class Packed(NamedTuple):
    """Vectors (H, T, d) as bits: number = low + code * step, `width` bits per code, (H, d) each."""

    bits: bytes
    low: Array
    step: Array
    width: Array
    values: Array  # (H, T, d) as a reader sees them


def pack_site(site: Site, error: float = _SCORE_ERROR) -> tuple[Packed, Packed]:
    """q and k of a site, packed so that the scores of each head are accurate to `error` (root mean square)."""
    assert site.q is not None and site.k is not None
    q, k = np.asarray(site.q, np.float32), np.asarray(site.k, np.float32)
    q_size, k_size = np.square(q).mean(axis=1), np.square(k).mean(axis=1)  # (H, d), (G, d)
    groups = np.array([site.group(i) for i in range(site.heads)])
    # An error in q is multiplied by k, and vice versa; shared keys suit the head that needs the most precision.
    worst = np.stack([q_size[groups == g].max(axis=0) for g in range(site.kv_heads)])
    budget = (error / abs(site.scale)) ** 2 / 2  # of variance, half for q and half for k
    return pack(q, k_size[groups], budget), pack(k, worst, budget)


def pack_parts(site: Site, qparts: Array, kparts: Array) -> tuple[Packed, Packed]:
    """Parts of q and k, (parts * H, positions, d) each, packed like these."""
    assert site.q is not None and site.k is not None
    groups = [site.group(i) for i in range(site.heads)]
    k_size, q_size = (np.square(np.asarray(a, np.float32)).mean(axis=1) for a in (site.k[groups], site.q))
    times = len(qparts) // site.heads
    budget = (_PART_ERROR / abs(site.scale)) ** 2 / 2
    return pack(qparts, np.tile(k_size, (times, 1)), budget), pack(kparts, np.tile(q_size, (times, 1)), budget)


def pack_worth(site: Site) -> tuple[Packed, Packed]:
    """v and g of a site, packed so that the products g . v of each head are accurate to 0.5 % of their own size."""
    assert site.v is not None and site.g is not None
    v, g = np.asarray(site.v, np.float32), np.asarray(site.g, np.float32)
    groups = np.array([site.group(i) for i in range(site.heads)])
    v_size, g_size = np.square(v).mean(axis=1), np.square(g).mean(axis=1)  # (G, e), (H, e)
    unit = np.sqrt(np.maximum((v_size[groups] * g_size).sum(-1, keepdims=True), 1e-30))  # (H, 1) of g . v
    worst = np.stack([(g_size / unit**2)[groups == g].max(axis=0) for g in range(site.kv_heads)])
    return pack(v, worst, _WORTH_ERROR**2 / 2), pack(g, v_size[groups] / unit**2, _WORTH_ERROR**2 / 2)


def pack(vectors: Array, weight: Array, budget: float) -> Packed:
    """Pack (H, T, d) vectors so that error variance times weight (H, d), summed over dimensions, stays in budget."""
    low = _bfloat(vectors.min(axis=1), upwards=False)
    span = vectors.max(axis=1) - low  # (H, d)
    width = _widths(span, weight, budget)
    most = (1 << width.astype(np.int64)) - 1  # the largest code
    step = _bfloat(span / np.maximum(most, 1), upwards=True)
    divisor = np.where(step > 0, step, np.float32(1))
    codes = np.rint((vectors - low[:, None]) / divisor[:, None]).astype(np.uint32)
    codes = np.minimum(codes, most[:, None].astype(np.uint32))
    values = low[:, None] + codes.astype(np.float32) * step[:, None]
    return Packed(_to_bits(codes.transpose(0, 2, 1), width), low, step, width, values)


def unpack(data: Array, shape: tuple[int, int, int], low: Array, step: Array, width: Array) -> Array:
    """(H, T, d) vectors from the bytes of their runs."""
    heads, tokens, d = shape
    flat, codes = width.ravel(), np.zeros((heads * d, tokens), np.float32)
    starts = _starts(flat, tokens)
    for bits in np.unique(flat[flat > 0]):
        runs = np.flatnonzero(flat == bits)
        taken = data[starts[runs][:, None] + np.arange(_run_bytes(int(bits), tokens))]
        ones = np.unpackbits(taken, axis=1, bitorder="little")[:, : tokens * int(bits)].reshape(len(runs), tokens, -1)
        codes[runs] = ones @ (2.0 ** np.arange(int(bits))).astype(np.float32)
    return np.asarray(low[:, None] + codes.reshape(heads, d, tokens).transpose(0, 2, 1) * step[:, None], np.float32)


def _widths(span: Array, weight: Array, budget: float) -> Array:
    """(H, d) bits. Rounding errors are uniform: variance step**2 / 12. Each dimension may cost its share."""
    share = budget / span.shape[-1]
    need = span * np.sqrt(weight / (12 * share)) + 1  # codes that keep a dimension within its share
    width = np.clip(np.ceil(np.log2(need)), 0, WIDEST)
    # Rounding up left some budget: dimensions where one bit less costs least give one back.
    cost = (span / np.maximum(2**width - 1, 1)) ** 2 * weight / 12
    more = np.where(width > 0, (span / np.maximum(2 ** (width - 1) - 1, 0.5)) ** 2 * weight / 12 - cost, np.inf)
    order = np.argsort(more, axis=-1)
    spent = cost.sum(axis=-1, keepdims=True) + np.cumsum(np.take_along_axis(more, order, -1), axis=-1)
    fewer = np.zeros_like(width)
    np.put_along_axis(fewer, order, (spent <= budget).astype(width.dtype), -1)
    return np.asarray(width - fewer).astype(np.uint8)


def _to_bits(codes: Array, width: Array) -> bytes:
    """Runs of codes (H, d, T), each of its own width and padded to whole bytes, the first code in the lowest bits."""
    tokens = codes.shape[-1]
    flat, runs = width.ravel(), codes.reshape(-1, tokens)
    starts = _starts(flat, tokens)
    out = np.zeros(int(starts[-1]), np.uint8)
    for bits in np.unique(flat[flat > 0]):
        chosen = np.flatnonzero(flat == bits)
        packed = _packed_runs(runs[chosen], int(bits))
        out[starts[chosen][:, None] + np.arange(packed.shape[1])] = packed
    return out.tobytes()


def _packed_runs(codes: Array, bits: int) -> Array:
    """(runs, bytes) of codes (runs, T) of one width. Eight codes fill so many bytes as a code has bits."""
    runs, tokens = codes.shape
    eights = np.zeros((runs, -(-tokens // 8), 8), np.uint32)
    eights.reshape(runs, -1)[:, :tokens] = codes
    packed = np.zeros((runs, eights.shape[1], bits), np.uint8)
    for place in range(8):
        first = place * bits  # of its bits among those of the eight
        for byte in range(first // 8, (first + bits + 7) // 8):
            shift = first - 8 * byte
            code = eights[..., place]
            packed[..., byte] |= ((code << shift) if shift > 0 else (code >> -shift)).astype(np.uint8)
    return packed.reshape(runs, -1)[:, : _run_bytes(bits, tokens)]


def _starts(width: Array, tokens: int) -> Array:
    """Where each run begins, and where the last one ends, in bytes."""
    return np.concatenate([[0], np.cumsum(_run_bytes(width.astype(np.int64), tokens))])


def _run_bytes(width: Any, tokens: int) -> Any:
    return (width * tokens + 7) // 8


def _bfloat(values: Array, *, upwards: bool) -> Array:
    """Float32 numbers with the last 16 bits zero, rounded up (or down)."""
    cut = (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    beyond = cut < values if upwards else cut > values  # cutting goes towards zero
    further = (cut.view(np.uint32) + np.where(beyond, np.uint32(0x10000), np.uint32(0))).view(np.float32)
    return np.asarray(further)
