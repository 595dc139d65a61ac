"""The atlas over a corpus equals the same measures taken input by input from traces."""

from functools import cache

import numpy as np
import pytest

import regard
from regard.corpus.batches import window_of, windows_of
from regard.corpus.engine import encoder_of, sum_window
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.measures.entropy import entropy_rows
from regard.measures.reading import lift, read_rows
from regard.measures.shape import shape_features
from regard.measures.types import FEWEST, TYPES, type_probabilities
from regard.patterns.definitions import PATTERNS, Part
from regard.studies.atlas.study import Atlas
from regard.trace.places import context_of
from regard.views.wire import encode, header_of
from tests.studies.by_hand import maps, seen, traces


def by_hand(some, kind, layer, pattern):
    """(lift, mass, argmax, chance, rows) of a pattern from the rows of all traces."""
    mass, hit, chance, rows = 0.0, 0.0, 0.0, 0
    for trace in some:
        site = trace.site(layer, kind=kind)
        context = context_of(trace, site, kind == "decoder")
        if pattern.missing(context):
            continue
        visible = seen(site)
        table, chosen = pattern.targets(Part(context, context.queries, 0, visible))
        found = read_rows(maps(site), table & visible, visible=visible, rows=chosen)
        mass, hit = mass + (found.mass * found.counted).sum(-1), hit + (found.hit * found.counted).sum(-1)
        chance, rows = chance + (found.chance * found.counted).sum(), rows + int(found.counted.sum())
    return mass, hit, chance, rows


@pytest.fixture(scope="module")
def studied(request):
    """A function from the names of a model and a corpus to its atlas and all its traces."""

    @cache
    def of(name, file="corpus"):
        model, path = request.getfixturevalue(name), request.getfixturevalue(file)
        return regard.study.atlas(model, path), traces(model, path)

    return of


@pytest.mark.parametrize(("name", "kind"), [("bert", "encoder"), ("gpt2", "decoder"), ("llama", "decoder")])
def test_patterns_equal_the_rows_of_all_traces(name, kind, studied):
    result, some = studied(name)
    table = result.table.set_index(["kind", "layer", "measure", "head"]).sort_index()
    asked = 0
    for pattern in PATTERNS:
        for layer in (0, 1):
            mine = table.loc[kind, layer, pattern.name]
            mass, hit, chance, rows = by_hand(some, kind, layer, pattern)
            assert (mine["rows"] == rows).all()
            if rows:
                asked += 1
                np.testing.assert_allclose(mine["mass"], mass / rows, atol=1e-5)
                np.testing.assert_allclose(mine["argmax"], hit / rows, atol=1e-5)
                np.testing.assert_allclose(mine["chance"], chance / rows, atol=1e-5)
                np.testing.assert_allclose(mine["value"], lift(mass / rows, chance / rows + 0 * mass), atol=1e-5)
    assert asked >= 10


def test_patterns_across_sentences_are_measured_over_pairs(studied):
    result, some = studied("bert", "pairs")
    table = result.table.set_index(["measure", "layer"]).sort_index()
    across = next(pattern for pattern in PATTERNS if pattern.name == "same word in the other sentence")
    mass, _, _, rows = by_hand(some, "encoder", 1, across)
    assert rows > 0
    np.testing.assert_allclose(table.loc[(across.name, 1), "mass"], mass / rows, atol=1e-5)
    assert table.loc[("bag of words", 1), "value"].notna().all()


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_entropy_and_distance_equal_the_rows_of_all_traces(name, studied):
    result, some = studied(name)
    table = result.table.set_index(["layer", "measure"]).sort_index()
    total, far, uniform, rows = 0.0, 0.0, 0.0, 0
    for trace in some:
        site = trace.sites[1]
        attention = maps(site)
        found, expected = entropy_rows(attention, visible=seen(site))
        choice = expected > 0
        steps = np.abs(np.subtract.outer(np.arange(site.queries), np.arange(site.keys)))
        total, uniform = total + (found * choice).sum(-1), uniform + (expected * choice).sum()
        far, rows = far + ((attention * steps).sum(-1) * choice).sum(-1), rows + choice.sum()
    np.testing.assert_allclose(table.loc[(1, "entropy"), "value"], total / rows, atol=1e-5)
    np.testing.assert_allclose(table.loc[(1, "entropy"), "chance"], uniform / rows, atol=1e-5)
    np.testing.assert_allclose(table.loc[(1, "distance"), "value"], far / rows, atol=1e-4)


@pytest.mark.parametrize(("name", "file"), [("bert", "corpus"), ("bert", "pairs"), ("gpt2", "corpus")])
def test_types_equal_those_of_each_map(name, file, studied):
    result, some = studied(name, file)
    shares = result.tables["Types of maps"]
    total, count = np.zeros(len(TYPES)), 0
    for trace in some:
        side = next(iter(trace.sides.values()))
        if len(side) < FEWEST:
            continue
        segments = np.array([-1 if token.special else token.segment for token in side.tokens])
        for site in trace.sites:
            total += type_probabilities(shape_features(maps(site), segments=segments, visible=seen(site))).sum(0)
            count += site.heads
    np.testing.assert_allclose(shares["share"], total / count, atol=1e-5)
    assert ((shares["low"] <= shares["share"]) & (shares["share"] <= shares["high"])).all()


def test_sums_do_not_depend_on_batch_size_and_padding(bert, corpus):
    ((index, examples),) = windows_of(read(Source(str(corpus))))

    def sums(size):
        return sum_window(Atlas(), bert, window_of(index, examples, encoder_of(bert), long="truncate", tokens=size))

    alone = sums(1)
    for tokens in (16, 100, 4096):
        together = sums(tokens)
        assert set(alone.arrays) == set(together.arrays)
        for name, array in alone.arrays.items():
            np.testing.assert_allclose(together[name], array, rtol=1e-5, atol=1e-4, err_msg=f"{name}, {tokens}")


def test_the_atlas_of_a_report_shows_names_and_numbers_of_the_corpus(minilm, corpus):
    result = regard.study.atlas(minilm, corpus)
    records = header_of(encode(result.example, **result.example_options))["sites"]
    named = result.tables["Named heads"]
    shown = {
        (site["kind"], site["layer"], head, found["name"], found["score"])
        for site in records
        for head, some in enumerate(site["patterns"])
        for found in some
    }
    assert shown == set(named[["kind", "layer", "head", "measure", "value"]].itertuples(index=False, name=None))
    assert all("rows of the corpus" in p["sentence"] for site in records for some in site["patterns"] for p in some)
    assert shown
    counts = named["measure"].value_counts()
    first = result.findings[0]  # says the longest bars of the chart
    assert all(f"“{name}” ({counts[name]})" in first for name, *_ in result.chart.record["bars"][:2])
    more = len(named) - len(named.drop_duplicates(["kind", "layer", "head"]))
    assert (f"; {more} of these" in result.chart.about) == (more > 0)
