"""Arrays on the wire: how numbers are packed into bytes, and how exact they stay.

Enters: numpy arrays. Leaves: one little-endian buffer and, for each array, a record {dtype, shape, offset[, step]}.
docs/reference/wire.md specifies the packed types.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regard.site import Array, Site

Record = dict[str, Any]
ALIGN = 8
_PLAIN = {"f4": "<f4", "u1": "|u1", "i2": "<i2"}
_OCTAVE = 256  # codes of an l12 weight per factor of two: neighbouring codes differ by 0.27 %
_ZERO = 4095  # the l12 code of a weight below 2**-16
# Weights computed from packed vectors are wrong by the error of their score. Below this root mean square they keep
# three significant digits.
_SCORE_ERROR = 1e-3


class Buffer:
    """Collects arrays into one aligned buffer; an array that several sites share is held once."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._seen: dict[tuple[int, str], tuple[Array, Record]] = {}

    def put(self, array: Array | None, dtype: str = "f4", **more: Any) -> Record | None:
        """Hold an array as `dtype` and return its record."""
        if array is None:
            return None
        key = (id(array), dtype)
        if key not in self._seen:
            record = {"dtype": dtype, "shape": list(array.shape), "offset": self._size, **more}
            self._append(_bytes(array, dtype))
            self._seen[key] = (array, record)  # the array too, so that its id stays its own
        return self._seen[key][1]

    def put_vectors(self, array: Array, bits: int) -> Record | None:
        """Hold (H, T, d) vectors with 12, 16 or 32 bits a number, one step per head and dimension."""
        if bits == 32:
            return self.put(array)
        step = _steps(array, bits)
        codes = np.rint(np.asarray(array, np.float32) / step[..., None, :]).astype(np.int16)
        return self.put(codes, "i12" if bits == 12 else "i2", step=self.put(step))

    def _append(self, chunk: bytes) -> None:
        padding = -len(chunk) % ALIGN
        self._chunks.append(chunk + bytes(padding))
        self._size += len(chunk) + padding

    def __bytes__(self) -> bytes:
        return b"".join(self._chunks)


def bits_for(site: Site) -> int:
    """The fewest bits for q and k that keep this site's weights right to three digits: 12, 16 or 32."""
    assert site.q is not None and site.k is not None
    k = site.k[[site.group(i) for i in range(site.heads)]]
    squares = [np.square(np.asarray(a, np.float32)).mean(axis=1) for a in (site.q, k)]  # (H, d) each
    for bits in (12, 16):
        q_step, k_step = _steps(site.q, bits), _steps(k, bits)
        # Rounding errors are uniform and independent: variance step**2 / 12 in each dimension.
        variance = (q_step**2 * squares[1] + k_step**2 * squares[0]).sum(axis=1) / 12
        if site.scale * float(np.sqrt(variance.max())) <= _SCORE_ERROR:
            return bits
    return 32


def rounded(vectors: Array, bits: int) -> Array:
    """Vectors as the reader will see them after packing."""
    if bits == 32:
        return np.asarray(vectors, np.float32)
    step = _steps(vectors, bits)[..., None, :]
    return np.asarray(np.rint(np.asarray(vectors, np.float32) / step) * step, np.float32)


def read(record: Record, data: memoryview) -> Array:
    """The array of a record, unpacked to float32 where it is packed."""
    shape, start = tuple(record["shape"]), record["offset"]
    count = int(np.prod(shape, dtype=np.int64))
    dtype = record["dtype"]
    if dtype in ("i12", "l12"):
        codes = _unpack12(np.frombuffer(data, np.uint8, (count + 1) // 2 * 3, start), count).reshape(shape)
        if dtype == "l12":
            weights = np.exp2(codes / np.float32(-_OCTAVE), dtype=np.float32)
            return np.where(codes == _ZERO, np.float32(0), weights)
        return (codes.astype(np.float32) - 2048) * read(record["step"], data)[..., None, :]
    if dtype not in _PLAIN:
        raise ValueError(f"unknown dtype {dtype!r}; expected one of f4, i2, u1, i12, l12")
    array = np.frombuffer(data, _PLAIN[dtype], count, start).reshape(shape)
    return array * read(record["step"], data)[..., None, :] if "step" in record else array


def _steps(vectors: Array, bits: int) -> Array:
    """(H, d) distances between neighbouring codes; keys have outlying dimensions, so each has its own."""
    largest = np.abs(np.asarray(vectors, np.float32)).max(axis=-2)
    return np.asarray(np.maximum(largest, np.float32(1e-30)) / (2 ** (bits - 1) - 1), np.float32)


def _bytes(array: Array, dtype: str) -> bytes:
    if dtype == "i12":
        return _pack12(array.astype(np.int32) + 2048)
    if dtype == "l12":
        with np.errstate(divide="ignore"):
            codes = np.rint(np.log2(np.asarray(array, np.float32)) * -_OCTAVE)
        return _pack12(np.clip(codes, 0, _ZERO))
    return np.ascontiguousarray(array, dtype=_PLAIN[dtype]).tobytes()


def _pack12(codes: Array) -> bytes:
    """Two 12-bit codes in three bytes, the first one in the lower bits."""
    flat = codes.astype(np.uint16).ravel()
    pairs = np.pad(flat, (0, flat.size % 2)).reshape(-1, 2)
    packed = np.empty((len(pairs), 3), np.uint8)
    packed[:, 0] = pairs[:, 0] & 255
    packed[:, 1] = pairs[:, 0] >> 8 | (pairs[:, 1] & 15) << 4
    packed[:, 2] = pairs[:, 1] >> 4
    return packed.tobytes()


def _unpack12(packed: Array, count: int) -> Array:
    low, middle, high = packed.reshape(-1, 3).astype(np.uint16).T
    return np.stack([low | (middle & 15) << 8, middle >> 4 | high << 4], axis=1).ravel()[:count]
