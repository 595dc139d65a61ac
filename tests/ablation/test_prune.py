"""Pruned models: really smaller, saved and loaded again, and equal to the whole model with the heads at zero."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertModel,
    RobertaConfig,
    RobertaModel,
)
from typer.testing import CliRunner

import regard
from regard.ablation.importance import BY_LENGTH, least, lengths, measure_scores, read_scores
from regard.ablation.pruning import prune
from regard.base.errors import UserError
from regard.cli import app
from regard.corpus import Example, Source
from regard.models.pruned import RECORD, save_pruned
from regard.trace.heads import Head, all_heads
from tests.ablation import by_hand
from tests.tiny import SIZES, enlarged, made, tiny_bert

HEADS = ["0.1", "1.0", "1.2"]
TEXTS = ["the cat sat on the mat .", "a dog"]


def said(model):
    """First output at real positions of two padded texts."""
    inputs, book = model._engine.collate([model._engine.encode(text) for text in TEXTS])
    return model._engine.run(inputs)[0][torch.from_numpy(book.keep["text"])]


@pytest.fixture
def families(sharp, wordpiece):
    size = len(wordpiece)
    roberta = RobertaConfig(vocab_size=size, pad_token_id=0, **SIZES)
    distilbert = DistilBertConfig(vocab_size=size, dim=24, n_layers=2, n_heads=3, hidden_dim=32)
    return {
        "bert": sharp("bert"),
        "gpt2": sharp("gpt2"),
        "tied": enlarged(tiny_bert(wordpiece, BertForMaskedLM)),
        "roberta": enlarged(made(RobertaModel, roberta, wordpiece)),
        "distilbert": enlarged(made(DistilBertModel, distilbert, wordpiece)),
    }


@pytest.mark.parametrize("family", ["bert", "gpt2", "tied", "roberta", "distilbert"])
def test_a_pruned_model_equals_the_ablated_one_and_loads_again(families, family, tmp_path):
    model = families[family]
    plain = said(model)
    with model.ablate(HEADS):
        expected = said(model)
    small = prune(model, HEADS)
    torch.testing.assert_close(said(small), expected, atol=1e-5, rtol=0)
    assert (expected - plain).abs().max() > 0.01
    torch.testing.assert_close(said(model), plain, rtol=0, atol=0)  # the whole model is as it was
    again = regard.load(save_pruned(small, tmp_path / "small"))
    torch.testing.assert_close(said(again), said(small), rtol=0, atol=0)
    (kind,) = {kind for kind, _ in model.layout()}
    assert again.layout() == {(kind, 0): 2, (kind, 1): 1}
    assert again.parameters == small.parameters < model.parameters


def test_three_heads_less_are_as_many_weights_less(bert):
    small = prune(bert, HEADS)
    # each head: 8 of 24 outputs of q, k and v with their biases, and 8 inputs of the output projection
    assert bert.parameters - small.parameters == 3 * (3 * (8 * 24 + 8) + 8 * 24)
    assert type(small.module) is type(bert.module)


def test_traces_patterns_and_streams_work_on_layers_with_different_numbers_of_heads(sharp, tmp_path):
    bert = sharp("bert")
    small = regard.load(save_pruned(prune(bert, HEADS), tmp_path / "small"))
    trace = small.trace("the cat sat on the mat", attribution=True)
    assert [trace.site(layer).heads for layer in trace.layers()] == [2, 1]
    with bert.ablate(HEADS):
        whole = bert.trace("the cat sat on the mat")
    np.testing.assert_allclose(trace.attention(0, 1), whole.attention(0, 2), atol=1e-5)
    np.testing.assert_allclose(trace.attention(1, 0), whole.attention(1, 1), atol=1e-5)
    np.testing.assert_allclose(trace.norms(1, 0), whole.norms(1, 1), atol=1e-5)
    assert trace.patterns().heads == 3
    assert trace.attribution(0, 1)["word", "word"].shape == (8, 8)
    inputs, book = small._engine.collate([small._engine.encode("the cat")])
    shapes = []
    small._engine.stream(inputs, book, lambda layer: shapes.append(tuple(layer.attention().shape)))
    assert shapes == [(1, 2, 4, 4), (1, 1, 4, 4)]


def test_a_pruned_model_can_be_pruned_ablated_and_generated_from(sharp, tmp_path):
    gpt2 = sharp("gpt2")
    twice = prune(prune(gpt2, "0.1"), "0.1")  # heads count from 0 again: the second is head 2 of the whole model
    with gpt2.ablate(["0.1", "0.2"]):
        expected = said(gpt2)
    torch.testing.assert_close(said(twice), expected, atol=1e-5, rtol=0)
    folder = save_pruned(twice, tmp_path / "twice", {"by": "hand"})
    record = json.loads((folder / RECORD).read_text())
    assert record["attention"]["transformer.h.0.attn"]["kept"] == [0]
    assert record["made"] == {"by": "hand"}
    again = regard.load(folder)
    torch.testing.assert_close(said(again), expected, atol=1e-5, rtol=0)
    with gpt2.ablate(["0.1", "0.2"]):
        whole = gpt2.trace("the", generate=5)
    assert [t.text for t in again.trace("the", generate=5).tokens] == [t.text for t in whole.tokens]
    with again.ablate("1.2"), gpt2.ablate(["0.1", "0.2", "1.2"]):
        torch.testing.assert_close(said(again), said(gpt2), atol=1e-5, rtol=0)


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 1}'])
def test_a_damaged_record_of_what_was_kept_is_told(bert, tmp_path, content):
    folder = save_pruned(prune(bert, "1.0"), tmp_path / "model")
    (folder / RECORD).write_text(content)
    with pytest.raises(UserError, match=f"{RECORD} in .* is damaged; prune the model again"):
        regard.load(folder)


def test_half_precision_stays_half_precision(bert, tmp_path):
    half = regard.load((by_hand.copied(bert).to(torch.bfloat16), bert.tokenizer))
    again = regard.load(save_pruned(prune(half, "0.1"), tmp_path / "half"))
    assert {p.dtype for p in again.module.parameters()} == {torch.bfloat16}


def test_what_cannot_be_pruned_is_said_in_one_sentence(bert, llama, tmp_path):
    with pytest.raises(ValueError, match="all 6 heads of the model"):
        prune(bert, "*.*")
    with pytest.raises(ValueError, match="layer 1 would have no head left"):
        prune(bert, "1.*")
    with pytest.raises(ValueError, match="BERT-type and GPT-2-type"):
        prune(llama, "0.1")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="name a new folder"):
        save_pruned(prune(bert, "0.1"), tmp_path / "there")
    assert (tmp_path / "there" / "file").read_text() == "mine"


def test_shared_layers_cannot_lose_heads_of_their_own(rxnmapper):
    with pytest.raises(ValueError, match="share their weights"):
        prune(rxnmapper, "0.1")


# -- which heads --------------------------------------------------------------------------------------------------


def test_the_heads_that_score_least_go_and_one_in_each_layer_stays():
    scores = {Head("encoder", layer, head): layer * 10.0 + head for layer in range(2) for head in range(4)}
    assert least(scores, 0.5) == tuple(Head("encoder", *place) for place in [(0, 0), (0, 1), (0, 2), (1, 0)])
    with pytest.raises(ValueError, match=r"keep at least 0\.25"):
        least(scores, 0.1)
    with pytest.raises(ValueError, match="keeps all 8 heads"):
        least(scores, 0.99)
    with pytest.raises(ValueError, match="between 0 and 1"):
        least(scores, 60)


def test_scores_are_read_from_json_and_tables(bert, tmp_path):
    expected = {head: float(n) for n, head in enumerate(all_heads(bert.layout()))}
    (tmp_path / "names.json").write_text(json.dumps({f"{h.layer}.{h.head}": v for h, v in expected.items()}))
    rows = ["layer,head,importance,other", *(f"{h.layer},{h.head},{v},{-v}" for h, v in expected.items())]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    assert read_scores(tmp_path / "names.json", bert.layout()) == expected
    assert read_scores(tmp_path / "table.csv", bert.layout()) == expected
    records = [{"kind": h.kind, "layer": h.layer, "head": h.head, "importance": v} for h, v in expected.items()]
    pd.DataFrame(records).to_parquet(tmp_path / "importance.parquet")  # as the ablation study writes it
    assert read_scores(tmp_path / "importance.parquet", bert.layout()) == expected
    turned = read_scores(tmp_path / "table.csv", bert.layout(), "other")
    assert turned == {head: -value for head, value in expected.items()}
    with pytest.raises(ValueError, match="layer, head and worth; it has layer, head, importance, other"):
        read_scores(tmp_path / "table.csv", bert.layout(), "worth")
    (tmp_path / "few.json").write_text('{"0.*": 1}')
    with pytest.raises(ValueError, match=r"no score for head encoder:1\.0 and 2 others"):
        read_scores(tmp_path / "few.json", bert.layout())


def test_the_length_a_head_adds_is_that_of_its_part_of_the_output(sharp):
    """By hand: hidden states into W_O with one head's inputs at a time."""
    bert = sharp("bert")
    seen = []
    dense = bert.module.encoder.layer[1].attention.output.dense
    handle = dense.register_forward_pre_hook(lambda _m, args: seen.append(args[0]))
    try:
        examples = [Example(n, text) for n, text in enumerate(TEXTS)]
        for text in TEXTS:
            bert._engine.run(bert._engine.collate([bert._engine.encode(text)])[0])
    finally:
        handle.remove()
    vectors = torch.cat([one[0] for one in seen])  # (positions, 24)
    with torch.no_grad():
        expected = [
            float((vectors[:, p : p + 8] @ dense.weight[:, p : p + 8].T).norm(dim=-1).mean()) for p in (0, 8, 16)
        ]
    found = lengths(bert, examples)
    assert [found[Head("encoder", 1, head)] for head in range(3)] == pytest.approx(expected, rel=1e-4)


