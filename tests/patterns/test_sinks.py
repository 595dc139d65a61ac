"""Heads with a learned sink: the entropy is that of what the text gets, and the sink's share stands beside it."""

import numpy as np
import pytest
from transformers import GptOssConfig, GptOssForCausalLM

import regard
from regard.patterns.findings import head_report
from tests.tiny import enlarged, made


@pytest.fixture(scope="module")
def oss(bytelevel):
    config = GptOssConfig(
        vocab_size=len(bytelevel), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=8, intermediate_size=16, num_local_experts=2, num_experts_per_tok=1, sliding_window=8,
        max_position_embeddings=64,
    )  # fmt: skip
    return enlarged(made(GptOssForCausalLM, config, bytelevel), 4)


def by_hand(trace, layer, head):
    """(rows with a choice,) entropies of the renormalised rows, and what the sink takes of them."""
    rows = trace.attention(layer, head)[1:]
    kept = rows / rows.sum(axis=-1, keepdims=True)
    logs = np.log(kept, where=kept > 0, out=np.zeros_like(kept))
    return -(kept * logs).sum(axis=-1), 1 - rows.sum(axis=-1)


def test_a_trace_gives_both(oss):
    trace = oss.trace("the cat")
    for record in head_report(trace):
        entropies, taken = by_hand(trace, record["layer"], record["head"])
        assert record["measures"]["entropy"] == pytest.approx(entropies.mean(), abs=2e-3)  # smoothing
        assert record["measures"]["sink"] == pytest.approx(taken.mean(), abs=1e-4)
        assert taken.mean() > 0.02


def test_words_keep_the_share_of_the_sink(oss):
    trace = oss.trace("the cat sat on")
    for record in head_report(trace.words()):
        assert 0 < record["measures"]["sink"] < 1
        assert record["measures"]["entropy"] <= record["measures"]["entropy of uniform"] + 1e-3


def test_a_corpus_gives_both(oss, tmp_path):
    lines = ["the cat", "a dog"]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(lines))
    table = regard.study.atlas(oss, corpus).table.set_index(["measure", "layer", "head"])["value"]
    for layer, head in np.ndindex(2, 4):
        found = [by_hand(oss.trace(line), layer, head) for line in lines]
        entropies, taken = (np.concatenate(some) for some in zip(*found, strict=True))
        assert table["entropy", layer, head] == pytest.approx(entropies.mean(), abs=2e-3)
        assert table["sink", layer, head] == pytest.approx(taken.mean(), abs=1e-4)


def test_the_study_of_tokens_gives_the_entropy_of_the_rest(oss, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat")
    table = regard.study.tokens(oss, corpus).table.set_index(["measure", "layer", "head"])["value"]
    for layer, head in np.ndindex(2, 4):
        entropies, _ = by_hand(oss.trace("the cat"), layer, head)
        expected = entropies.sum() / (len(entropies) + 1)  # the first row has no choice, and counts there
        assert table["entropy", layer, head] == pytest.approx(expected, abs=2e-3)


def test_models_without_a_sink_say_nothing_of_one(gpt2):
    assert all("sink" not in record["measures"] for record in head_report(gpt2.trace("the cat")))
