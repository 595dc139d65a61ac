"""Which word carries a "same word" score: one word type that comes up everywhere may be most of it.

Enters: the rows of a batch that count for such a pattern, and their masses. Leaves: sums by word type that add up in
any order and do not grow with the corpus; at the end, the type that a score owes most to, and the score without it.

Types fall into `BUCKETS` by a hash of their text. Beside its rows, a bucket counts the bits of their texts: where one
type has most of the rows, the majority of each bit spells it. The other types of its bucket, a fraction 1 / BUCKETS of
all on average, are counted with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.corpus.sums import Array, Sums, ratio
from regard.patterns.definitions import PATTERNS
from regard.studies.head_names import head_name

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.base import Batch
    from regard.trace.places import MapContext

BUCKETS = 512
CARRIED = ("same word", "same word in the other sentence", "repeated token")
MOST = 0.02  # share of a score above which its strongest word type is named
_FLOOR = 0.1  # lift below which a score is no claim
_BYTES = 24  # of a word that are looked at
_WORDS = "carried/words"  # (BUCKETS, 1 + bits) rows, and how many of them have each bit of their word set


@dataclass(eq=False)
class Carried:
    """The rows of a batch that count for one pattern: input, query and bucket, (n,) each, and targets (n, 1, K)."""

    pattern: int  # its place in CARRIED
    inputs: torch.Tensor
    queries: torch.Tensor
    buckets: torch.Tensor
    targets: torch.Tensor
    known: Array  # (BUCKETS, 2) how many rows count, and the sum of their chance levels

    def masses(self, attention: torch.Tensor) -> Array:
        """(BUCKETS, H) attention of maps (B, H, Q, K) on the targets, by bucket."""
        _, heads, queries, keys = attention.shape
        starts = torch.arange(heads, device=attention.device) + self.inputs[:, None] * heads  # (n, H)
        places = starts * queries + self.queries[:, None]
        rows = attention.view(-1, keys).index_select(0, places.flatten()).view(-1, heads, keys)
        mine = rows.mul_(self.targets).sum(dim=-1)  # (n, H)
        return mine.new_zeros(BUCKETS, heads).index_add_(0, self.buckets, mine).cpu().numpy()


def carried_of(
    batch: Batch,
    side: str,
    contexts: list[MapContext],
    asked: Array,
    targets: Array,
    counted: Array,
    chance: Array,
    device: torch.device,
) -> list[Carried]:
    """The rows of each pattern of `CARRIED` that was asked. Notes their words.

    targets are (A + 1, B, Q, K), counted and chance (B, Q, A + 1); the last of each takes no part.
    """
    found = []
    for place, name in enumerate(PATTERNS[number].name for number in asked):
        where = np.argwhere(counted[..., place]) if name in CARRIED else np.empty((0, 2), int)
        if not len(where):
            continue
        texts = [_type(contexts[b], batch.book.sides[b][side].tokens[q].text, q) for b, q in where]
        _note(batch, Counter(texts))
        buckets = np.array([bucket_of(text) for text in texts])
        chances = chance[where[:, 0], where[:, 1], place]
        known = [np.bincount(buckets, weights, BUCKETS) for weights in (np.ones(len(texts)), chances)]
        chosen = targets[place][where[:, 0], where[:, 1], None].astype(np.float32)
        inputs, queries, falls, table = (
            torch.from_numpy(some).to(device) for some in (where[:, 0], where[:, 1], buckets, chosen)
        )
        found.append(Carried(CARRIED.index(name), inputs, queries, falls, table, np.stack(known, axis=-1)))
    return found


def _type(context: MapContext, token: str, position: int) -> str:
    """The word at a position, or its token where it is none, as far as it is looked at."""
    word = context.queries.words[position]
    text = token.strip().lower() if word < 0 else context.names[word]
    return text.encode()[:_BYTES].decode(errors="ignore")


@lru_cache(maxsize=65_536)
def bucket_of(text: str) -> int:
    """The bucket of a word, the same everywhere."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) % BUCKETS


@lru_cache(maxsize=65_536)
def _bits(text: str) -> Array:
    return np.unpackbits(np.frombuffer(text.encode().ljust(_BYTES, b"\0"), np.uint8))


def _note(batch: Batch, texts: Counter[str]) -> None:
    noted = np.zeros((BUCKETS, 1 + 8 * _BYTES))
    for text, count in texts.items():
        noted[bucket_of(text)] += count * np.concatenate([[1], _bits(text)])
    batch.total(_WORDS, noted)


# -- what carries a score ------------------------------------------------------------------------------------------


def carrier_cautions(sums: Sums, table: pd.DataFrame) -> list[str]:
    """A sentence for the strongest head of each such pattern, where one word type has more than `MOST` of its lift.

    Of several such types, the one without which the lift is lowest is named.
    """
    rows = table[table["measure"].isin(CARRIED) & (table["value"] >= _FLOOR)]
    best = rows.sort_values("value", ascending=False, kind="stable").drop_duplicates(["kind", "measure"])
    return [text for row in best.to_dict("records") for text in _caution(sums, row)]


def _caution(sums: Sums, row: dict[str, Any]) -> Iterator[str]:
    place, number = f"{row['kind']}/{row['layer']}", CARRIED.index(row["measure"])
    mass = sums[f"{place}/carried_mass"][number, :, row["head"]]  # (BUCKETS,)
    count, chance = sums[f"{place}/carried_rows"][number].T
    gained, room = mass - chance, count - chance  # lift is the sum of the one over the sum of the other
    shares = gained / gained.sum()
    if shares.max() <= MOST:
        return
    without = ratio(gained.sum() - gained, room.sum() - room)  # NaN for the only word there is
    top = int(np.where(shares > MOST, np.nan_to_num(without, nan=-1), np.inf).argmin())
    rest = "n/a" if np.isnan(without[top]) else f"{max(0.0, without[top]):.2f}"
    head = f"{row['kind']} head {head_name(row['layer'], row['head'])}"
    yield (
        f"{row['measure']}, {head}: {100 * shares[top]:.0f}% of its lift of {row['value']:.2f} "
        f"comes from one word, {spelled(sums, top)}; without it the lift is {rest}."
    )


def spelled(sums: Sums, bucket: int) -> str:
    """The word that has most rows of a bucket, in quotes; that it is not known where none has."""
    count, *bits = sums[_WORDS][bucket]
    data = np.packbits(2 * np.array(bits) > count).tobytes().rstrip(b"\0")
    text = data.decode(errors="ignore")
    return repr(text) if bucket_of(text) == bucket else "whose name is not known"