def test_heads_of_classifiers_are_measured_by_the_gradient_of_their_loss(wordpiece, tmp_path):
    model = enlarged(tiny_bert(wordpiece, BertForSequenceClassification, num_labels=2))
    path = tmp_path / "labelled.tsv"
    path.write_text("text\tlabel\nthe cat sat\t0\na dog went to the store\t1\n")
    found, by = measure_scores(model, Source(str(path)))
    assert "importance" in by
    sizes = np.zeros((2, 3))
    step = 1e-2
    for text, label in (("the cat sat", 0), ("a dog went to the store", 1)):
        inputs, _ = model._engine.collate([model._engine.encode(text)])
        for layer, head in np.ndindex(2, 3):
            sizes[layer, head] += abs(
                _loss(model, inputs, label, layer, head, 1 + step) - _loss(model, inputs, label, layer, head, 1 - step)
            ) / (2 * step)
    sizes /= np.linalg.norm(sizes, axis=1, keepdims=True)
    measured_sizes = [[found[Head("encoder", layer, head)] for head in range(3)] for layer in range(2)]
    np.testing.assert_allclose(measured_sizes, sizes, rtol=0.02)


def _loss(model, inputs, label, layer, head, factor):
    """The loss with one head's part of W_O scaled by hand."""
    edited = by_hand.copied(model).double()
    with torch.no_grad():
        dense = edited.bert.encoder.layer[layer].attention.output.dense
        dense.weight[:, head * 8 : head * 8 + 8] *= factor
        logits = edited(**inputs).logits
    return float(torch.nn.functional.cross_entropy(logits, torch.tensor([label])))


