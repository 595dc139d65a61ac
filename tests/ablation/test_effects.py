"""What heads are worth on one text: predictions, labels or hidden states before and after, as computed by hand."""

import json

import numpy as np
import pytest
import torch
from transformers import (
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from typer.testing import CliRunner

from regard.ablation.comparing import EVERYTHING
from regard.ablation.effects import effect
from regard.cli import app
from regard.models.means import NAME
from tests.ablation import by_hand
from tests.tiny import enlarged, tiny_bert


def bert_for(kind, wordpiece, **options):
    return enlarged(tiny_bert(wordpiece, kind, **options))


def without_head_one(model):
    """A copy whose layer 1 head 1 is zeroed by hand."""
    edited = by_hand.copied(model)
    with torch.no_grad():
        edited.bert.encoder.layer[1].attention.output.dense.weight[:, 8:16] = 0
    return edited


def test_predictions_of_a_causal_model_are_those_of_the_edited_weights(sharp):
    gpt2 = sharp("gpt2")
    found = effect(gpt2, "the cat", heads="1.1", modes="zero", position=2)
    edited = by_hand.copied(gpt2)
    by_hand.zeroed(edited, 1, 1, 8)
    ids = torch.tensor([gpt2._engine.encode("the cat").ids])
    with torch.no_grad():
        before, after = (module(ids).logits[0].log_softmax(-1) for module in (gpt2.module, edited))
    row = found.rows[0]
    best = int(before[2].argmax())
    assert row.before == pytest.approx(float(before[2, best].exp()), rel=1e-4)
    assert row.after["zero"] == pytest.approx(float(after[2, best].exp()), rel=1e-3)
    expected = torch.nn.functional.kl_div(after, before, reduction="none", log_target=True).sum(-1)
    assert found.kl["zero"] == pytest.approx(float(expected[2]), rel=1e-3)
    assert found.kls["zero"] == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-6)
    assert found.actual == " "
    assert len(found.rows) >= 5
    assert [r.before for r in found.rows] == sorted((r.before for r in found.rows), reverse=True)


def test_the_rank_of_a_head_is_that_of_switching_every_head_off_by_itself(sharp, monkeypatch):
    monkeypatch.setattr("regard.ablation.yardstick.FEWEST", 2)
    gpt2 = sharp("gpt2")
    names = [f"{layer}.{head}" for (_, layer), count in gpt2.layout().items() for head in range(count)]
    alone = {name: effect(gpt2, "the cat sat", heads=name, modes="zero").kl["zero"] for name in names}
    for name in names:
        found = effect(gpt2, "the cat sat", heads=name, modes="zero", compared=True).yardstick
        assert (found.heads, found.tried) == (len(names), len(names))
        assert found.change == pytest.approx(alone[name], rel=1e-3, abs=1e-7)
        others = [kl for other, kl in alone.items() if other != name]
        assert found.more == sum(kl > alone[name] for kl in others)
        assert found.typical == pytest.approx(float(np.median(others)), rel=1e-3, abs=1e-7)


def test_only_a_single_head_among_enough_is_ranked(gpt2):
    assert effect(gpt2, "the cat", heads="0.1", modes="zero", compared=True).yardstick is None  # there are few
    assert effect(gpt2, "the cat", heads="0.1,1.1", modes="zero", compared=True).yardstick is None


def test_a_causal_model_goes_on_from_the_last_token_unless_told(gpt2):
    found = effect(gpt2, "the cat", heads="0.1")
    assert (found.about, found.position, found.actual) == ("next token", 6, None)
    assert found.modes == ("zero", "uniform", "mean")
    assert (found.reference, found.notes) == (NAME, ())


