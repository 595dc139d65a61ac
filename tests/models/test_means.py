"""Mode mean without texts of one's own: the sentences that come with regard, for every kind of model."""

import numpy as np
import pytest
from transformers import T5Model

import regard
from regard.ablation.effects import effect
from regard.models.ablated import ANSWER, head_means
from regard.models.generation import generate
from regard.models.means import NAME, SENTENCES, standard_means


def same(one, other):
    assert set(one) == set(other)
    for place, values in one.items():
        np.testing.assert_allclose(values, other[place], atol=1e-5, err_msg=str(place))


def test_the_sentences_are_ordinary_and_differ():
    assert len(set(SENTENCES)) == 32 and NAME.startswith("32 ")
    assert {5, 17} <= {len(sentence.split()) for sentence in SENTENCES} <= set(range(5, 18))
    assert {sentence.rstrip('"')[-1] for sentence in SENTENCES} == set(".?!")


@pytest.mark.parametrize(("family", "kinds"), [("bert", {"encoder"}), ("gpt2", {"decoder"}), ("llama", {"decoder"})])
def test_models_of_one_side_take_their_means_over_the_sentences(family, kinds, request):
    model = request.getfixturevalue(family)
    means = standard_means(model)
    assert {kind for kind, _ in means} == kinds
    same(means, model.head_means(SENTENCES))
    with model.ablate("1.1", mode="mean", means=means):
        expected = model.trace("the cat sat").attention(1, 0)
    trace = model.trace("the cat sat", ablate="1.1", mode="mean")
    np.testing.assert_array_equal(trace.attention(1, 0), expected)
    assert trace.facts["ablated"] == [{"heads": ["1.1"], "mode": "mean", "reference": NAME}]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["t5", "bart"])
def test_a_decoder_beside_an_encoder_reads_what_the_model_says_to_each_sentence(sharp, family):
    model = sharp(family)
    some = SENTENCES[:5]
    rows = [model._engine.encode(sentence, truncate=True) for sentence in some]
    alone = [model._engine.answers([row], min(ANSWER, model.limit or ANSWER) - 1)[0] for row in rows]
    for row, answer in zip(rows, alone, strict=True):
        assert answer == generate(model.module, row.ids, len(answer) - 1, model.tokenizer.pad_token_id)
    same(model.head_means(some), head_means(model._engine, some, targets=alone))
    assert {kind for kind, _ in standard_means(model)} == {"encoder", "decoder", "cross"}
    found = effect(model, "the cat sat", heads="cross:1.1", target="a dog")
    assert found.modes == ("zero", "uniform", "mean") and found.reference == NAME


def test_a_model_that_cannot_speak_reads_the_sentences_themselves(t5):
    model = regard.load((T5Model(t5.config).eval(), t5.tokenizer))
    same(standard_means(model), model.head_means(SENTENCES, targets=SENTENCES))


def test_the_means_are_worked_out_once(bert):
    model = regard.load((bert.module, bert.tokenizer))
    means = standard_means(model)
    runs = []
    hook = model.module.register_forward_hook(lambda *_: runs.append(1))
    with model.ablate("0.1", mode="mean") as ablation:
        assert ablation.means is means
    hook.remove()
    assert not runs


def test_the_translator_that_comes_with_regard_has_mode_mean():
    model = regard.load("translator")
    found = effect(model, "I like the red house.", heads="cross:2.4")
    assert found.modes == ("zero", "mean")  # it is no model of transformers' interface: no uniform
    assert 0 < found.kl["mean"] < np.inf
