"""Two sets of portraits compared: which head of one model is which of the other, and what appeared or vanished.

Enters: two folders of `regard study heads`. Leaves: a `Result` with a row per pair of matched heads.

The profile of a head is where its attention goes: the share that rests, and the rest by distance. Heads are matched so
that profiles are least apart in all (Jensen-Shannon; the Hungarian method), kind by kind. Beside that stands what pairs
at random give, and, for models of one shape, how many heads match the head of their own number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard import __version__
from regard.base.errors import MissingFileError, UserError
from regard.corpus.sums import Array
from regard.measures.divergence import js_rows
from regard.studies.head_names import head_name
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 1000  # of pairs at random
_NAMED = 3  # heads that a finding names
KEPT, CHANGED, VANISHED, APPEARED, NEITHER = "kept", "changed", "vanished", "appeared", "neither"


@dataclass(frozen=True, eq=False)
class Portraits:
    """A folder of portraits: its facts, its heads, and their profiles (N, 68)."""

    model: str
    corpus: str
    heads: pd.DataFrame
    profiles: Array

    def of(self, kind: str) -> tuple[pd.DataFrame, Array]:
        """The heads of a kind of attention, and their profiles."""
        mine = (self.heads["kind"] == kind).to_numpy()
        return self.heads[mine].reset_index(drop=True), self.profiles[mine]


def match_portraits(one: str | Path, other: str | Path, *, seed: int = 0) -> Result:
    """Match the heads of two folders of portraits."""
    import pandas as pd

    first, second = read_portraits(Path(one)), read_portraits(Path(other))
    kinds = [kind for kind in dict.fromkeys(first.heads["kind"]) if (second.heads["kind"] == kind).any()]
    if not kinds:
        theirs = [", ".join(sorted(set(some.heads["kind"]))) for some in (first, second)]
        raise UserError(f"{first.model} has {theirs[0]} attention and {second.model} {theirs[1]}: no heads to match")
    tables, findings = [], []
    for kind in kinds:
        table, random = _matched(first, second, kind, np.random.default_rng(seed))
        tables.append(table)
        findings += _findings(table, random, kind if len(kinds) > 1 else "")
    return Result(
        study="match",
        title=f"Heads of {first.model} and of {second.model}",
        table=pd.concat(tables, ignore_index=True),
        meta={"models": [first.model, second.model], "corpora": [first.corpus, second.corpus], "regard": __version__},
        findings=findings,
        cautions=_cautions(first, second),
    )


def read_portraits(folder: Path) -> Portraits:
    """The portraits in a folder."""
    import pandas as pd

    files = [folder / name for name in ("meta.json", "result.parquet", "distances.parquet")]
    if not all(file.is_file() for file in files):
        raise MissingFileError(f"{folder} holds no portraits; make them with: regard study heads CORPUS -o {folder}")
    meta: dict[str, Any] = json.loads(files[0].read_text("utf-8"))
    if meta.get("study") != "heads":
        raise UserError(f"{folder} holds the study {meta.get('study')}, not portraits; see: regard study heads")
    heads, distances = (pd.read_parquet(file) for file in files[1:])
    place = ["kind", "layer", "head"]
    if distances.empty:
        raise UserError(f"{folder} has no distances: heads that look at another text cannot be matched yet")
    shares = distances.pivot(index=place, columns="distance", values="share").sort_index(axis=1)
    known = heads.merge(shares.reset_index()[place], on=place).reset_index(drop=True)
    far = shares.loc[pd.MultiIndex.from_frame(known[place])].to_numpy()
    rests = known["rests"].to_numpy()[:, None]
    return Portraits(meta["model"], meta["corpus"]["name"], known, np.hstack([rests, (1 - rests) * far]))


def distances_between(one: Array, other: Array) -> Array:
    """(N, M) Jensen-Shannon distances of profiles (N, F) and (M, F), each of which adds up to 1."""
    one, other = (some / some.sum(axis=1, keepdims=True) for some in (one, other))
    return np.asarray(js_rows(one[:, None], other[None]))


def _matched(
    first: Portraits, second: Portraits, kind: str, chooser: np.random.Generator
) -> tuple[pd.DataFrame, Array]:
    """The pairs of a kind of attention, and the mean distances (DRAWS,) of pairs at random."""
    from scipy.optimize import linear_sum_assignment

    (mine, one), (theirs, other) = first.of(kind), second.of(kind)
    cost = distances_between(one, other)
    rows, columns = linear_sum_assignment(cost)
    table = mine.loc[rows, ["kind", "layer", "head"]].reset_index(drop=True)
    partner = theirs.loc[columns].reset_index(drop=True)
    table = table.assign(
        other_layer=partner["layer"],
        other_head=partner["head"],
        distance=cost[rows, columns],
        sentence=mine.loc[rows, "sentence"].to_numpy(),
        other_sentence=partner["sentence"],
    )
    before, after = _told(mine.loc[rows]), _told(partner)
    table["what"] = [_change(one, other) for one, other in zip(before, after, strict=True)]
    few = len(rows)
    draws = [
        cost[chooser.permutation(len(one))[:few], chooser.permutation(len(other))[:few]].mean() for _ in range(DRAWS)
    ]
    return table.sort_values("distance", ignore_index=True), np.array(draws)


def _told(heads: pd.DataFrame) -> list[str]:
    """What holds of each head; nothing where no description does."""
    return [name if sure else "" for name, sure in zip(heads["description"], heads["verified"], strict=True)]


def _change(before: str, after: str) -> str:
    if before == after:
        return KEPT if before else NEITHER
    return CHANGED if before and after else VANISHED if before else APPEARED


def _findings(table: pd.DataFrame, random: Array, kind: str) -> list[str]:
    low, high = np.quantile(random, [0.025, 0.975])
    about = f"{kind.capitalize()}: m" if kind else "M"
    found = [
        f"{about}atched heads are {table['distance'].mean():.3f} apart on average, pairs at random {random.mean():.3f} "
        f"[{low:.3f}, {high:.3f}] (Jensen-Shannon distance of where attention goes; 0 is the same, 0.69 the most)."
    ]
    own = (table["layer"] == table["other_layer"]) & (table["head"] == table["other_head"])
    found.append(f"{int(own.sum())} of {len(table)} heads match the head of their own number.")
    counts = table["what"].value_counts()
    found.append(
        f"{counts.get(KEPT, 0)} pairs have the same description, {counts.get(CHANGED, 0)} another one; "
        f"{counts.get(VANISHED, 0)} lose theirs, {counts.get(APPEARED, 0)} get one, {counts.get(NEITHER, 0)} have none."
    )
    for what, verb in ((VANISHED, "Lost"), (APPEARED, "New")):
        some = table[table["what"] == what].head(_NAMED)
        column, place = ("sentence", ["layer", "head"]) if what == VANISHED else ("other_sentence", _OTHER)
        found += [f"{verb}: {head_name(*row[place])}. {row[column]}" for _, row in some.iterrows()]
    return found


_OTHER = ["other_layer", "other_head"]


def _cautions(first: Portraits, second: Portraits) -> Sequence[str]:
    said = ["The best pairs are closer than pairs at random even where nothing is alike; look at single distances."]
    if first.corpus != second.corpus:
        said.append(f"The corpora differ, {first.corpus} and {second.corpus}: so may what heads do.")
    return said
