"""Portraits of heads equal what plain numpy finds in the traces of the same texts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from transformers import BertForMaskedLM

import regard
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import KEPT, Sums
from regard.errors import UserError
from regard.measures.predictive import predictive_targets
from regard.studies.heads.choosing import QUANTILES, shown_rows, typical_of, varied
from regard.studies.heads.describing import BY_DISTANCE, PLACES, describe
from regard.studies.heads.distances import DISTANCES, distance_sums
from regard.studies.heads.keeping import BEST, BINS, COLUMNS, PER_BIN, hash_of, is_row
from regard.studies.heads.study import Heads
from regard.studies.heads.telling import reach_in_words
from regard.studies.heads.vocabulary import Vocabulary, frequent_tokens
from regard.trace.places import context_between, places_of
from tests.tiny import enlarged, tiny_bert, tiny_llama

ROOT = Path(__file__).parents[2]
WORDS = "the cat sat on the mat , a dog bought fresh strawberries at the store . it was happy and we went".split()
DRAWN = np.random.default_rng(0)


def lines(count):
    return [" ".join(DRAWN.choice(WORDS, DRAWN.integers(3, 12))) for _ in range(count)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("heads") / "lines.txt"
    path.write_text("\n".join(lines(90)), "utf-8")
    pairs = path.with_name("pairs.tsv")
    rows = zip(path.read_text("utf-8").splitlines(), lines(90), strict=True)
    pairs.write_text("\n".join(["text\tpair", *("\t".join(row) for row in rows)]), "utf-8")
    return path


@pytest.fixture(scope="module", params=["encoder", "decoder", "cross"])
def ran(request, corpus):
    """A kind of attention, its model, its sums over a corpus, and the rows that brute force finds."""
    source = Source(str(corpus if request.param != "cross" else corpus.with_name("pairs.tsv")), pair="pair")
    source = source if request.param == "cross" else Source(str(corpus))
    name = {"encoder": "wordpiece", "decoder": "bytelevel", "cross": "bart"}[request.param]
    given = request.getfixturevalue(name)
    model = {"encoder": tiny_bert, "decoder": tiny_llama}[request.param](given) if name != "bart" else given
    study = Heads(frequent_tokens(model, source, "truncate"), seed=5)
    sums = run_local(study, model, Run(source)).sums
    brute = brute_force(model, source, request.param)
    assert brute
    return request.param, model, study, sums, brute, source


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


def test_rivals_have_the_correlations_of_plain_numpy(ran):
    """What distances of the even examples predict on the odd ones, over pairs."""
    kind, _, _, sums, brute, _ = ran
    if kind == "cross":
        pytest.skip("cross attention has no distances")
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
def test_a_name_predicts_even_attention_over_its_targets_wherever_it_has_any(ran, name):
    """Also where it could not be given: "the same word" of one that occurs once is that word itself."""
    kind, _, _, sums, brute, _ = ran
    if kind != "encoder":
        pytest.skip("one kind of attention is enough")
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


def test_headvis_reads_the_same_looks(saved, tmp_path, command):
    _, folder = saved
    made = command("export", folder, "-o", tmp_path / "data")
    assert made.returncode == 0 and made.stdout.startswith("6 heads in ")
    files = {path.relative_to(tmp_path / "data").as_posix() for path in (tmp_path / "data").rglob("*.json")}
    heads = {f"heads/L{layer}H{head}.json" for layer in range(2) for head in range(3)}
    assert files == {"config.json", "scatter_data.json", "server_config.json", "attributions/manifest.json", *heads}
    read = {name: json.loads((tmp_path / "data" / name).read_text("utf-8")) for name in files}
    config = read["config.json"]
    assert config["heads"] == [[layer, head] for layer in range(2) for head in range(3)]
    assert [set(row) for row in read["scatter_data.json"]] == 6 * [{"layer", "head", *config["metrics"]}]
    examples = pd.read_parquet(folder / "examples.parquet")
    mine = examples[(examples["layer"] == 1) & (examples["head"] == 2) & ~examples["group"].str.contains("arrives")]
    sequences = read["heads/L1H2.json"]["sequences"]
    assert len(sequences) == len(mine) > 0
    for one, row in zip(sequences, mine.itertuples(), strict=True):
        assert one["tokens"] == list(row.tokens) and 1 <= one["interval"] <= config["n_intervals"]
        places = [divmod(index, one["seq_len"]) for index in one["attention_indices"]]
        assert places == [(row.query, key) for key in row.keys] and one["attention_values"] == list(row.weights)
    assert sum(read["heads/L1H2.json"]["qk_distance_histogram"]["bin_values"]) == pytest.approx(1, abs=1e-4)
    wrong = command("export", tmp_path)
    assert wrong.returncode == 2 and "regard study heads CORPUS -o FOLDER" in wrong.stderr


@pytest.fixture(scope="module")
def saved(corpus, wordpiece, tmp_path_factory):
    folder = tmp_path_factory.mktemp("portraits")
    result = regard.study.heads(tiny_bert(wordpiece), corpus, output=folder)
    return result, folder


def test_the_result_is_a_folder_of_tables_and_pages(saved):
    result, folder = saved
    index = pd.read_parquet(folder / "result.parquet")
    assert len(index) == len(result.table) == 6
    pages = sorted(path.name for path in (folder / "heads").glob("*.html"))
    assert pages == sorted(f"{row.layer}.{row.head}.html" for row in index.itertuples())
    report = (folder / "report.html").read_text("utf-8")
    for row in index.itertuples():
        assert f'href="heads/{row.layer}.{row.head}.html"' in report
        page = (folder / "heads" / f"{row.layer}.{row.head}.html").read_text("utf-8")
        assert "Strongest looks" in page and "Ordinary looks" in page and "How far it looks" in page
        assert 'href="../report.html"' in page and "http:" not in page and "https:" not in page
    examples = pd.read_parquet(folder / "examples.parquet")
    one = examples.iloc[0]
    assert one.tokens[one["query"]] == one.query_token and one.tokens[one.key] == one.key_token
    assert set(examples.group) == {"strongest", "ordinary", "strongest by what arrives"}


def test_each_head_is_also_json_with_the_numbers_of_the_tables(saved):
    _, folder = saved
    described = (ROOT / "docs" / "reference" / "portraits.md").read_text("utf-8")
    tables = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
    assert len(list((folder / "heads").glob("*.json"))) == 6
    head = json.loads((folder / "heads" / "1.2.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert (head["format"], head["version"], head["kind"], head["layer"], head["head"]) == (
        *("regard head", 1),
        *("encoder", 1, 2),
    )
    assert all(f"`{name}`" in described for name in head)
    assert all(f"`{name}`" in described for name in head["examples"][0])
    for name in ("examples", "tokens", "distances"):
        mine = tables[name][(tables[name]["layer"] == 1) & (tables[name]["head"] == 2)]
        assert len(head[name]) == len(mine) > 0
        shares = [one["share" if name != "examples" else "weight"] for one in head[name]]
        assert shares == mine["share" if name != "examples" else "weight"].tolist()
    row = tables["result"][(tables["result"]["layer"] == 1) & (tables["result"]["head"] == 2)].iloc[0]
    assert head["said"]["sentence"] == row["sentence"] and head["said"]["verified"] == bool(row["verified"])
    assert json.loads((folder / "meta.json").read_text())["study"] == "heads"


SIMPLER = ("previous token", "other pieces of the word", "repeated token", "induction")  # what often predicts


def pooled(traces, layer, head, name):
    """The lift of a head over some traces, by their awake attention."""
    found = [awake[name] for trace in traces if name in (awake := trace.patterns().measured[layer].awake)]
    weights = np.nan_to_num([one.awake[head] for one in found])
    share, chance = (np.nansum([getattr(one, part)[head] for one in found] * weights) for part in ("share", "chance"))
    return max(0.0, (share - chance) / max(weights.sum() - chance, 1e-9))


def test_predicts_is_the_pooled_lift_of_the_first_inputs(corpus, bytelevel, tmp_path):
    model, count = enlarged(tiny_llama(bytelevel), 3), 10
    result = regard.study.heads(model, corpus, output=tmp_path, predictive=count, limit=20)
    totals, inputs = np.zeros((3, 2, 4)), []  # mass, awake, expected
    for text in corpus.read_text("utf-8").splitlines()[:count]:
        cut = model.tokenizer.decode(model.tokenizer(text)["input_ids"][:32])
        trace = model.trace(cut, predictive=True)
        inputs.append(trace)
        free = np.tril(np.ones((len(trace.tokens),) * 2, bool))
        free[:, 0] = False
        targets = predictive_targets(trace.gains(), free)
        chance = targets.sum(-1) / np.maximum(free.sum(-1), 1)
        rows = (chance > 0) & (chance < 0.5)
        for layer in (0, 1):
            maps = trace.attention(layer)[:, rows] * free[rows]
            awake = maps.sum(-1)
            totals[:, layer] += (maps * targets[rows]).sum((1, 2)), awake.sum(-1), (awake * chance[rows]).sum(-1)
    share, chance = totals[0] / totals[1], totals[2] / totals[1]
    table = result.table.sort_values(["layer", "head"])
    lifts = np.clip((share - chance) / (1 - chance), 0, 1).ravel()
    np.testing.assert_allclose(table["predicts"], lifts, atol=1e-5)
    np.testing.assert_allclose(table["predicts_chance"], chance.ravel(), atol=1e-5)
    assert (
        (lifts > 0).any() and (table["predicts_low"] <= lifts + 1e-6).all() and result.meta["predictive_inputs"] == 10
    )
    for row in table.itertuples():  # a name gives way to simpler ones
        mine, *simpler = (pooled(inputs, row.layer, row.head, name) for name in ("predictive word", *SIMPLER))
        assert row.predicts_own == (mine > max(simpler))
    page = (tmp_path / "heads" / "0.0.html").read_text("utf-8")
    assert f"lift {lifts[0]:.2f} [" in page and "first 10 inputs" in page


def test_predicts_is_not_available_without_a_head_or_a_question(saved, corpus, bytelevel):
    result, folder = saved
    assert result.table["predicts"].isna().all()
    assert "no language-model head" in (folder / "heads" / "0.0.html").read_text("utf-8")
    unasked = regard.study.heads(tiny_llama(bytelevel), corpus, predictive=0, limit=10)
    assert unasked.table["predicts"].isna().all() and "not asked" in unasked.findings[-1]


def test_text_of_the_corpus_never_becomes_markup(wordpiece, tmp_path):
    corpus = tmp_path / "odd.txt"
    corpus.write_text("\n".join("the cat <script>alert(1)</script> sat & the mat" for _ in range(20)))
    folder = tmp_path / "out"
    regard.study.heads(tiny_bert(wordpiece), corpus, output=folder)
    for page in [folder / "report.html", *(folder / "heads").glob("*.html")]:
        assert "<script>alert" not in page.read_text("utf-8")


def test_a_pipe_is_refused_in_a_sentence(wordpiece):
    with pytest.raises(UserError, match="more than once"):
        regard.study.heads(tiny_bert(wordpiece), "-")


def test_a_stopped_run_goes_on_to_the_same_bytes(saved, corpus, wordpiece, tmp_path, monkeypatch):
    monkeypatch.setattr("regard.studies.base.Pass.window", 16)
    monkeypatch.setattr("regard.corpus.engine._EVERY", 0.0)
    whole = tmp_path / "whole"
    model = tiny_bert(wordpiece, BertForMaskedLM)
    regard.study.heads(model, corpus, output=whole, predictive=2)

    def interrupt(tally, seconds):
        if tally.inputs >= 48:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        regard.study.heads(model, corpus, output=folder, report=interrupt, predictive=2)
    regard.study.heads(model, corpus, output=folder, resume=True, predictive=2)
    for name in ("result", "examples", "tokens", "distances"):
        assert (folder / f"{name}.parquet").read_bytes() == (whole / f"{name}.parquet").read_bytes()
    for page in (whole / "heads").iterdir():
        assert page.read_bytes() == (folder / "heads" / page.name).read_bytes()


def test_a_treebank_adds_grammar_that_brute_force_confirms(wordpiece, tmp_path):
    path = tmp_path / "trees.conllu"
    rows = [
        ("the", "DET", 2, "det"),
        ("cat", "NOUN", 3, "nsubj"),
        ("sat", "VERB", 0, "root"),
        ("on", "ADP", 6, "case"),
        ("the", "DET", 6, "det"),
        ("mat", "NOUN", 3, "obl"),
    ]
    block = "\n".join(
        f"{n}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{relation}\t_\t_"
        for n, (form, upos, head, relation) in enumerate(rows, 1)
    )
    path.write_text("".join(f"# sent_id = {n}\n# text = the cat sat on the mat\n{block}\n\n" for n in range(12)))
    model = tiny_bert(wordpiece)
    result = regard.study.heads(model, path)
    table = result.files["grammar"]
    maps = model.trace("the cat sat on the mat").attention(0, 1)[1:-1, 1:-1]
    whole = maps.sum() - np.trace(maps)
    one = table[(table.layer == 0) & (table["head"] == 1)].set_index(["what", "from", "to"])
    det = one.loc[("relation", "det", "up")]
    assert det.share == pytest.approx((maps[0, 1] + maps[4, 5]) / whole, abs=1e-5)
    noun = one.loc[("upos", "DET", "NOUN")]
    assert noun.share == pytest.approx(sum(maps[i, j] for i in (0, 4) for j in (1, 5)) / whole, abs=1e-5)
    # what distances alone give: the attention of determiners at each distance, spread over what stands there
    expected = 0.0
    upos = [row[1] for row in rows]
    for gap in range(-5, 6):
        there = [(i, i + gap) for i in (0, 4) if gap and 0 <= i + gap < 6]
        if there:
            expected += sum(maps[i, j] for i, j in there) * np.mean([upos[j] == "NOUN" for _, j in there])
    assert noun.chance == pytest.approx(expected / whole, abs=1e-5)


def test_a_planted_previous_token_head_is_described_and_random_ones_are_not(minilm, tmp_path):
    """Head 0.2 of a real model looks one token back; random weights of its shape do nothing that can be said."""
    corpus = tmp_path / "lines.txt"
    corpus.write_text("\n".join(lines(160)), "utf-8")
    result = regard.study.heads(minilm, corpus, control=True, control_seeds=1)
    index = result.table.set_index(["layer", "head"])
    assert index.loc[(0, 2)].verified and index.loc[(0, 2)].description in ("previous token", BY_DISTANCE)
    assert "one token back" in index.loc[(0, 2)].sentence
    assert index.loc[(0, 2)].value > 0.95
    (control,) = [text for text in result.findings if text.startswith("Control")]
    random = float(re.search(r"random weights ([\d.]+)", control)[1])
    assert random <= 0.02 * len(index)
