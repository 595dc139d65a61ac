"""Distances between heads equal the definition, row by row (METHODS, section 1)."""

import numpy as np
import pytest

import regard
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.source import Source
from regard.studies.similarity.study import Similarity, clustered, in_the_plane
from tests.studies.by_hand import maps, seen, traces


def kl(p, q):
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / np.where(q > 0, q, 1)), 0).sum(-1)


def distances(some):
    """(N, N) summed over rows and documents."""
    total = 0.0
    for trace in some:
        visible = seen(trace.sites[0])
        attention = np.concatenate([maps(site) for site in trace.sites])
        smooth = 0.999 * attention + 0.001 * visible / visible.sum(-1, keepdims=True)
        p, q = smooth[:, None], smooth[None]
        total = total + ((kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2).sum(-1)
    return total


@pytest.mark.parametrize(("name", "kind"), [("bert", "encoder"), ("gpt2", "decoder")])
def test_distances_are_summed_over_rows_and_documents(name, kind, corpus, request):
    model = request.getfixturevalue(name)
    sums = run_local(Similarity(rows=0), model, Run(Source(str(corpus)))).sums
    some = traces(model, corpus)
    expected = distances(some)
    pairs = expected[np.triu_indices(len(expected), 1)]
    np.testing.assert_allclose(sums[f"{kind}/distances"].sum(0), pairs, rtol=1e-3, atol=1e-4)
    assert sums[f"{kind}/rows"].sum() == sum(trace.sites[0].queries for trace in some)


def test_the_distances_agree_with_those_of_the_measure(bert, corpus):
    from regard.measures.divergence import js_distance

    one = traces(bert, corpus)[5]
    found = js_distance(np.concatenate([maps(site) for site in one.sites]))
    np.testing.assert_allclose(distances([one]), found, atol=1e-9)


def test_sampled_rows_estimate_the_sum_over_all(bert, long_corpus):
    run = Run(Source(str(long_corpus), limit=200))
    every, some = (run_local(Similarity(rows=rows), bert, run).sums for rows in (0, 4))
    np.testing.assert_allclose(some["encoder/rows"], every["encoder/rows"], rtol=1e-5)
    totals = [sums["encoder/distances"].sum(0) for sums in (every, some)]
    np.testing.assert_allclose(totals[1], totals[0], rtol=0.1)


def test_the_result_has_a_row_per_pair_and_a_place_per_head(bert, corpus, tmp_path):
    result = regard.study.similarity(bert, corpus, output=tmp_path, clusters=2)
    assert len(result.table) == 15 and len(result.tables["Heads"]) == 6
    assert result.table["value"].is_monotonic_increasing
    assert set(result.tables["Heads"]["cluster"]) == {1, 2}
    assert (tmp_path / "encoder.svg").exists() and (tmp_path / "heads.parquet").exists()


def test_points_of_a_plane_keep_their_distances():
    points = np.random.default_rng(0).normal(size=(12, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    placed = in_the_plane(apart)
    np.testing.assert_allclose(np.linalg.norm(placed[:, None] - placed[None], axis=-1), apart, atol=1e-3)


def test_clusters_are_found_without_a_count():
    centres = np.repeat([[0, 0], [10, 0], [0, 10]], 4, axis=0)
    points = centres + np.random.default_rng(0).normal(size=(12, 2)) / 10
    labels = clustered(np.linalg.norm(points[:, None] - points[None], axis=-1))
    assert labels.tolist() == [1] * 4 + [2] * 4 + [3] * 4


def test_a_report_says_that_rows_are_a_sample(bert, corpus):
    some = regard.study.similarity(bert, corpus)
    assert "estimated from 8 rows of each longer input" in " ".join(some.findings)
