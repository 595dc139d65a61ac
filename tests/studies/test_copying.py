"""Copying: whether heads write the words they read."""

import json
from copy import deepcopy

import numpy as np
import pytest
import torch

import regard
from regard.models.copying import SAMPLE, CopyingMaps, copying_maps
from tests.tiny import enlarged

TEXTS = ["ab cab cabdacba", "dcb abc dabc", "bad cab"]


@pytest.fixture(scope="module")
def decoder(llama):
    return enlarged(regard.load((deepcopy(llama.module), llama.tokenizer)), 4)


def test_scores_are_ranks_among_what_a_head_writes(decoder):
    """The same words as `model.writes` lists: all of a small vocabulary are in the sample."""
    maps = copying_maps(decoder._engine)
    vocabulary = len(decoder.tokenizer)
    assert vocabulary <= SAMPLE
    trace = decoder.trace(TEXTS[0])
    site, ids = trace.site(1), torch.tensor([[token.id for token in trace.tokens]])
    values = torch.from_numpy(np.stack([site.v[site.group(head)] for head in range(4)]))[None]
    scores = maps.scores("decoder", 1, values, ids)[0].numpy()
    for head in range(4):
        for one in decoder.writes(TEXTS[0], f"1.{head}", 9).sources:
            assert scores[head, one.position] == pytest.approx(1 - 2 * one.rank / vocabulary, abs=0.02)


def test_the_atlas_of_a_decoder_says_what_its_heads_copy(decoder, tmp_path):
    """By hand: the score of every key outside the resting places, weighed by how much each row looks at it."""
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    result = regard.study.atlas(decoder, tmp_path / "corpus.txt")
    table = result.tables["Copying: does a head write the words it reads"]
    assert len(table) == 8 and table["copying"].between(-1, 1).all()
    maps = copying_maps(decoder._engine)
    total, awake = np.zeros(4), np.zeros(4)
    for text in TEXTS:
        trace = decoder.trace(text)
        site, ids = trace.site(1), torch.tensor([[token.id for token in trace.tokens]])
        values = torch.from_numpy(np.stack([site.v[site.group(head)] for head in range(4)]))[None]
        scores = maps.scores("decoder", 1, values, ids)[0].numpy()
        free = trace.attention(1).copy()
        free[:, :, 0] = 0
        total += np.einsum("hqk,hk->h", free, scores)
        awake += free.sum((-1, -2))
    found = table[table["layer"] == 1]
    np.testing.assert_allclose(found["copying"], total / awake, atol=1e-5)
    np.testing.assert_allclose(found["awake_rows"], awake, rtol=1e-4)


def test_portraits_have_the_scores_of_the_atlas(decoder, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    given = regard.study.atlas(decoder, tmp_path / "corpus.txt").tables["Copying: does a head write the words it reads"]
    result = regard.study.heads(decoder, tmp_path / "corpus.txt", output=tmp_path / "out", predictive=0, vectors=0)
    table = result.table.merge(given, on=["kind", "layer", "head"], suffixes=("", "_atlas"))
    assert len(table) == 8
    for own, other in (("copies", "copying"), ("copies_low", "low_atlas"), ("copies_high", "high_atlas")):
        np.testing.assert_allclose(table[own], table[other], atol=1e-6)
    row = table.iloc[5]
    name = f"{row['layer']}.{row['head']}"
    said = json.loads((tmp_path / "out" / "heads" / f"{name}.json").read_text("utf-8"))["said"]
    assert said["copies"] == pytest.approx(row["copies"])
    assert f"copying {row['copies']:+.2f}" in (tmp_path / "out" / "heads" / f"{name}.html").read_text("utf-8")
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Copies: whether it writes" in report and "copies most" in report


def test_portraits_of_an_encoder_have_none(bert, tmp_path):
    (tmp_path / "corpus.txt").write_text("the cat sat on the mat .\nthe dog sat .")
    result = regard.study.heads(bert, tmp_path / "corpus.txt", output=tmp_path / "out", predictive=0, vectors=0)
    assert result.table["copies"].isna().all() and not any("copies most" in one for one in result.findings)
    assert "Copies: whether it writes" not in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_equal_words_share_a_rank_and_noise_does_not_move_a_score():
    words = torch.tensor([[1.0, 0], [1, 0], [0, 1], [-1, 0]])
    maps = CopyingMaps({("decoder", 0): torch.eye(2)[None]}, words)
    values = torch.tensor([[[[1.0, 0.0], [1.0, 1e-6], [1.0, -1e-6]]]])
    scores = maps.scores("decoder", 0, values, torch.zeros(1, 3, dtype=torch.long))
    np.testing.assert_allclose(scores[0, 0], [0.5, 0.5, 0.5], atol=1e-5)  # two of four below it, one other equal


def test_models_without_words_to_write_have_no_such_score(bert, t5):
    assert copying_maps(bert._engine) is None and copying_maps(t5._engine) is None


def test_new_weights_have_new_maps(decoder):
    other = regard.load((deepcopy(decoder.module), decoder.tokenizer))
    before = copying_maps(other._engine)
    assert copying_maps(other._engine) is before
    with torch.no_grad():
        other.module.model.norm.weight.mul_(2)
    assert copying_maps(other._engine) is not before
