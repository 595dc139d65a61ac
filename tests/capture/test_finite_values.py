"""Values and outputs that are not numbers are refused where they would be used, never reported as results."""

import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, BertModel

import regard
from regard.ablation.effects import effect
from regard.ablation.importance import lengths
from regard.ablation.pruning import prune
from regard.corpus.readers.source import Example
from tests.tiny import tiny_bert, tiny_llama

TEXT = "the cat sat on the mat ."
BROKEN = r"encoder layer 1 head 1: 9 of 9 value vectors are not finite; .*check the checkpoint"


@torch.no_grad()
def nan_values(model):
    """The model with NaN in one value weight of its last layer, head 1: no map, and no layer after it, shows it."""
    base = getattr(model.module, "bert", model.module)
    base.encoder.layer[1].attention.self.value.weight[8, 0] = torch.nan
    return model


@torch.no_grad()
def nan_output(model):
    """The model with NaN behind all attention."""
    base = getattr(model.module, "bert", model.module)
    base.encoder.layer[1].output.dense.weight[3, 0] = torch.nan
    return model


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sat\na mat\n")
    return path


def test_a_trace_names_the_head_whose_values_are_not_finite(wordpiece):
    with pytest.raises(ValueError, match=f"^{BROKEN}"):
        nan_values(tiny_bert(wordpiece)).trace(TEXT)


def test_the_first_built_in_model_is_no_exception():
    model = regard.load()
    with torch.no_grad():
        model.module.encoder.layer[5].attention.self.value.weight[40, 0] = torch.nan
    with pytest.raises(ValueError, match=r"^encoder layer 5 head 1: 8 of 8 value vectors are not finite"):
        model.trace("The cat sat on the mat")


def test_key_value_heads_are_named_as_such(bytelevel):
    model = tiny_llama(bytelevel)
    with torch.no_grad():
        model.module.model.layers[1].self_attn.v_proj.weight[8, 0] = torch.nan
    with pytest.raises(ValueError, match=r"^decoder layer 1 key-value head 1: 8 of 8 value vectors are not finite"):
        model.trace("a cat sa")


def test_values_that_overflow_in_float16_have_a_way_out(bytelevel):
    model = tiny_llama(bytelevel)
    with torch.no_grad():
        model.module.model.layers[1].self_attn.v_proj.weight.mul_(1e7)
    half = regard.load((model.module.half(), bytelevel))
    with pytest.raises(ValueError, match=r"decoder layer 1 key-value head 0: .* value vectors .*try float32"):
        half.trace("a cat sa")


def test_large_values_that_are_finite_are_traced(wordpiece):
    model = tiny_bert(wordpiece)
    with torch.no_grad():
        model.module.encoder.layer[1].attention.self.value.bias.fill_(1e38)  # their sum overflows, none of them does
    assert len(model.trace(TEXT).tokens) == 9


@pytest.mark.parametrize("study", ["atlas", "norms", "similarity"])
def test_a_study_stops_at_the_values_of_an_example(study, wordpiece, corpus):
    message = r"^example [01] \(counted from 0\): encoder layer 1 head 1: \d of \d value vectors are not finite"
    with pytest.raises(ValueError, match=message):
        getattr(regard.study, study)(nan_values(tiny_bert(wordpiece)), corpus)


@pytest.mark.parametrize("kind", [BertModel, BertForMaskedLM, BertForSequenceClassification])
@pytest.mark.parametrize("breaking", [nan_values, nan_output])
def test_an_effect_is_refused(kind, breaking, wordpiece):
    model = tiny_bert(wordpiece, kind)
    assert model.layout()
    position = 2 if kind is BertForMaskedLM else None
    with pytest.raises(ValueError, match=r"^the model's output is not finite; .*check the checkpoint"):
        effect(breaking(model), TEXT, heads="0.1", modes="zero", position=position)


def test_means_and_lengths_of_heads_are_refused(wordpiece):
    model = tiny_bert(wordpiece)
    assert model.layout()
    nan_values(model)
    with pytest.raises(ValueError, match=r"^encoder layer 1 head 1: its output is not finite"):
        model.head_means([TEXT])
    with pytest.raises(ValueError, match=r"^encoder layer 1 head 1: its output is not finite"):
        lengths(model, [Example(0, TEXT)])


def test_a_model_that_is_not_finite_is_not_pruned(wordpiece):
    with pytest.raises(ValueError, match=r"^the model's output is not finite"):
        prune(nan_output(tiny_bert(wordpiece)), "0.1")


def test_a_model_whose_predictions_are_not_finite_says_nothing(bytelevel):
    model = tiny_llama(bytelevel)
    with torch.no_grad():
        model.module.lm_head.weight[5, 0] = torch.nan
    with pytest.raises(ValueError, match=r"^the model's output is not finite"):
        model.trace("a cat sa", generate=2)


def test_the_ablation_of_a_classifier_stops_and_names_the_example(wordpiece, tmp_path):
    path = tmp_path / "labelled.tsv"
    path.write_text("text\tlabel\nthe cat sat\tLABEL_0\na mat\tLABEL_1\n")
    model = nan_output(tiny_bert(wordpiece, BertForSequenceClassification, num_labels=2))
    with pytest.raises(ValueError, match=r"^example [01] \(counted from 0\): the model's output is not finite"):
        regard.study.ablation(model, path)


def test_states_that_a_probe_would_read_are_refused(wordpiece, tmp_path):
    path = tmp_path / "small.conllu"
    lines = [
        "1\tthe\t_\tX\t_\t_\t2\tdet\t_\t_",
        "2\tcat\t_\tX\t_\t_\t3\tnsubj\t_\t_",
        "3\tsat\t_\tX\t_\t_\t0\troot\t_\t_",
    ]
    path.write_text("\n".join(["# text = the cat sat", *lines, "", ""]) * 8)
    message = r"^example \d \(counted from 0\): the hidden state after layer 2 of 2 is not finite"
    with pytest.raises(ValueError, match=message):
        regard.study.probe(nan_output(tiny_bert(wordpiece)), path)
