"""The study of which heads are alike: distances, a map of them, clusters and pairs.

Enters: a corpus, then its sums. Leaves: a `Result`: a row per pair of heads; a place, a cluster and a pattern per head.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import between, clusters_of, interval, resampled
from regard.studies.atlas.names import awake_table, first_names, named_heads
from regard.studies.base import Batch, MapStudy, StudyContext, layers_of
from regard.studies.figures import scatter_picture
from regard.studies.head_names import about_kind, head_name
from regard.studies.result import Result
from regard.studies.similarity.reduce import ROWS, SimilarityTaker

if TYPE_CHECKING:
    import pandas as pd

UNNAMED = "no name"
_SAMPLED = (
    "Distances are estimated from {rows} rows of each longer input, drawn by its number and scaled to all of its rows."
)
_MOST_CLUSTERS = 12
_AT_ONCE = 4096  # pairs whose draws are held at a time


class Similarity(MapStudy):
    """Distances between heads; `rows` of each input are compared, 0 for all of them."""

    name: ClassVar[str] = "similarity"

    def __init__(self, *, seed: int = 0, rows: int = ROWS, clusters: int | None = None) -> None:
        super().__init__(seed=seed)
        self.rows, self.clusters = rows, clusters

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "rows": self.rows}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "rows": self.rows, "clusters": self.clusters}

    def taker(self, batch: Batch) -> SimilarityTaker:
        """Reduce each layer for the atlas, and keep some of its rows."""
        return SimilarityTaker(batch, self.rows, self.seed)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Distances, places and clusters of the heads of each kind of attention."""
        return _result(sums, context, self.clusters)


def _result(sums: Sums, context: StudyContext, clusters: int | None) -> Result:
    import pandas as pd

    named = first_names(named_heads(awake_table(sums)))
    pairs, heads, drawers, sentences = [], [], {}, []
    kinds = [name.removesuffix("/distances") for name in sums.arrays if name.endswith("/distances")]
    for kind in kinds:
        distances, rows = sums[f"{kind}/distances"], sums[f"{kind}/rows"]  # (G, pairs), (G,)
        places = _heads(sums, kind)
        mean = _square(ratio(distances.sum(axis=0), rows.sum()), len(places))  # (N, N) nats per row
        pairs.append(_pairs(kind, places, distances, rows))
        table = _placed(kind, places, mean, named, clusters)
        heads.append(table)
        drawers[kind] = (
            f"{kind} heads, close together if their attention is alike (metric MDS of Jensen-Shannon distances); "
            "colour: the head's strongest pattern over the same inputs.",
            _drawer(table, kind),
        )
        sentences += _findings(about_kind(kind, kinds), table, distances, rows)
    placed = pd.concat(heads, ignore_index=True)
    if context.study.settings["rows"]:
        sentences.append(_SAMPLED.format(rows=context.study.settings["rows"]))
    return Result(
        study="similarity",
        title=f"Which heads of {context.model.name} are alike",
        table=pd.concat(pairs, ignore_index=True),
        meta=context.meta(),
        drawers=drawers,
        findings=[*sentences, *_control(context)],
        cautions=context.cautions(),
        tables={"Heads": placed, "Clusters": _clusters(placed)},
    )


def _heads(sums: Sums, kind: str) -> list[tuple[int, int]]:
    """(layer, head) in the order of the matrix."""
    return [
        (layer, head)
        for layer in layers_of(sums, "mass")[kind]
        for head in range(sums[f"{kind}/{layer}/mass"].shape[1])
    ]


def _square(pairs: Array, count: int) -> Array:
    """(N, N) symmetric matrix of the pairs' numbers."""
    square = np.zeros((count, count))
    square[np.triu_indices(count, 1)] = pairs
    return square + square.T


def _pairs(kind: str, places: list[tuple[int, int]], distances: Array, rows: Array) -> pd.DataFrame:
    """A row per pair: the summed distance, its mean per row with interval, and that of each half; closest first.

    The baseline is the mean over all pairs: the distance between two random heads of this model.
    """
    import pandas as pd

    one, other = np.triu_indices(len(places), 1)
    where = np.array(places).reshape(-1, 2)
    value = ratio(distances.sum(axis=0), rows.sum())
    low, high = _intervals(distances, rows)
    halves = [ratio(distances[half::2].sum(axis=0), rows[half::2].sum()) for half in (0, 1)]
    table = pd.DataFrame(
        {
            "kind": kind,
            "layer": where[one, 0],
            "head": where[one, 1],
            "other layer": where[other, 0],
            "other head": where[other, 1],
            "distance": distances.sum(axis=0),
            "value": value,
            "low": low,
            "high": high,
            "baseline": value.mean() if len(value) else np.nan,
            "even inputs": halves[0],
            "odd inputs": halves[1],
        }
    )
    return table.sort_values("value", kind="stable", ignore_index=True)


def _intervals(distances: Array, rows: Array) -> tuple[Array, Array]:
    """The ends (pairs,) of the intervals of mean distances, some pairs at a time."""
    drawn, clusters = resampled(rows)[:, None], clusters_of(rows)
    starts = range(0, max(distances.shape[1], 1), _AT_ONCE)
    ends = [interval(ratio(resampled(distances[:, n : n + _AT_ONCE]), drawn), clusters) for n in starts]
    low, high = (np.concatenate(some) for some in zip(*ends, strict=True))
    return low, high


