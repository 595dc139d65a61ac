"""The tables of portraits: tokens, distances, grammar, an index of all heads.

Enters: sums of a corpus and descriptions. Leaves: data frames, one row per head and thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.studies.atlas.copying import copying_table
from regard.studies.base import layers_of
from regard.studies.heads.describing import Description, Place
from regard.studies.heads.distances import DISTANCES
from regard.studies.heads.grammar import RELATIONS, UPOS
from regard.studies.heads.predicting import Predicting
from regard.studies.heads.telling import CountedTokens, awake, looked_at, rest_of, sentence

if TYPE_CHECKING:
    import pandas as pd

MOST = 40  # tokens per head and direction that are written: those with most beyond chance
COPIES = ("copies", "copies_low", "copies_high")
_NOTHING = 1e-5  # a share that is noise


def index_table(
    sums: Sums, found: Mapping[Place, Description], tokens: CountedTokens, predicts: Predicting
) -> pd.DataFrame:
    """A row per head: what is said of it, how well that predicts it, how much it rests, predicts and copies."""
    import pandas as pd

    rows, copies = [], _copies(sums)
    for place, one in found.items():
        rest = rest_of(sums, place, tokens)
        rows.append(
            {
                **dict(zip(("kind", "layer", "head"), place, strict=True)),
                "sentence": sentence(one, rest, sums, place, tokens),
                "does": awake(one, sums, place, tokens),
                "description": one.name,
                "words": one.words,
                "verified": one.verified,
                "value": one.score.value,
                "low": one.score.low,
                "high": one.score.high,
                "by_offset": one.by_offset,
                "offset": one.offset,
                "by_mean": one.by_mean,
                "by_token": one.by_token,
                "distance_lift": one.distance_lift,
                "token_lift": one.token_lift,
                "rests": rest.share,
                "rests_arriving": rest.arriving,
                "rests_on": rest.on,
                "looks_at": ", ".join(looked_at(sums, place, tokens)),
                **predicts.of(place).record,
                **dict(zip(COPIES, copies.get(place, (float("nan"),) * 3), strict=True)),
            }
        )
    return pd.DataFrame(rows)


def _copies(sums: Sums) -> dict[Place, tuple[float, float, float]]:
    """How far each head writes what it reads, with its interval; nothing where a model has no such score."""
    rows = copying_table(sums).itertuples()
    return {(row.kind, row.layer, row.head): (row.copying, row.low, row.high) for row in rows}


def token_table(sums: Sums, found: Mapping[Place, Description], tokens: CountedTokens) -> pd.DataFrame:
    """A row per head and token: its share of the awake attention, looking and looked at."""
    import pandas as pd

    return pd.DataFrame([row for place in found for row in _tokens(sums, place, tokens)])


def _tokens(sums: Sums, place: Place, tokens: CountedTokens) -> Iterator[dict[str, Any]]:
    kind, layer, head = place
    where = f"{kind}/{layer}"
    at, expected = (sums[f"{where}/{name}"][..., head].sum(axis=0) for name in ("looked_at", "looked_at_chance"))
    looking, rows = sums[f"{where}/looking"][:, head], sums[f"{where}/looking_rows"][:, 0]
    rested, awake, count = sums[f"{where}/rested_on"][:, head], at.sum(), rows.sum()
    parts = {
        "looked at": (at / max(awake, 1e-12), expected / max(awake, 1e-12)),
        "looking": (looking / max(awake, 1e-12), rows / max(count, 1)),
        "rested on": (rested / max(count, 1), np.full(len(rested), np.nan)),
    }
    for side, (share, chance) in parts.items():
        for n in [*tokens.top(share - np.nan_to_num(chance), MOST), len(share) - 1]:
            if share[n] > _NOTHING:
                yield {
                    **dict(zip(("kind", "layer", "head"), place, strict=True)),
                    "side": side,
                    "token": tokens.names[n],
                    "share": float(share[n]),
                    "chance": float(chance[n]),
                }


def distance_table(sums: Sums) -> pd.DataFrame:
    """A row per head and distance: its share of the awake attention, and of what even attention would give."""
    import pandas as pd

    rows = []
    for kind, layers in layers_of(sums, "distance_mass").items():
        for layer in layers:
            mass = sums[f"{kind}/{layer}/distance_mass"]  # (H, 67)
            above = sums[f"{kind}/{layer}/distance"].sum(axis=0)
            for head in range(len(mass)):
                whole = max(mass[head].sum(), 1e-12)
                rows += [
                    {
                        "kind": kind,
                        "layer": layer,
                        "head": head,
                        "distance": distance,
                        "share": float(mass[head, n] / whole),
                        "chance": float((mass[head, n] - above[head, n]) / whole),
                    }
                    for n, distance in enumerate(DISTANCES)
                ]
    return pd.DataFrame(rows)


def grammar_table(sums: Sums) -> pd.DataFrame | None:
    """A row per head and pair of parts of speech, or relation and direction; None where the corpus has no trees.

    `share` is of the awake attention between words, `chance` what the distances alone would give it.
    """
    import pandas as pd

    if "grammar/upos_pairs" not in sums:
        return None
    rows: list[dict[str, Any]] = []
    for kind, layers in layers_of(sums, "upos").items():
        for layer in layers:
            where = {"kind": kind, "layer": layer}
            rows += [{**where, **row} for row in _parts_of_speech(sums, f"{kind}/{layer}")]
            rows += [{**where, **row} for row in _relations(sums, f"{kind}/{layer}")]
    return pd.DataFrame(rows)


def _parts_of_speech(sums: Sums, where: str) -> Iterator[dict[str, Any]]:
    mass, far = sums[f"{where}/upos"], sums[f"{where}/upos_distance"]  # (H, U, U), (H, U, 67)
    pairs = sums["grammar/upos_pairs"]  # (U, 67, U)
    likely = np.nan_to_num(ratio(pairs, pairs.sum(axis=-1, keepdims=True)))
    expected = np.einsum("hud,udv->huv", far, likely)
    yield from _shares("upos", mass, expected, mass.sum(axis=(1, 2)), pairs.sum(axis=1), UPOS, UPOS)


def _relations(sums: Sums, where: str) -> Iterator[dict[str, Any]]:
    whole = sums[f"{where}/word_distance"]  # (H, 67)
    pairs = sums["grammar/relation_pairs"]  # (2, R, 67)
    every = sums["grammar/upos_pairs"].sum(axis=(0, 2))  # (67,)
    mean = np.nan_to_num(ratio(whole, every[None]))
    for number, direction in enumerate(("up", "down")):
        mass = sums[f"{where}/relation_{direction}"][:, :, None]  # (H, R, 1)
        expected = (mean @ pairs[number].T)[:, :, None]
        counts = pairs[number].sum(axis=-1, keepdims=True)
        yield from _shares("relation", mass, expected, whole.sum(axis=-1), counts, RELATIONS, (direction,))


def _shares(
    what: str,
    mass: Array,
    expected: Array,
    whole: Array,
    counts: Array,
    first: tuple[str, ...],
    second: tuple[str, ...],
) -> Iterator[dict[str, Any]]:
    """Rows of every head and pair that the corpus has."""
    for head, one, other in np.argwhere(np.broadcast_to(counts > 0, mass.shape)):
        yield {
            "head": int(head),
            "what": what,
            "from": first[one],
            "to": second[other],
            "share": float(mass[head, one, other] / max(whole[head], 1e-12)),
            "chance": float(expected[head, one, other] / max(whole[head], 1e-12)),
            "pairs": int(counts[one, other]),
        }
