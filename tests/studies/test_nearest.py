"""The sample of a corpus, its vectors, what is nearest, and the map of queries and keys: as plain numpy has it."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.base.errors import UserError
from regard.cli import app
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.studies.heads.keeping import hash_of
from regard.studies.heads.mapping import SampleTexts, joint_map, packed
from regard.studies.heads.sample import NAME, sampled_inputs
from regard.studies.heads.stored import Stored
from regard.studies.heads.study import Heads
from regard.studies.heads.vectors import Vectors
from regard.studies.heads.vocabulary import frequent_tokens
from tests.tiny import enlarged, saved, tiny_bert, tiny_llama

WORDS = "the cat sat on the mat , a dog bought fresh strawberries at the store . it was happy and we went".split()
DRAWN = np.random.default_rng(3)
TEXT = "the dog went to the store"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("near") / "lines.txt"
    path.write_text("\n".join(" ".join(DRAWN.choice(WORDS, DRAWN.integers(3, 12))) for _ in range(60)), "utf-8")
    return path


@pytest.fixture(scope="module", params=["encoder", "decoder"])
def made(request, corpus, tmp_path_factory):
    """A model, and its portraits with vectors of 120 positions."""
    given = request.getfixturevalue("wordpiece" if request.param == "encoder" else "bytelevel")
    model = enlarged(tiny_bert(given) if request.param == "encoder" else tiny_llama(given), 3)
    folder = tmp_path_factory.mktemp("portraits") / request.param
    regard.study.heads(model, corpus, output=folder, vectors=120, predictive=0)
    return model, folder


def unturned(model, trace, site):
    """(H, Q, d) q and (G, K, d) k that the projections give, before any rotation; as recorded for BERT."""
    modules = dict(model.module.named_modules())
    attention = modules[site.path]
    if not hasattr(attention, "q_proj"):
        return site.q, site.k
    found = {}
    hooks = [
        getattr(attention, f"{name}_proj").register_forward_hook(
            lambda _, __, out, name=name: found.update({name: out})
        )
        for name in "qk"
    ]
    with torch.no_grad():
        model.module(input_ids=torch.tensor([[token.id for token in trace.tokens]]))
    for hook in hooks:
        hook.remove()
    return tuple(found[name][0].view(len(trace.tokens), -1, site.q.shape[-1]).transpose(0, 1).numpy() for name in "qk")


def test_the_sample_is_the_inputs_with_the_smallest_hashes(made, corpus):
    model, folder = made
    examples = list(read(Source(str(corpus))))
    lengths = {one.number: len(model._engine.encode(one.text).ids) for one in examples}
    hashes = hash_of(0, np.array([(one.number, 0, 0) for one in examples]))
    expected, total = [], 0
    for number in np.argsort(hashes)[: 120 // 4]:
        if total + lengths[int(number)] <= 120:
            total += lengths[int(number)]
            expected.append((int(number), 0))
    assert [one.name for one in Stored(folder).inputs()] == expected
    assert json.loads((folder / "meta.json").read_text())["vectors"]["positions"] == total


def test_the_sample_does_not_depend_on_batches(made, corpus, monkeypatch):
    model, _ = made
    source = Source(str(corpus))
    study = Heads(frequent_tokens(model, source, "truncate"), vectors=120)
    whole = run_local(study, model, Run(source)).sums
    monkeypatch.setattr("regard.studies.base.Pass.window", 7)
    monkeypatch.setattr("regard.corpus.batches.PAIRS", 300)
    other = run_local(study, model, Run(source)).sums
    np.testing.assert_array_equal(whole[NAME], other[NAME])
    assert sampled_inputs(whole, 120) == sampled_inputs(other, 120)


def test_vectors_are_those_of_traces_without_rotation(made, corpus):
    model, folder = made
    stored = Stored(folder)
    examples = {one.number: one for one in read(Source(str(corpus)))}
    place = stored.head("1.1")
    found = stored.head_vectors(place)
    q, k = found.of(0)
    start = 0
    for one in stored.inputs()[:4]:
        trace = model.trace(examples[one.name[0]].text)
        site = next(site for site in trace.sites if site.layer == 1)
        true_q, true_k = unturned(model, trace, site)
        count = len(trace.tokens)
        np.testing.assert_allclose(q[start : start + count], true_q[1], atol=4e-3, rtol=2e-3)
        np.testing.assert_allclose(k[start : start + count], true_k[site.group(1)], atol=4e-3, rtol=2e-3)
        weights = trace.attention(1, 1)
        rows = np.arange(count)[:, None]
        keys = found.keys[0, start : start + count].astype(int)
        there = found.weights[0, start : start + count] > 0
        close = np.isclose(weights[rows, keys], found.weights[0, start : start + count], atol=2e-3)
        assert close[there].all()
        np.testing.assert_allclose(found.weights[0, start : start + count, 1], weights.max(-1), atol=2e-3)
        start += count
    assert found.still


def test_cross_attention_has_queries_of_one_text_and_keys_of_the_other(bart, tmp_path):
    rows = [" ".join(DRAWN.choice(WORDS, DRAWN.integers(3, 9))) for _ in range(24)]
    corpus = tmp_path / "pairs.tsv"
    lines = [f"{one}\t{other}" for one, other in zip(rows[::2], rows[1::2], strict=True)]
    corpus.write_text("\n".join(["text\tpair", *lines]), "utf-8")
    regard.study.heads(bart, corpus, output=tmp_path / "out", vectors=60, predictive=0, pair="pair")
    stored = Stored(tmp_path / "out")
    found = stored.head_vectors(stored.head("cross:0.1"))
    assert found.sides == ("decoder", "encoder")
    first = stored.inputs()[0]
    text, target = lines[first.name[0]].split("\t")
    trace = bart.trace(text, target=target)
    site = next(site for site in trace.sites if (site.kind, site.layer) == ("cross", 0))
    q, k = found.of(0)
    np.testing.assert_allclose(q[: site.queries], site.q[1], atol=4e-3, rtol=2e-3)
    np.testing.assert_allclose(k[: site.keys], site.k[site.group(1)], atol=4e-3, rtol=2e-3)
    near = regard.nearest(tmp_path / "out", text, target=target, head="cross:0.1", query=1, model=bart, count=1)
    assert near.looks[0].example == first.name[0] and not near.looks[0].same and near.looks[0].distance < 0.05
    page = (tmp_path / "out" / "heads" / "cross-0.1.html").read_text("utf-8")
    assert f"{len(q)} queries and {len(k)} keys" in page


@pytest.mark.parametrize("side", ["q", "k"])
def test_nearest_rows_are_those_of_brute_force(made, side):
    model, folder = made
    found = regard.nearest(folder, TEXT, head="0.1", query="2" if side == "k" else 2, side=side, model=model, count=6)
    stored = Stored(folder)
    vectors = stored.head_vectors(stored.head((0, 1)))
    q, k = vectors.of(0)
    place = np.concatenate([np.arange(len(one.sides[vectors.sides[0]])) for one in stored.inputs()])
    trace = model.trace(TEXT)
    site = next(site for site in trace.sites if site.layer == 0)
    own_q, own_k = unturned(model, trace, site)
    at = found.own.query if side == "q" else found.own.key
    own = own_q[1][at] if side == "q" else own_k[site.group(1)][at]

    def means(some):
        """One-way analysis of variance, position by position."""
        groups = [some[place == p] for p in range(place.max() + 1)]
        sizes = np.array([len(group) for group in groups])
        within = sum(np.square(group - group.mean(0)).sum() for group in groups) / (len(some) - len(groups))
        spread = sum(len(group) * np.square(group.mean(0) - some.mean(0)).sum() for group in groups)
        between = (spread - (len(groups) - 1) * within) / (len(some) - (sizes**2).sum() / len(some))
        few = within / between if between > 0 else np.inf
        weights = sizes / (sizes + few)
        return np.stack([some.mean(0) + w * (g.mean(0) - some.mean(0)) for w, g in zip(weights, groups, strict=True)])

    mine = own - means(q if side == "q" else k)[min(at, place.max())]
    q, k = (some - means(some)[place] for some in (q, k))
    gaps = (q - mine) @ k.T if side == "q" else ((k - mine) @ q.T)
    expected = site.scale * (gaps.std(axis=1) if side == "q" else np.sqrt(np.square(gaps).mean(axis=1)))
    got = [look.distance for look in found.looks]
    np.testing.assert_allclose(got, np.sort(expected)[:6], rtol=0.02, atol=5e-3)
    assert found.middle == pytest.approx(np.median(expected), rel=0.02, abs=5e-3)
    assert len(found.table) == 6 and (np.diff(got) >= 0).all() and str(found.rows) in found.said


def test_a_row_of_the_corpus_is_nearest_to_itself(made, corpus):
    model, folder = made
    name = Stored(folder).inputs()[0].name
    text = list(read(Source(str(corpus))))[name[0]].text
    found = regard.nearest(folder, text, head="1.0", query=2, model=model, count=1)
    (look,) = found.looks
    assert (look.example, look.query) == (name[0], 2) and look.distance < 0.02
    assert list(look.queries) == list(found.own.queries)
    assert (look.key, round(look.strength, 2)) == (found.own.key, round(found.own.strength, 2))


def test_what_cannot_be_found_is_said_in_a_sentence(made, tmp_path):
    model, folder = made
    for message, given in (
        ("no token 'zebra'", {"query": "zebra"}),
        ("no position 99", {"query": 99}),
        (r"can mean \d tokens; say which: ", {"query": "the" if model.tokenizer.mask_token else "t"}),
        ("side must be q or k", {"query": 1, "side": "v"}),
        ("2 heads|heads; name one", {"query": 1, "head": "0.*"}),
    ):
        with pytest.raises(UserError, match=message):
            regard.nearest(folder, TEXT, model=model, **{"head": "0.0", **given})
    with pytest.raises(UserError, match="no portraits with vectors"):
        regard.nearest(tmp_path, TEXT, head="0.0", query=1)
    other = regard.load(str(saved(model, tmp_path / "another")))
    with pytest.raises(UserError, match="another is not the model of"):
        regard.nearest(folder, TEXT, head="0.0", query=1, model=other)


def test_the_command_prints_rows_or_json(bert, corpus, tmp_path):
    tiny = saved(bert, tmp_path / "tiny")
    regard.study.heads(str(tiny), corpus, output=tmp_path / "out", vectors=60, predictive=0, limit=12)
    given = ["nearest", TEXT, str(tmp_path / "out"), "--head", "0.1", "--query", "dog", "-n", "3", "-m", str(tiny)]
    shown = CliRunner().invoke(app, given)
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert "nearest to “dog” (position 2) for head 0.1" in lines[0] and len(lines) >= 4 and "→" in lines[1]
    record = json.loads(CliRunner().invoke(app, [*given, "--json"]).output)
    assert len(record["rows"]) == 3 and record["rows"][0]["distance"] <= record["middle"]


def test_pages_carry_their_points(made):
    _, folder = made
    stored = Stored(folder)
    one = stored.head_vectors(stored.head("0.0"))
    sample = SampleTexts(Vectors(stored.inputs(), {("", 0): one}))
    found = joint_map(*one.of(0))
    whole = gzip.decompress(packed(found, sample, one.sides, (one.keys[0, :, 0], one.weights[0, :, 0])))
    length = int.from_bytes(whole[:4], "little")
    header = json.loads(whole[4 : 4 + length])
    part = header["sides"][0]["words"]
    words = np.frombuffer(whole, "<u4", part["count"], 4 + length + part["offset"])
    side = one.sides[0]
    assert [header["texts"][word] for word in words] == [t for i in stored.inputs() for t in i.sides[side]]
    x = np.frombuffer(whole, "<u2", header["x"]["count"], 4 + length + header["x"]["offset"]) / 65535
    flat = np.concatenate([found.queries, found.keys])
    assert np.corrcoef(x, flat[:, 0])[0, 1] > 0.9999
    page = next((folder / "heads").glob("*.html")).read_text("utf-8")
    assert "Queries and keys" in page and "Nearness on the map is not the dot product" in page


def test_without_vectors_there_is_no_map_and_nothing_is_nearest(corpus, wordpiece, tmp_path):
    regard.study.heads(tiny_bert(wordpiece), corpus, output=tmp_path, vectors=0, limit=10)
    assert not (tmp_path / "vectors").exists()
    assert "data-joint" not in (tmp_path / "heads" / "0.0.html").read_text("utf-8")
    with pytest.raises(UserError, match="--vectors 0"):
        regard.nearest(tmp_path, TEXT, head="0.0", query=1)
    with pytest.raises(UserError, match="50,000"):
        regard.study.heads(tiny_bert(wordpiece), corpus, vectors=50_001)