def test_a_masked_model_predicts_the_token_that_is_hidden_from_it(wordpiece):
    model = bert_for(BertForMaskedLM, wordpiece)
    found = effect(model, "the cat sat", heads="1.1", modes="zero", position=2)
    ids = torch.tensor([model._engine.encode("the [MASK] sat").ids])
    with torch.no_grad():
        before, after = (m(ids).logits[0, 2].softmax(-1) for m in (model.module, without_head_one(model)))
    assert found.actual == "cat"
    best = int(before.argmax())
    assert found.rows[0].name == wordpiece.convert_ids_to_tokens(best)
    assert found.rows[0].before == pytest.approx(float(before[best]), rel=1e-4)
    assert found.rows[0].after["zero"] == pytest.approx(float(after[best]), rel=1e-3)
    written = effect(model, "the [MASK] sat", heads="1.1", modes="zero")
    assert (written.position, written.actual) == (2, None)
    assert written.rows[0].before == found.rows[0].before


def test_a_classifier_gives_the_probability_of_every_label(wordpiece):
    names = {0: "bad", 1: "so so", 2: "good"}
    model = bert_for(BertForSequenceClassification, wordpiece, num_labels=3, id2label=names)
    found = effect(model, "the cat sat", "a dog", heads="1.1", modes="zero")
    inputs, _ = model._engine.collate([model._engine.encode("the cat sat", "a dog")])
    with torch.no_grad():
        before, after = (m(**inputs).logits[0].softmax(-1) for m in (model.module, without_head_one(model)))
    rows = {row.name: (row.before, row.after["zero"]) for row in found.rows}
    for label, name in names.items():
        assert rows[name] == pytest.approx((float(before[label]), float(after[label])), rel=1e-3)
    assert found.kl["zero"] == pytest.approx(float((before * (before / after).log()).sum()), rel=1e-2)
    assert found.position is None


def test_regression_gives_its_score_and_several_labels_their_own_probabilities(wordpiece):
    score = effect(bert_for(BertForSequenceClassification, wordpiece, num_labels=1), "the cat", heads="0.1")
    assert (score.about, len(score.rows), score.kl) == ("score", 1, {})
    several = bert_for(
        BertForSequenceClassification, wordpiece, num_labels=3, problem_type="multi_label_classification"
    )
    found = effect(several, "the cat", heads="0.1", modes="zero")
    inputs, _ = several._engine.collate([several._engine.encode("the cat")])
    assert sorted(row.before for row in found.rows) == pytest.approx(
        sorted(several._engine.run(inputs).logits[0].sigmoid().tolist())
    )
    assert found.kl == {}


def test_a_tagger_gives_the_labels_of_one_token(wordpiece):
    model = bert_for(BertForTokenClassification, wordpiece, num_labels=2)
    found = effect(model, "the cat", heads="0.1", modes="zero", position=-2)
    inputs, _ = model._engine.collate([model._engine.encode("the cat")])
    assert found.rows[0].before == pytest.approx(
        float(model._engine.run(inputs).logits[0, 2].softmax(-1).max()), rel=1e-4
    )
    with pytest.raises(ValueError, match="pass the position"):
        effect(model, "the cat", heads="0.1")


def test_an_encoder_without_a_head_shows_how_its_hidden_states_turn(bert):
    found = effect(bert, "the cat sat", heads="1.1", modes="zero")
    inputs, _ = bert._engine.collate([bert._engine.encode("the cat sat")])
    before = bert._engine.run(inputs).last_hidden_state[0]
    with bert.ablate("1.1"):
        after = bert._engine.run(inputs).last_hidden_state[0]
    cosines = torch.nn.functional.cosine_similarity(before, after, -1)
    assert [row.after["zero"] for row in found.rows[:-1]] == pytest.approx(cosines.tolist(), abs=1e-6)
    whole = torch.nn.functional.cosine_similarity(before.mean(0), after.mean(0), 0)
    assert (found.rows[-1].name, found.rows[-1].after["zero"]) == (EVERYTHING, pytest.approx(float(whole), abs=1e-6))
    assert [row.code for row in found.rows] == [""] * (len(found.rows) - 1) + ["mean"]
    assert found.notes[0].code == "no_predictions" and "no predictions" in found.notes[0]
    record = found.as_record()
    assert record["coded"] == [one.record for one in found.notes] and record["rows"][-1]["code"] == "mean"