def test_an_encoder_without_a_head_is_measured_by_what_its_heads_add(bert, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    found, by = measure_scores(bert, Source(str(path)))
    assert by == BY_LENGTH
    sizes = np.array([[found[Head("encoder", layer, head)] for head in range(3)] for layer in range(2)])
    np.testing.assert_allclose(np.linalg.norm(sizes, axis=1), 1)


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_heads_of_encoders_and_decoders_are_measured_over_their_own_positions(name, request, tmp_path):
    model = request.getfixturevalue(name)
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    found, by = measure_scores(model, Source(str(path)))
    assert by == BY_LENGTH
    assert set(found) == set(all_heads(model.layout()))


def test_a_language_model_is_measured_by_its_own_loss(gpt2, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    found, by = measure_scores(gpt2, Source(str(path)))
    assert "importance" in by
    assert set(found) == set(all_heads(gpt2.layout()))
    assert min(found.values()) > 0


# -- the command --------------------------------------------------------------------------------------------------


def test_the_command_writes_a_folder_and_says_what_was_gained(minilm, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("The cat sat on the mat.\nRain fell all night.\n")
    folder = tmp_path / "small"
    result = CliRunner().invoke(app, ["prune", "--keep", "0.6", "--on", str(texts), "-o", str(folder)])
    assert result.exit_code == 0, result.output
    assert "removed 29 of 72 heads" in result.stdout
    assert "22,713,216 before" in result.stdout
    assert "times as fast" in result.stdout
    small = regard.load(folder)
    assert sum(small.layout().values()) == 43
    record = json.loads((folder / RECORD).read_text())
    text = "The quick brown fox jumps over the lazy dog."
    with minilm.ablate(record["made"]["removed"]):
        expected = minilm._engine.run(minilm._engine.collate([minilm._engine.encode(text)])[0])[0]
    torch.testing.assert_close(
        small._engine.run(small._engine.collate([small._engine.encode(text)])[0])[0], expected, atol=1e-5, rtol=0
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "choose the heads to remove"),
        (["--keep", "0.6"], "choose the heads to remove"),
        (["--keep", "0.6", "--heads", "0.1"], "choose one way"),
        (["--heads", "7.1"], "no encoder layer 7"),
        (["--heads", "*.*"], "all 72 heads"),
        (["--keep", "0.01", "--on", "texts.txt"], "keep at least 0.083"),
        (["--keep", "0.6", "--scores", "nowhere.json"], "no score file nowhere.json"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_sentence(minilm, tmp_path, arguments, says):
    result = CliRunner().invoke(app, ["prune", *arguments, "-o", str(tmp_path / "new")])
    assert says in str(result.exception)
    assert not (tmp_path / "new").exists()
