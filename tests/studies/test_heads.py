"""Portraits of heads equal what plain numpy finds in the traces of the same texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import KEPT, Sums
from regard.studies.heads.choosing import QUANTILES, shown_rows, typical_of, varied
from regard.studies.heads.describing import PLACES, describe
from regard.studies.heads.distances import DISTANCES, distance_sums
from regard.studies.heads.keeping import BEST, BINS, COLUMNS, PER_BIN, hash_of, is_row
from regard.studies.heads.study import Heads
from regard.studies.heads.telling import reach_in_words
from regard.studies.heads.vocabulary import Vocabulary, frequent_tokens
from regard.trace.places import context_between, places_of
from tests.studies.portrait_lines import write_lines
from tests.tiny import tiny_bert, tiny_llama


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def run(request, corpus):
    """A function from a kind of attention to its model, study, sums over a corpus, the rows of brute force, source."""
    made = {}

    def of(kind):
        if kind not in made:
            name = {"encoder": "wordpiece", "decoder": "bytelevel", "cross": "bart"}[kind]
            given = request.getfixturevalue(name)
            model = {"encoder": tiny_bert, "decoder": tiny_llama}[kind](given) if name != "bart" else given
            source = Source(str(corpus.with_name("pairs.tsv")), pair="pair") if kind == "cross" else Source(str(corpus))
            study = Heads(frequent_tokens(model, source, "truncate"), seed=5)
            sums = run_local(study, model, Run(source)).sums
            brute = brute_force(model, source, kind)
            assert brute
            made[kind] = kind, model, study, sums, brute, source
        return made[kind]

    return of


@pytest.fixture(params=["encoder", "decoder", "cross"])
def ran(run, request):
    return run(request.param)


def brute_force(model, source, kind):
    """Per layer and head: rows (strength, example, query, key), awake maps, and where resting places are."""
    found = {}
    for example in read(source):
        trace = trace_of(model, example)
        for site in (one for one in trace.sites if one.kind == kind):
            sides = trace.sides[site.query_side], trace.sides[site.key_side]
            context = context_between(*sides, site.query_side == site.key_side, kind == "decoder")
            queries, keys = len(sides[0]), len(sides[1])
            seen = np.tril(np.ones((queries, keys), bool)) if kind == "decoder" else np.ones((queries, keys), bool)
            free = seen & context.keys.content[None]
            if kind == "decoder":
                free[:, 0] = False
            free &= context.queries.content[:, None]
            maps = trace.attention(site.layer, kind=kind)
            for head in range(site.heads):
                awake = np.where(free, maps[head], 0)
                for query in np.flatnonzero(free.any(axis=1)):
                    row = (float(awake[query].max()), example.number, int(query), int(awake[query].argmax()))
                    found.setdefault((site.layer, head), []).append((row, awake[query], free[query], sides))
    return found


def trace_of(model, example):
    return model._engine.trace_rows([model._engine.encode(example.text, truncate=True)], [example.pair])[0]


def test_the_best_rows_are_those_of_brute_force(ran):
    kind, _, _, sums, brute, _ = ran
    for (layer, head), rows in brute.items():
        expected = sorted((one for one, *_ in rows), key=lambda row: (-row[0], row[1], row[2]))[:BEST]
        kept = sums[f"{KEPT}{kind}/{layer}/best"][head]
        assert is_row(kept).sum() == len(expected)
        np.testing.assert_allclose(kept[: len(expected), 5], [row[0] for row in expected], atol=1e-6)
        # rows whose strengths agree to float32 may change places between a batch and a text alone
        for got, want in zip(kept, expected, strict=False):
            equal = {row[1:] for row in (one for one, *_ in rows) if abs(row[0] - want[0]) < 2e-6}
            assert (int(got[1]), int(got[3]), int(got[4])) in equal


def test_ordinary_rows_are_the_smallest_hashes_of_each_bin(ran):
    kind, _, study, sums, brute, _ = ran
    for (layer, head), rows in brute.items():
        kept = sums[f"{KEPT}{kind}/{layer}/typical"][head]
        counts = sums[f"{kind}/{layer}/strengths"][head]
        assert counts.sum() == len(rows)
        edges = 0
        for place in range(BINS):
            mine = [one for one, *_ in rows if int(np.float32(one[0]) * BINS) == place]
            edges += abs(len(mine) - counts[place])
            if len(mine) != counts[place]:
                continue  # a strength on the edge of a bin
            names = np.array([(row[1], 0, row[2]) for row in mine]).reshape(-1, 3)
            hashes = np.sort(hash_of(study.seed, names))[:PER_BIN]
            np.testing.assert_allclose(kept[place][is_row(kept[place])][:, 0], hashes)
        assert edges <= 2


def test_tokens_and_distances_add_up_to_the_awake_attention(ran):
    kind, _, study, sums, brute, _ = ran
    places = Vocabulary(study.vocabulary.ids)
    for (layer, head), rows in brute.items():
        expected = np.zeros((3, places.size))
        far = np.zeros(len(DISTANCES))
        for (_, _, query, _), awake, free, (queries, keys) in rows:
            mine, theirs = places.places(queries), places.places(keys)
            expected[0, mine[query]] += awake.sum()
            np.add.at(expected[1], theirs, awake)
            np.add.at(expected[2], theirs, awake.sum() * free / free.sum())
            gaps = np.clip(np.arange(len(awake)) - query, DISTANCES[0], DISTANCES[-1]) - DISTANCES[0]
            np.add.at(far, gaps, awake)
        np.testing.assert_allclose(sums[f"{kind}/{layer}/looking"][:, head], expected[0], atol=1e-4)
        np.testing.assert_allclose(sums[f"{kind}/{layer}/looked_at"][..., head].sum(0), expected[1], atol=1e-4)
        np.testing.assert_allclose(sums[f"{kind}/{layer}/looked_at_chance"][..., head].sum(0), expected[2], atol=1e-4)
        if kind != "cross":
            np.testing.assert_allclose(sums[f"{kind}/{layer}/distance_mass"][head], far, atol=1e-4)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_rivals_have_the_correlations_of_plain_numpy(run, kind):
    """What distances of the even examples predict on the odd ones, over pairs; cross attention has no distances."""
    _, _, _, sums, brute, _ = run(kind)
    found = describe(sums)
    for (layer, head), rows in list(brute.items())[:3]:
        pairs = []  # half, distance, attention beyond even attention
        for (_, example, query, _), awake, free, _ in rows:
            above = (awake - awake.sum() / free.sum())[free]
            gaps = np.clip(np.flatnonzero(free) - query, DISTANCES[0], DISTANCES[-1])
            pairs += [(example % 2, int(gap), float(value)) for gap, value in zip(gaps, above, strict=True)]
        table = pd.DataFrame(pairs, columns=["half", "gap", "value"])
        first, second = table[table.half == 0], table[table.half == 1]
        mean = first.groupby("gap").value.mean()
        predicted = second.gap.map(mean).fillna(0.0)
        one = found[kind, layer, head]
        assert one.by_mean == pytest.approx(np.corrcoef(predicted, second.value)[0, 1], abs=1e-4)
        fixed = {gap: np.corrcoef(first.gap == gap, first.value)[0, 1] for gap in set(first.gap)}
        best = max(fixed, key=fixed.get)
        assert one.offset == best
        assert one.by_offset == pytest.approx(np.corrcoef(second.gap == best, second.value)[0, 1], abs=1e-4)


@pytest.mark.parametrize("name", ["same word", "previous token"])
def test_a_name_predicts_even_attention_over_its_targets_wherever_it_has_any(run, name):
    """Also where it could not be given: "the same word" of one that occurs once is that word itself."""
    kind, _, _, sums, brute, _ = run("encoder")
    for (layer, head), rows in list(brute.items())[:3]:
        product, square, alone = 0.0, 0.0, 0
        for (_, _, query, _), awake, free, (side, _) in rows:
            words = places_of(side, {}).words
            if name == "same word":
                targets = free & (words == words[query]) & (words >= 0)
                alone += targets.sum() == 1
            else:
                targets = free & (np.arange(len(free)) == query - 1)
            if targets.any():
                told = np.where(free, targets / targets.sum() - 1 / free.sum(), 0)
                product += told @ np.where(free, awake - awake.sum() / free.sum(), 0)
                square += told @ told
        assert alone or name != "same word"
        place = PLACES[name]
        assert sums.whole(f"{kind}/{layer}/described")[head, place] == pytest.approx(product, abs=1e-4)
        assert sums.whole(f"{kind}/{layer}/described_square")[place] == pytest.approx(square, rel=1e-5)


def test_where_shown_rows_look_is_what_their_traces_say(ran):
    kind, model, study, sums, _, source = ran
    second = study.second(sums, model, run_local)
    exact = run_local(second, model, Run(source)).sums
    examples = list(read(source))
    for place, table in shown_rows(sums).items():
        layer = int(place.split("/")[1])
        if not place.startswith(kind):
            continue
        for slot in (0, 13):
            row = table[0, slot]
            weights = trace_of(model, examples[int(row[1])]).attention(layer, 0, kind=kind)[int(row[3])]
            looks = exact[f"{place}/rows"][0, slot]
            there = looks[looks[:, 0] > 0]
            np.testing.assert_allclose(weights[there[:, 0].astype(int) - 1], there[:, 1], atol=1e-5)
            assert there[0, 1] == pytest.approx(weights.max(), abs=1e-5)


def test_order_and_split_do_not_matter_to_kept_rows():
    rows = np.full((2, 5, len(COLUMNS)), np.inf)
    drawn = np.random.default_rng(1).random((4, 2, 5, len(COLUMNS)))
    drawn[..., 0] = np.round(drawn[..., 0], 1)  # many are equal, and told apart by their names
    parts = [Sums({f"{KEPT}x": rows.copy()})] + [Sums({f"{KEPT}x": part}) for part in drawn]
    one = parts[0]
    for part in parts[1:]:
        one = one.plus(part)
    other = parts[3].plus(parts[1]).plus(parts[4].plus(parts[2].plus(parts[0])))
    np.testing.assert_array_equal(one[f"{KEPT}x"], other[f"{KEPT}x"])
    whole = np.concatenate(drawn, axis=1)[0]
    np.testing.assert_array_equal(one[f"{KEPT}x"][0], whole[np.lexsort(whole[:, 3::-1].T)][:5])


def test_diagonals_are_summed_by_distance():
    import torch

    maps = torch.rand(2, 3, 40, 50)
    sums = distance_sums(maps)
    for n, distance in enumerate(DISTANCES):
        gaps = np.clip(np.arange(50)[None] - np.arange(40)[:, None], DISTANCES[0], DISTANCES[-1])
        np.testing.assert_allclose(sums[..., n], maps.numpy()[..., gaps == distance].sum(-1), rtol=1e-4, atol=1e-5)


def test_no_pair_of_tokens_fills_a_page():
    rows = np.zeros((20, len(COLUMNS)))
    rows[:, 0] = np.arange(20)
    rows[10:, -1] = 7
    assert [row[0] for row in varied(rows, 6)] == [0, 1, 2, 3, 10, 11]


def test_ordinary_rows_stand_at_every_tenth_of_the_strengths():
    rows = np.zeros((BINS, PER_BIN, len(COLUMNS)))
    rows[..., 5] = np.arange(BINS)[:, None] / BINS
    found = typical_of(rows, np.full(BINS, 10.0))
    np.testing.assert_allclose(found[::2, 5], QUANTILES, atol=0.011)
    one_bin = np.zeros(BINS)
    one_bin[3] = 50
    assert is_row(typical_of(rows, one_bin)).sum() == PER_BIN  # no row twice


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-1, -1), "one token back"),
        ((-4, -1), "1 to 4 tokens back"),
        ((1, 2), "1 to 2 tokens ahead"),
        ((0, 0), "at the token itself"),
        ((-2, 0), "from the token itself to 2 tokens back"),
        ((-2, 1), "from 2 tokens back to one token ahead"),
        ((-33, -33), "more than 32 tokens back"),
    ],
)
def test_distances_in_words(ends, words):
    assert reach_in_words(*ends) == words
