"""The walk through relatives of BERT: the numbers it holds are those of the model it was given."""

import sys

import numpy as np
import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BloomConfig,
    BloomForCausalLM,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    ElectraConfig,
    ElectraForPreTraining,
    RobertaConfig,
    RobertaModel,
)

import regard
from regard.cli import main
from regard.views.walk import can_walk, walk
from tests.tiny import SIZES, saved

THREE = {**SIZES, "num_hidden_layers": 3}
TEXT = "the cat sat on the mat ."
RELATIVES = {
    "roberta": lambda words: RobertaModel(RobertaConfig(vocab_size=words, max_position_embeddings=64, **THREE)),
    "distilbert": lambda words: DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=words, dim=24, n_layers=3, n_heads=3, hidden_dim=32)
    ),
    "electra": lambda words: ElectraForPreTraining(ElectraConfig(vocab_size=words, embedding_size=12, **THREE)),
    "albert": lambda words: AlbertModel(AlbertConfig(vocab_size=words, embedding_size=12, **THREE)),
}


@pytest.fixture(params=RELATIVES)
def relative(request, wordpiece):
    torch.manual_seed(0)
    return regard.load((RELATIVES[request.param](len(wordpiece)).eval(), wordpiece))


def hidden_states(model, ids):
    base = model.module.base_model
    with torch.no_grad():
        return torch.stack(base(torch.tensor([ids]), output_hidden_states=True).hidden_states)[:, 0].numpy()


def test_the_states_of_the_walk_are_those_of_the_model(relative):
    found = walk(TEXT, relative, layer=1)
    arrays = found.walk.arrays
    np.testing.assert_allclose(arrays["encoder.states"], hidden_states(relative, found.walk.ids), atol=1e-5)
    np.testing.assert_array_equal(arrays["encoder.in"], arrays["encoder.states"][1])


def test_the_weights_of_the_walk_give_the_attention_of_the_trace(relative):
    found = walk(TEXT, relative, layer=2)
    arrays = found.walk.arrays
    q, k = (arrays["encoder.in"] @ arrays[f"encoder.W_{x}"] + arrays[f"encoder.b_{x}"] for x in "QK")
    for head in range(3):
        columns = slice(8 * head, 8 * head + 8)
        scores = q[:, columns] @ k[:, columns].T / np.sqrt(8)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        expected = powers / powers.sum(-1, keepdims=True)
        np.testing.assert_allclose(found.trace.attention(2, head), expected, atol=1e-5)


def test_a_page_can_be_written_of_every_relative(relative, tmp_path):
    page = walk(TEXT, relative).save(tmp_path / "walk.html")
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize("kind", ["electra", "albert"])
def test_narrow_tables_are_widened_as_the_page_says(wordpiece, kind):
    model = regard.load((RELATIVES[kind](len(wordpiece)).eval(), wordpiece))
    arrays = walk(TEXT, model).walk.arrays
    assert arrays["source.word"].shape[1] == 12
    x = arrays["source.narrow"] @ arrays["source.W_E"] + arrays["source.b_E"]
    np.testing.assert_allclose(x, arrays["source.x"], atol=1e-5)
    total = arrays["source.word"] + arrays["source.position"] + arrays["source.segment"]
    spread = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + 1e-12)
    normed = spread * arrays["source.scale"] + arrays["source.shift"]
    np.testing.assert_allclose(normed, arrays["source.narrow"], atol=1e-5)


@pytest.mark.models
def test_a_real_albert_can_be_walked_through(rxnmapper):
    found = walk("CC(=O)O.OCC>>CC(=O)OCC", rxnmapper, layer=3)
    expected = hidden_states(rxnmapper, found.walk.ids)
    np.testing.assert_allclose(found.walk.arrays["encoder.states"], expected, atol=1e-5 * np.abs(expected).max())


def test_the_default_model_splits_its_first_layer_in_the_walk(minilm):
    assert walk("I went to the store.", minilm).trace.site(0).parts == ("word", "position", "segment", "constant")


@pytest.fixture
def bloom(wordpiece):
    config = BloomConfig(vocab_size=len(wordpiece), hidden_size=24, n_layer=2, n_head=3)
    return regard.load((BloomForCausalLM(config).eval(), wordpiece))


def test_a_model_that_cannot_be_walked_through_is_refused_in_one_sentence(bloom):
    with pytest.raises(ValueError, match="a bloom model cannot be opened step by step; these types can: bert,"):
        walk(TEXT, bloom)


def test_the_command_says_which_types_can_be_walked_through(bloom, tmp_path, monkeypatch, capsys):
    folder = saved(bloom, tmp_path / "bloom")
    monkeypatch.setattr(sys, "argv", ["regard", "walk", "hello", "--model", str(folder)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code not in (0, None)
    said = " ".join(capsys.readouterr().err.split())
    assert "a bloom model cannot be opened step by step; these types can: bert, roberta, xlm-roberta" in said


def test_a_bart_is_walked_through_with_its_decoder(bart):
    found = walk("the cat sat", bart, target="the dog")
    ids = torch.tensor([found.walk.ids])
    target = torch.tensor([[token.id for token in found.trace.sides["decoder"].tokens]])
    with torch.no_grad():
        logits = bart.module(ids, decoder_input_ids=target).logits[0].numpy()
    np.testing.assert_allclose(found.walk.arrays["logits"], logits, atol=1e-5)


def test_a_target_longer_than_the_decoder_takes_is_refused(bart):
    with pytest.raises(ValueError, match="the target has 122 tokens but the decoder takes at most 64; shorten it"):
        walk("the cat sat", bart, target="the cat " * 60)


def test_what_can_be_walked_through_is_known_before(relative, bart, gpt2, t5, bloom):
    assert all(can_walk(model.module) for model in (relative, bart, gpt2, t5, regard.load("translator")))
    assert not can_walk(bloom.module)
    assert not can_walk(torch.nn.Linear(2, 2))
