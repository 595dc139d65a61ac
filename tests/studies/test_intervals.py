"""Intervals: what they are, that they hold the truth as often as they say, and where there are none."""

import json

import numpy as np
import pytest
from scipy import stats

import regard
from regard.corpus.batches import windows_of
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums, ratio
from regard.measures.intervals import (
    DRAWS,
    FEWEST,
    GROUPS,
    between,
    clusters_of,
    correlation_interval,
    draws,
    interval,
    resampled,
    share_interval,
    student,
)
from regard.studies.similarity.study import Similarity
from regard.studies.tokens.study import Tokens


def limits(values, sizes):
    """The interval of the mean of clusters with sums `values` and so many things each."""
    return interval(ratio(resampled(values), resampled(sizes)), clusters_of(sizes))


# -- the definition --------------------------------------------------------------------------------------------


def test_at_least_a_thousand_draws_are_made_and_always_the_same():
    assert DRAWS >= 1000
    assert draws(50).shape == (1 + DRAWS, 50)
    assert (draws(50)[0] == 1).all()
    assert draws(50)[1:].mean() == pytest.approx(1, abs=0.01)


def test_an_interval_is_the_widened_percentile_of_the_draws():
    values = np.random.default_rng(0).random(40)
    means = [sum(w * v for w, v in zip(row, values, strict=True)) / sum(row) for row in draws(40)[1:]]
    wide = stats.t.ppf(0.975, 39) * np.sqrt(40 / 39)
    expected = np.quantile(means, [stats.norm.sf(wide), stats.norm.cdf(wide)])
    np.testing.assert_allclose(limits(values, np.ones(40)), expected, rtol=1e-4)


@pytest.mark.parametrize("freedom", [7, 10, 29, 127])
def test_the_quantile_of_student_is_that_of_the_tables(freedom):
    assert student(stats.norm.ppf(0.975), np.array(freedom)) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-3)


def test_clusters_of_unlike_size_count_for_fewer():
    assert clusters_of(np.ones(30)) == pytest.approx(30)
    assert clusters_of(np.array([1000.0, *[1] * 29])) == pytest.approx(1, abs=0.1)
    assert clusters_of(np.zeros(5)) == 0


def test_below_eight_clusters_there_is_no_interval():
    for count, there in ((FEWEST - 1, False), (FEWEST, True)):
        values = np.random.default_rng(1).random(count)
        assert np.isfinite(limits(values, np.ones(count))).all() == there


def test_a_number_that_one_cluster_carries_has_no_interval():
    sizes = np.array([5.0, *[0] * 49])
    assert np.isnan(limits(2 * sizes, sizes)).all()


def test_an_interval_that_is_not_there_is_not_said():
    assert between(float("nan"), float("nan")) == ""
    assert between(0.1, 0.25) == " (0.10–0.25)"
    assert between(-0.1, 0.25) == " (−0.10 to 0.25)"
    assert between(57, 61, ".0f", "%") == " (57–61%)"


# -- coverage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("clusters", "each"), [(50, 1), (200, 1), (30, 12)])
def test_intervals_hold_the_true_mean_in_about_95_of_100_corpora(clusters, each):
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        sizes = rng.poisson(each - 1, clusters) + 1.0
        centre = rng.beta(2, 6, clusters)
        low, high = limits(centre * sizes, sizes)
        held += bool(low <= 0.25 <= high)
    assert 0.92 <= held / 400 <= 0.98


def test_the_interval_of_a_rank_correlation_holds_the_true_one():
    rng = np.random.default_rng(3)
    true = 6 / np.pi * np.arcsin(0.6 / 2)
    held = 0
    for _ in range(400):
        one, other = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 50).T
        low, high = correlation_interval(float(stats.spearmanr(one, other).statistic), 50)
        held += low <= true <= high
    assert 0.92 <= held / 400 <= 0.98


# -- clusters --------------------------------------------------------------------------------------------------


def test_sums_by_group_add_up_to_those_of_the_clusters():
    clusters = np.array([0, 3, 3, GROUPS + 3, 1])
    values = np.arange(10.0).reshape(5, 2)
    sums = Sums()
    sums.add_groups("a", clusters[:2], values[:2])
    sums.add_groups("a", clusters[2:], values[2:])
    np.testing.assert_array_equal(sums["a"][3], values[1] + values[2] + values[3])
    np.testing.assert_array_equal(sums["a"].sum(axis=0), values.sum(axis=0))


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def documents(tmp_path, sentences):
    """Twenty documents of ten times the same sentence: 20 facts, not 200."""
    rows = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(sentences[2:22]) for _ in range(10)]
    return write(tmp_path / "documents.jsonl", [json.dumps(row) for row in rows])


def widths(result):
    table = result.table
    return (table["high"] - table["low"])[table["value"] > 0].mean()


def test_sentences_of_a_document_are_drawn_together(bert, documents, tmp_path):
    alone = [json.dumps({"text": json.loads(line)["text"]}) for line in documents.read_text("utf-8").splitlines()]
    known = regard.study.tokens(bert, documents)
    unknown = regard.study.tokens(bert, write(tmp_path / "alone.jsonl", alone))
    assert known.table["value"].equals(unknown.table["value"])
    assert widths(known) > 2.5 * widths(unknown)  # ten copies of a sentence tell no more than one