def _placed(
    kind: str, places: list[tuple[int, int]], mean: Array, named: pd.DataFrame, clusters: int | None
) -> pd.DataFrame:
    """Each head with its place in the plane, its cluster and its strongest pattern."""
    import pandas as pd

    mine = named[named["kind"] == kind]
    patterns = {(row.layer, row.head): row.measure for row in mine.itertuples()}
    plane = in_the_plane(mean)
    return pd.DataFrame(
        {
            "kind": kind,
            "layer": [layer for layer, _ in places],
            "head": [head for _, head in places],
            "x": plane[:, 0],
            "y": plane[:, 1],
            "cluster": clustered(mean, clusters),
            "pattern": [patterns.get(place, UNNAMED) for place in places],
        }
    )


def in_the_plane(distances: Array) -> Array:
    """(N, 2) metric MDS, starting from classical scaling so that the same distances give the same picture."""
    from sklearn.manifold import smacof

    count = len(distances)
    if count < 3 or not distances.any():
        return np.zeros((count, 2))
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-12))
    places, _ = smacof(distances, n_components=2, init=start, n_init=1, random_state=0, normalized_stress=False)
    return np.asarray(places)


def clustered(distances: Array, count: int | None = None) -> Array:
    """(N,) clusters from 1 by average linkage; without a count, the clearest number (silhouette)."""
    from sklearn.metrics import silhouette_score

    most = len(distances) - 1
    if most < 2 or not distances.any():
        return np.ones(len(distances), int)
    if count is not None:
        return _linked(distances, min(count, most + 1))
    tried = [_linked(distances, number) for number in range(2, min(_MOST_CLUSTERS, most) + 1)]
    return max(tried, key=lambda labels: float(silhouette_score(distances, labels, metric="precomputed")))


def _linked(distances: Array, count: int) -> Array:
    """Clusters numbered in the order of their first head."""
    from sklearn.cluster import AgglomerativeClustering

    labels = AgglomerativeClustering(n_clusters=count, metric="precomputed", linkage="average").fit_predict(distances)
    order = {label: number for number, label in enumerate(dict.fromkeys(labels.tolist()), 1)}
    return np.array([order[label] for label in labels.tolist()])


def _clusters(heads: pd.DataFrame) -> pd.DataFrame:
    """A row per cluster: its number of heads, their layers, and their commonest pattern."""
    import pandas as pd

    rows = []
    for (kind, cluster), group in heads.groupby(["kind", "cluster"], sort=True):
        counts = group["pattern"].value_counts()
        layers = ", ".join(str(layer) for layer in sorted(set(group["layer"])))
        rows.append((kind, cluster, len(group), layers, str(counts.index[0]), float(counts.iloc[0] / len(group))))
    return pd.DataFrame(rows, columns=["kind", "cluster", "heads", "layers", "commonest pattern", "share"])


def _drawer(table: pd.DataFrame, kind: str) -> Any:
    labels = [head_name(layer, head) for layer, head in zip(table["layer"], table["head"], strict=True)]
    return lambda: scatter_picture(
        np.stack([table["x"], table["y"]], axis=-1), list(table["pattern"]), labels, title=f"{kind} heads"
    )


def _findings(of: str, table: pd.DataFrame, distances: Array, rows: Array) -> list[str]:
    """How many clusters there are and how far heads are apart; `of` says the kind, if there are several."""
    one, other = np.triu_indices(len(table), 1)
    if not len(one):
        return [f"{of}There is only one head."]
    same = np.array(table["layer"])[one] == np.array(table["layer"])[other]
    sentences = [f"{of}{table['cluster'].nunique()} clusters of {len(table)} heads."]
    if same.any() and not same.all():
        sentences.append(
            f"{of}Heads of one layer are {_apart(distances[:, same], rows)} nats per row apart on average, heads "
            f"of different layers {_apart(distances[:, ~same], rows)} (at most ln 2 = 0.693)."
        )
    halves = distances[::2].sum(axis=0), distances[1::2].sum(axis=0)
    if len(one) > 2 and rows[::2].any() and rows[1::2].any():
        agreement = np.corrcoef(*halves)[0, 1]
        sentences.append(f"{of}Distances over even and odd inputs correlate at {agreement:.3f}.")
    return sentences


def _apart(distances: Array, rows: Array) -> str:
    """The mean distance of some pairs in words, with its interval."""
    values = ratio(resampled(distances.mean(axis=1)), resampled(rows))
    low, high = interval(values, clusters_of(rows))
    return f"{values[0]:.3f}{between(float(low), float(high), '.3f')}"


def _control(context: StudyContext) -> list[str]:
    if context.controls is None:
        return []
    places = [name for name in context.controls.shuffled.arrays if name.endswith("/distances")]
    kinds = [name.removesuffix("/distances") for name in places]
    apart = {kind: context.controls.values(partial(_mean_distance, kind)) for kind in kinds}
    return [f"Control: nats per row between {kind} heads: {values.said()}." for kind, values in apart.items()]


def _mean_distance(kind: str, sums: Sums) -> float:
    """The mean distance between two heads, in nats per row."""
    return float(ratio(sums[f"{kind}/distances"].mean(axis=1).sum(), sums[f"{kind}/rows"].sum()))
