"""Arrays on the wire: how numbers become bytes, and how exact they stay.

Enters: numpy arrays. Leaves: one little-endian buffer and, for each array, a record {dtype, shape, offset, ...}.
docs/reference/wire.md specifies the packed types.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regard.base.errors import UserError
from regard.trace.site import Array
from regard.trace.trace import Trace
from regard.views.packing import Packed, unpack

Record = dict[str, Any]
ALIGN = 8
_PLAIN = {"f4": "<f4", "u1": "|u1", "b2": "<u2"}
# Codes per factor of two, and the code of zero: neighbouring codes of l12 differ by 0.27 %, those of l16 by 0.034 %.
_LOGS = {"l12": (256, 4095), "l16": (2048, 65535)}


class Buffer:
    """Collects arrays into one aligned buffer; an array that several sites share is stored once."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._seen: dict[tuple[int, str], tuple[Array, Record]] = {}

    def put(self, array: Array | None, dtype: str = "f4") -> Record | None:
        """Store an array as `dtype` and return its record."""
        if array is None:
            return None
        key = (id(array), dtype)
        if key not in self._seen:
            more = {"top": _top(array)} if dtype in _LOGS else {}
            record = self._held(_bytes(array, dtype, **more), dtype, array.shape) | more
            self._seen[key] = (array, record)  # the array too, so that its id stays its own
        return self._seen[key][1]

    def put_vectors(self, packed: Packed) -> Record:
        """Store packed (H, T, d) vectors."""
        record = self._held(packed.bits, "vec", packed.values.shape)
        return record | {
            "low": self.put(packed.low, "b2"),
            "step": self.put(packed.step, "b2"),
            "width": self.put(packed.width, "u1"),
        }

    def _held(self, chunk: bytes, dtype: str, shape: tuple[int, ...]) -> Record:
        record = {"dtype": dtype, "shape": list(shape), "offset": self._size}
        padding = -len(chunk) % ALIGN
        self._chunks.append(chunk + bytes(padding))
        self._size += len(chunk) + padding
        return record

    def __bytes__(self) -> bytes:
        return b"".join(self._chunks)


def read(record: Record, data: memoryview) -> Array:
    """The array of a record, unpacked to float32 where it is packed."""
    shape, start, dtype = tuple(record["shape"]), record["offset"], record["dtype"]
    count = int(np.prod(shape, dtype=np.int64))
    if dtype in _LOGS:
        octave, zero = _LOGS[dtype]
        codes = _unpack12(data, start, count) if dtype == "l12" else np.frombuffer(data, "<u2", count, start)
        numbers = np.exp2(codes / np.float32(-octave), dtype=np.float32) * np.float32(record["top"])
        return np.where(codes == zero, np.float32(0), numbers).reshape(shape)
    if dtype == "vec":
        low, step, width = (read(record[name], data) for name in ("low", "step", "width"))
        return unpack(np.frombuffer(data, np.uint8, offset=start), shape, low, step, width)
    if dtype not in _PLAIN:
        raise UserError(f"unknown dtype {dtype!r}; expected one of {', '.join((*_PLAIN, *_LOGS))}, vec")
    array = np.frombuffer(data, _PLAIN[dtype], count, start).reshape(shape)
    return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "b2" else array


def _bytes(array: Array, dtype: str, top: float = 1.0) -> bytes:
    if dtype in _LOGS:
        octave, zero = _LOGS[dtype]
        with np.errstate(divide="ignore"):
            codes = np.clip(np.rint(np.log2(np.asarray(array, np.float32) / np.float32(top)) * -octave), 0, zero)
        return _pack12(codes) if dtype == "l12" else codes.astype("<u2").tobytes()
    if dtype == "b2":
        return (np.asarray(array, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    return np.ascontiguousarray(array, dtype=_PLAIN[dtype]).tobytes()


def _top(array: Array) -> float:
    """The value of code 0 in an array of logarithms."""
    largest = float(np.max(array, initial=0.0))
    return float(np.float32(largest)) if largest > 0 else 1.0


def _pack12(codes: Array) -> bytes:
    """Two 12-bit codes in three bytes, the first one in the lower bits."""
    flat = codes.astype(np.uint16).ravel()
    pairs = np.pad(flat, (0, flat.size % 2)).reshape(-1, 2)
    packed = np.empty((len(pairs), 3), np.uint8)
    packed[:, 0] = pairs[:, 0] & 255
    packed[:, 1] = pairs[:, 0] >> 8 | (pairs[:, 1] & 15) << 4
    packed[:, 2] = pairs[:, 1] >> 4
    return packed.tobytes()


def _unpack12(data: memoryview, start: int, count: int) -> Array:
    packed = np.frombuffer(data, np.uint8, (count + 1) // 2 * 3, start)
    low, middle, high = packed.reshape(-1, 3).astype(np.uint16).T
    return np.stack([low | (middle & 15) << 8, middle >> 4 | high << 4], axis=1).ravel()[:count]


def sent_numbers(trace: Trace) -> int:
    """How many numbers attention, and worth where it is known, are sent as."""
    arrays = [array for site in trace.sites for array in ((site.maps,) if site.q is None else (site.q, site.k))]
    arrays += [array for site in trace.sites if site.g is not None for array in (site.v, site.g)]
    return sum(array.size for array in arrays if array is not None)