def test_the_result_says_how_many_clusters_there_are_and_of_what(bert, documents, corpus):
    assert regard.study.tokens(bert, documents).meta["intervals"] == {
        "over": "documents",
        "clusters": 20,
        "draws": DRAWS,
    }
    assert regard.study.tokens(bert, corpus).meta["intervals"]["over"] == "examples"
    assert regard.study.tokens(bert, corpus).meta["intervals"]["clusters"] == 24


def test_parts_of_a_long_text_are_one_cluster(bert, tmp_path):
    path = write(tmp_path / "long.txt", ["the cat sat on the mat . " * 40, *["the cat sat"] * 9])
    result = regard.study.tokens(bert, path, long="split")
    assert result.meta["tally"]["inputs"] > 10
    assert result.meta["intervals"]["clusters"] == 10


@pytest.mark.parametrize(
    ("name", "text", "options", "clusters"),
    [
        ("a.conllu", "# newdoc id = x\n{0}\n{0}\n# newdoc\n{0}\n", {}, [0, 0, 1]),
        ("a.conllu", "{0}\n{0}\n", {}, [0, 1]),
        ("a.txt", "One is. Two is.\n\nThree is. Four is.\n", {"unit": "sentence"}, [0, 0, 1, 1]),
        ("a.txt", "One is.\nTwo is.\n", {"unit": "sentence"}, [0, 1]),  # no empty line: paragraphs are not known
        ("a.txt", "One is.\nTwo is.\n", {}, [0, 1]),
        (
            "a.txt",
            " = A = \n x y \n = = B = = \n z \n = C = \n w \n",
            {},
            [0, 0, 1],
        ),  # titles begin documents and are no text
        ("a.csv", "text,doc_id\nx,1\ny,2\nz,1\n", {}, [0, 1, 0]),
    ],
)
def test_readers_tell_documents_where_the_corpus_does(tmp_path, name, text, options, clusters):
    path = tmp_path / name
    path.write_text(text.format("1\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n"), "utf-8")
    assert [example.cluster for example in read(Source(str(path), **options))] == clusters


def test_a_sample_is_numbered_anew_so_that_few_clusters_stay_apart(long_corpus):
    found = [example.cluster for example in read(Source(str(long_corpus), sample=60))]
    assert found == list(range(60))


@pytest.mark.parametrize("study", [Tokens, Similarity])
def test_intervals_do_not_depend_on_the_order_of_windows(study, bert, long_corpus, monkeypatch):
    run = Run(Source(str(long_corpus), limit=90))
    whole = run_local(study(), bert, run).sums
    total = Sums()
    for _, examples in reversed(list(windows_of(read(run.source), size=30))):
        monkeypatch.setattr("regard.corpus.engine.read", lambda *_, examples=examples: iter(examples))
        total = total.plus(run_local(study(), bert, run).sums)
    name = "encoder/distances" if study is Similarity else "encoder/1/means"
    np.testing.assert_allclose(resampled(total[name]), resampled(whole[name]), rtol=1e-5, atol=1e-4)


# -- what people read ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["atlas", "tokens", "norms", "similarity"])
def test_one_input_has_no_interval_and_nothing_says_nan(name, bert, tmp_path):
    result = getattr(regard.study, name)(bert, write(tmp_path / "one.txt", ["the cat sat on the mat ."]))
    assert result.table["low"].isna().all() and result.table["high"].isna().all()
    assert not any("nan" in text for text in (*result.findings, *result.cautions))
    assert any("that intervals need" in text for text in result.cautions)


def test_no_head_is_named_over_a_corpus_without_an_interval(bert, tmp_path):
    few = regard.study.atlas(bert, write(tmp_path / "few.txt", ["the cat sat on the mat ."] * 7))
    assert few.tables["Named heads"].empty


def test_similarity_has_an_interval_and_a_baseline(bert, corpus):
    table = regard.study.similarity(bert, corpus).table
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    assert table["baseline"].to_numpy() == pytest.approx(table["value"].mean())


def test_mean_distance_has_the_level_of_uniform_attention(bert, tmp_path):
    table = regard.study.atlas(bert, write(tmp_path / "same.txt", ["the cat sat on the mat ."] * 9)).table
    places = np.arange(9)  # seven words between two special tokens
    expected = np.abs(places[:, None] - places).mean()
    assert table[table["measure"] == "distance"]["chance"].to_numpy() == pytest.approx(expected)


def test_the_interval_of_a_share_that_all_clusters_agree_on_is_the_exact_one():
    agree = np.repeat([[1.0, 0.0, 0.25]], 1001, axis=0)
    agree[1:, 2] = np.linspace(0.1, 0.4, 1000)
    low, high = share_interval(agree, 40.0)
    exact = [stats.binomtest(hits, 40).proportion_ci(method="exact") for hits in (40, 0)]
    assert (low[0], high[0]) == pytest.approx((exact[0].low, 1.0))
    assert (low[1], high[1]) == pytest.approx((0.0, exact[1].high))
    assert (low[2], high[2]) == tuple(end[2] for end in interval(agree, 40.0))  # where draws differ, nothing changes
    assert share_interval(-agree[:, :1], 40.0, least=-1.0)[1] == pytest.approx([-exact[0].low])
    assert np.isnan(share_interval(agree, 2.0)).all()  # too few to say anything