def test_an_encoder_decoder_predicts_its_target(t5):
    found = effect(t5, "the cat sat", heads="cross:*.1", target="a dog", position=2)
    assert (found.about, found.tokens[2], found.actual) == ("next token", "a", "dog")
    assert found.heads == ("cross:0.1", "cross:1.1", "cross:2.1")


def test_the_record_is_json_and_names_whole_layers(gpt2):
    record = json.loads(json.dumps(effect(gpt2, "the cat", heads=["1.*", "0.2"]).as_record()))
    assert record["heads"] == ["0.2", "1.*"]
    assert set(record["rows"][0]) == {"name", "before", "after", "code"}
    assert record["meaning"] == "which token comes next"


def test_what_cannot_be_asked_is_said_in_one_sentence(wordpiece, gpt2, bert):
    masked = bert_for(BertForMaskedLM, wordpiece)
    with pytest.raises(ValueError, match=r"write \[MASK\] in its place"):
        effect(masked, "the cat", heads="0.1")
    with pytest.raises(IndexError, match="no position 99; the text has 7 tokens"):
        effect(gpt2, "the cat", heads="0.1", position=99)
    labels = bert_for(BertForSequenceClassification, wordpiece, num_labels=2)
    with pytest.raises(ValueError, match="labels the whole text"):
        effect(labels, "the cat", heads="0.1", position=1)
    with pytest.raises(ValueError, match="neither predictions nor hidden states"):
        effect(bert_for(BertForQuestionAnswering, wordpiece), "the cat", heads="0.1")
    with pytest.raises(ValueError, match="no mode 'off'"):
        effect(bert, "the cat", heads="0.1", modes="off")


def test_the_command_takes_several_heads_after_one_option(minilm):
    run = CliRunner().invoke
    result = run(app, ["ablate", "The cat sat on the mat.", "--heads", "5.4", "2.*", "--mode", "zero", "--json"])
    record = json.loads(result.stdout)
    assert record["heads"] == ["2.*", "5.4"]
    assert record["modes"] == ["zero"]
    before = run(app, ["ablate", "--heads", "5.4", "2.*", "--mode", "zero", "The cat sat on the mat.", "--json"])
    assert json.loads(before.stdout)["rows"] == record["rows"]
    table = run(app, ["ablate", "The cat sat on the mat.", "--heads", "5.4"]).stdout
    assert "without 5.4" in table
    assert "no predictions" in " ".join(table.split())


def test_the_command_takes_mean_outputs_from_a_file(minilm, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("A dog barks.\nRain fell all night.\n")
    result = CliRunner().invoke(app, ["ablate", "The cat.", "--heads", "1.2", "--reference", str(texts), "--json"])
    record = json.loads(result.stdout)
    assert (record["modes"], record["reference"]) == (["zero", "uniform", "mean"], str(texts))
    alone = CliRunner().invoke(app, ["ablate", "The cat.", "--heads", "1.2", "--mode", "mean", "--json"])
    assert json.loads(alone.stdout)["reference"] == NAME
    assert json.loads(alone.stdout)["rows"][0]["after"]["mean"] != record["rows"][0]["after"]["mean"]
    said = CliRunner().invoke(app, ["ablate", "The cat.", "--heads", "1.2", "--mode", "mean"]).stderr
    assert f"their mean over {NAME}" in " ".join(said.split())


def test_a_real_model_forgets_a_capital_without_its_second_layer(smollm):
    """The figures of the how-to page."""
    found = effect(smollm, "The capital of France is", heads="2.*")
    best = found.rows[0]
    assert best.name == " Paris"
    assert best.before > 0.6
    assert best.after["zero"] < best.after["uniform"] < best.before
    assert found.kl["zero"] > found.kl["uniform"] > 0
