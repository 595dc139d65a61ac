"""The first layer's scores as exact sums over word, position and segment embedding."""

import numpy as np
import pytest
from transformers import (
    AlbertConfig,
    AlbertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    RobertaConfig,
    RobertaModel,
)

import regard
from regard.transformer.weights import from_hugging_face


def check(trace, names):
    site = trace.site(0)
    assert site.parts == names
    np.testing.assert_allclose(site.qparts.sum(0), site.q, atol=1e-5)
    for head in range(site.heads):
        table = trace.attribution(0, head)
        np.testing.assert_allclose(sum(table.values()), trace.scores(0, head), atol=1e-4)
        constant = table["word", "constant"]
        np.testing.assert_allclose(constant, constant[:, :1].repeat(constant.shape[1], 1), atol=1e-6)


def test_word_position_segment_and_constant_sum_to_the_scores(bert):
    check(bert.trace("the cat sat .", "a dog went", attribution=True), ("word", "position", "segment", "constant"))


def test_a_padded_batch_gives_the_same_parts(bert):
    texts = ["the cat", "a dog went to the store ."]
    for text, trace in zip(texts, bert.trace(texts, attribution=True), strict=True):
        alone = bert.trace(text, attribution=True).site(0)
        np.testing.assert_allclose(trace.site(0).qparts, alone.qparts, atol=1e-5)


@pytest.mark.parametrize(
    ("config", "kind", "names"),
    [
        (
            RobertaConfig(
                vocab_size=40,
                hidden_size=24,
                num_hidden_layers=1,
                num_attention_heads=3,
                intermediate_size=32,
                max_position_embeddings=70,
            ),
            RobertaModel,
            ("word", "position", "segment", "constant"),
        ),
        (
            DistilBertConfig(vocab_size=40, dim=24, n_layers=1, n_heads=3, hidden_dim=32),
            DistilBertModel,
            ("word", "position", "constant"),
        ),
        *(
            (
                config(vocab_size=40, embedding_size=12, hidden_size=24, num_hidden_layers=2, num_attention_heads=3),
                kind,
                ("word", "position", "segment", "constant"),
            )
            for config, kind in ((ElectraConfig, ElectraModel), (AlbertConfig, AlbertModel))
        ),
    ],
    ids=["roberta", "distilbert", "electra", "albert"],
)
def test_other_families_with_the_same_embedding_are_split_too(config, kind, names, wordpiece):
    check(regard.load((kind(config).eval(), wordpiece)).trace("the cat sat .", attribution=True), names)


def test_a_bert_of_our_own_is_split_too(bert):
    own = from_hugging_face(bert.module)
    trace = regard.load((own, bert.tokenizer)).trace("the cat sat .", "a dog went", attribution=True)
    check(trace, ("word", "position", "segment", "constant"))
    theirs = bert.trace("the cat sat .", "a dog went", attribution=True)
    np.testing.assert_allclose(trace.site(0).qparts, theirs.site(0).qparts, atol=1e-5)


def test_models_with_other_embeddings_have_none(gpt2):
    trace = gpt2.trace("the cat", attribution=True)
    with pytest.raises(ValueError, match="layer 0 has no attribution"):
        trace.attribution(0, 0)


def test_parts_survive_saving(bert, tmp_path):
    trace = bert.trace("the cat", attribution=True)
    loaded = regard.Trace.load(trace.save(tmp_path / "t.safetensors"))
    np.testing.assert_array_equal(loaded.site(0).kparts, trace.site(0).kparts)


@pytest.mark.models
def test_position_makes_the_previous_token_head_of_the_default_model(minilm):
    """Layer 0 head 2 looks one back: its scores come from (position, position) pairs, as Vig argues for such heads."""
    trace = minilm.trace("I went to the store.", "At the store, I bought fresh strawberries.", attribution=True)
    check(trace, ("word", "position", "segment", "constant"))
    spread = {pair: (t - t.mean(1, keepdims=True)).std() for pair, t in trace.attribution(0, 2).items()}
    assert max(spread, key=spread.get) == ("position", "position")
