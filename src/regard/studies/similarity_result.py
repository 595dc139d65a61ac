"""From distances between heads to a map of them, clusters and pairs.

Enters: sums over a corpus. Leaves: a `Result`: a row per pair of heads; a place, a cluster and a pattern per head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.studies.atlas_result import atlas_table, named_heads
from regard.studies.base import Context, layers_of
from regard.studies.pictures import scatter_picture
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

UNNAMED = "no name"
_MOST_CLUSTERS = 12


def similarity_result(sums: Sums, context: Context, clusters: int | None) -> Result:
    """Distances, places and clusters of the heads of each kind of attention."""
    import pandas as pd

    named = named_heads(atlas_table(sums)).drop_duplicates(["kind", "layer", "head"])
    pairs, heads, drawers, said = [], [], {}, []
    for kind in [name.removesuffix("/distances") for name in sums.arrays if name.endswith("/distances")]:
        halves, rows = sums[f"{kind}/distances"], sums[f"{kind}/rows"]
        mean = ratio(halves.sum(axis=0), rows.sum())  # (N, N) nats a row
        places = _heads(sums, kind)
        pairs.append(_pairs(kind, places, halves, rows))
        table = _placed(kind, places, mean, named, clusters)
        heads.append(table)
        drawers[kind] = (
            f"{kind} heads, near where their attention is alike (metric MDS of Jensen-Shannon distances); colour: the "
            "head's strongest pattern over the same inputs.",
            _drawer(table, kind),
        )
        said += _findings(kind, table, mean, halves, rows)
    placed = pd.concat(heads, ignore_index=True)
    return Result(
        study="similarity",
        title=f"Which heads of {context.model.name} are alike",
        table=pd.concat(pairs, ignore_index=True),
        meta=context.meta(),
        drawers=drawers,
        findings=[*said, *_control(context)],
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


def _pairs(kind: str, places: list[tuple[int, int]], halves: Array, rows: Array) -> pd.DataFrame:
    """A row per pair: the summed distance, its mean a row, and that of each half of the inputs; nearest first."""
    import pandas as pd

    one, other = np.triu_indices(len(places), 1)
    where = np.array(places).reshape(-1, 2)
    means = ratio(halves[:, one, other], rows[:, None])
    table = pd.DataFrame(
        {
            "kind": kind,
            "layer": where[one, 0],
            "head": where[one, 1],
            "other layer": where[other, 0],
            "other head": where[other, 1],
            "distance": halves[:, one, other].sum(axis=0),
            "value": ratio(halves[:, one, other].sum(axis=0), rows.sum()),
            "even inputs": means[0],
            "odd inputs": means[1],
        }
    )
    return table.sort_values("value", kind="stable", ignore_index=True)


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
    """(N, 2) metric MDS, begun at classical scaling so that the same distances give the same picture."""
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
    """(N,) clusters from 1 by average linkage; without a count, as many as are the clearest (silhouette)."""
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
    """A row per cluster: how many heads, of which layers, and what most of them do."""
    import pandas as pd

    rows = []
    for (kind, cluster), group in heads.groupby(["kind", "cluster"], sort=True):
        counts = group["pattern"].value_counts()
        layers = ", ".join(str(layer) for layer in sorted(set(group["layer"])))
        rows.append((kind, cluster, len(group), layers, str(counts.index[0]), float(counts.iloc[0] / len(group))))
    return pd.DataFrame(rows, columns=["kind", "cluster", "heads", "layers", "commonest pattern", "share"])


def _drawer(table: pd.DataFrame, kind: str) -> Any:
    labels = [f"{layer}-{head}" for layer, head in zip(table["layer"], table["head"], strict=True)]
    return lambda: scatter_picture(
        np.stack([table["x"], table["y"]], axis=-1), list(table["pattern"]), labels, title=f"{kind} heads"
    )


def _findings(kind: str, table: pd.DataFrame, mean: Array, halves: Array, rows: Array) -> list[str]:
    one, other = np.triu_indices(len(mean), 1)
    if not len(one):
        return [f"{kind}: there is one head only."]
    same = np.array(table["layer"])[one] == np.array(table["layer"])[other]
    said = [f"{kind}: {table['cluster'].nunique()} clusters of {len(table)} heads."]
    if same.any() and not same.all():
        within, between = mean[one, other][same].mean(), mean[one, other][~same].mean()
        said.append(
            f"{kind}: heads of one layer are {within:.3f} nats a row apart on average, heads of different layers "
            f"{between:.3f} (at most ln 2 = 0.693)."
        )
    if len(one) > 2 and (rows > 0).all():
        agreement = np.corrcoef(halves[0][one, other], halves[1][one, other])[0, 1]
        said.append(f"{kind}: distances over even and odd inputs correlate at {agreement:.3f}.")
    return said


def _control(context: Context) -> list[str]:
    if context.control is None:
        return []
    said = []
    for name in context.control.arrays:
        if name.endswith("/distances"):
            kind = name.removesuffix("/distances")
            mean = ratio(context.control[name].sum(axis=0), context.control[f"{kind}/rows"].sum())
            one, other = np.triu_indices(len(mean), 1)
            said.append(f"Control, random weights: {kind} heads are {mean[one, other].mean():.3f} nats a row apart.")
    return said
