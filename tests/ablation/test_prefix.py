"""Runs that share what lies below the edit: the very numbers of whole runs, and nothing left on the model."""

import itertools

import pytest
import torch
from transformers import AlbertConfig, AlbertModel, BertForSequenceClassification

from regard.capture import Ablation
from regard.capture.prefix import Shared, blocks_of
from regard.trace.heads import Head, all_heads
from tests.tiny import SIZES, made, tiny_bert, tiny_llama

TEXTS = ["the cat sat on the mat .", "a dog went", "i bought fresh straw ##berries at the store !"]


@pytest.fixture(scope="module")
def classifier(wordpiece):
    return tiny_bert(wordpiece, BertForSequenceClassification, seed=1, num_hidden_layers=3)


@pytest.fixture(scope="module")
def deep_llama(bytelevel):
    return tiny_llama(bytelevel, seed=1, num_hidden_layers=4)


def shared(model, **options):
    return Shared(model.module, model._engine.plan(), model._engine.places(), model._engine.run, **options)


def outputs(model, mode, **options):
    """What the model gives with each head, then each pair of neighbours, off."""
    means = model.head_means(TEXTS) if mode == "mean" else None
    inputs, _ = model._engine.collate([model._engine.encode(text) for text in TEXTS])
    heads = all_heads(model.layout())
    runs = shared(model, **options).batch(inputs)
    found = [runs.plain[0].clone()]
    for chosen in [*((head,) for head in heads), *itertools.pairwise(heads)]:
        off = Ablation([chosen], mode, means)
        found.append(runs.run_edited(off, off.layers)[0].clone())
    return found


@pytest.mark.parametrize("name", ["bert", "classifier", "gpt2", "deep_llama"])
@pytest.mark.parametrize("mode", ["zero", "uniform", "mean"])
def test_shared_runs_give_the_very_numbers_of_whole_ones(name, mode, request):
    model = request.getfixturevalue(name)
    assert shared(model).sharing
    quick, whole = outputs(model, mode), outputs(model, mode, share=False)
    assert all(torch.equal(one, other) for one, other in zip(quick, whole, strict=True))
    assert not torch.equal(quick[0], quick[1])


def test_blocks_below_are_not_run_again(classifier):
    inputs, _ = classifier._engine.collate([classifier._engine.encode(TEXTS[0])])
    runs = shared(classifier).batch(inputs)
    ran = []
    hooks = [
        module.register_forward_pre_hook(lambda _m, _a, path=path: ran.append(path))
        for path, module in classifier.module.named_modules()
        if path.endswith(("dense", "query")) and "encoder" in path
    ]
    off = Ablation([[Head("encoder", 2, 0)]])
    for _ in range(3):  # one run keeps, one is checked against a whole run, one takes
        runs.run_edited(off, off.layers)
    ran.clear()
    forwards = [vars(module).get("forward") for module in classifier.module.modules()]
    runs.run_edited(off, off.layers)
    for hook in hooks:
        hook.remove()
    assert not any(path.startswith(("bert.encoder.layer.0.output", "bert.encoder.layer.1.")) for path in ran)
    assert "bert.encoder.layer.2.attention.output.dense" in ran
    assert forwards == [None] * len(forwards)


def test_whether_sharing_is_right_is_looked_at_once_on_few_inputs(classifier):
    inputs, _ = classifier._engine.collate([classifier._engine.encode(text) for text in TEXTS * 2])
    rows = []

    def run(some):
        rows.append(len(some["input_ids"]))
        return classifier._engine.run(some)

    runs = Shared(classifier.module, classifier._engine.plan(), classifier._engine.places(), run).batch(inputs)
    off = Ablation([[Head("encoder", 1, 0)]])
    assert rows == [6]
    runs.run_edited(off, off.layers)
    assert rows == [6, 2, 2, 2, 2, 6]  # plain, whole, keeping and taking on two; then the run that was asked for
    runs.run_edited(off, off.layers)
    assert rows[6:] == [6]


def test_the_model_is_as_before_also_after_an_error(classifier):
    inputs, _ = classifier._engine.collate([classifier._engine.encode(TEXTS[0])])
    runs = shared(classifier).batch(inputs)

    def broken(_place, _out, _call):
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runs.run_edited(broken, [("encoder", 2)])
    assert not any("forward" in vars(module) for module in classifier.module.modules())
    assert not any(module._forward_hooks for module in classifier.module.modules())
    assert torch.equal(classifier._engine.run(inputs).logits, runs.plain.logits)


def test_a_module_that_changes_its_answer_in_place_ends_sharing(wordpiece):
    model = tiny_bert(wordpiece, BertForSequenceClassification)
    query = model.module.bert.encoder.layer[1].attention.self.query
    query.register_forward_hook(lambda _m, _a, output: output.add_(1.0))  # applied again each time it is taken
    quick, whole = outputs(model, "zero"), outputs(model, "zero", share=False)
    assert all(torch.equal(one, other) for one, other in zip(quick, whole, strict=True))


def test_models_whose_layers_share_a_module_run_whole(wordpiece, t5):
    config = AlbertConfig(vocab_size=len(wordpiece), embedding_size=8, **SIZES | {"num_hidden_layers": 3})
    albert = made(AlbertModel, config, wordpiece)
    assert blocks_of(albert.module, albert._engine.places()) == []
    assert blocks_of(t5.module, t5._engine.places()) == []
    quick, whole = outputs(albert, "zero"), outputs(albert, "zero", share=False)
    assert all(torch.equal(one, other) for one, other in zip(quick, whole, strict=True))
