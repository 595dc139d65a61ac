"""What heads do when awake, batch by batch: the sums behind every name that a corpus gives.

Enters: a layer's maps, or what arrives in their place. Leaves: sums per input and head.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.awake import weigh_awake
from regard.measures.bag import bag_evenness, bag_gain
from regard.measures.reading import sum_rows, weigh_rows
from regard.patterns.definitions import PATTERNS, WORDS
from regard.patterns.levels import MapRows
from regard.studies.tables import Tables, of_all


def awake_sums(
    attention: torch.Tensor,
    awake: torch.Tensor,
    bag: BagOfRows | None,
    tables: Tables,
    mass: torch.Tensor | None = None,
) -> dict[str, torch.Tensor | Array]:
    """Sums of what does not rest, (B, H, P + 1) each: the bag of words comes last, as far as it is even.

    `awake` (B, H, Q) is how much of each row of the maps (B, H, Q, K) that is; `mass` (B, H, A) what they have on
    `tables.awake`, if that is known.
    """
    mass = attention.flatten(2) @ tables.awake if mass is None else mass
    mass = torch.cat([mass, _even(bag, awake, tables)], dim=-1)
    sums = weigh_awake(mass, awake, tables.awake_level)
    places = np.append(tables.asked, len(PATTERNS))
    found: dict[str, torch.Tensor | Array] = {
        name: of_all(places, total.cpu().numpy(), len(PATTERNS) + 1) for name, total in sums._asdict().items()
    }
    level = tables.levels["awake"]
    counted = torch.zeros_like(tables.seen) if level.counted is None else level.counted
    found |= {"level": torch.einsum("bhq,bq->bh", awake, counted), "level_rows": level.rows}
    none = mass.new_zeros(*mass.shape[:2], len(WORDS))
    kept, paired = (none, none) if tables.exchange is None else tables.exchange.sums(attention, awake)
    return {**found, "kept": kept, "paired": paired}


@dataclass(eq=False)
class BagOfRows:
    """What rows have on their own sentence, and how evenly, (B, Q, H, 1)."""

    mass: torch.Tensor
    evenness: torch.Tensor

    @classmethod
    def of(cls, rows: MapRows, tables: Tables) -> BagOfRows:
        own, size, seen = tables.own[..., None], tables.size[..., None, None], tables.seen[..., None, None]
        mass = weigh_rows(rows.attention, own)
        return cls(mass, bag_evenness(mass, weigh_rows(rows.logs, own), size, seen))


def _even(bag: BagOfRows | None, awake: torch.Tensor, tables: Tables) -> torch.Tensor:
    """(B, H, 1) what the bag of words has of the awake attention (B, H, Q), as far as it is even."""
    if bag is None:
        return awake.new_zeros(*awake.shape[:2], 1)
    expected = awake.transpose(1, 2)[..., None] * tables.awake_chance[:, :, None, -1:]
    even: torch.Tensor = sum_rows(bag_gain(bag.mass, expected, bag.evenness) + expected, tables.awake_counted[..., -1:])
    return even


def arriving_of(attention: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    """What arrives in place of where heads look: ||alpha f(x)|| as shares of each row; norms are (B, H, K)."""
    arriving = attention * norms[:, :, None]
    total = arriving.sum(dim=-1, keepdim=True)  # (B, H, Q, 1)
    return arriving.div_(torch.where(total > 0, total, 1))
