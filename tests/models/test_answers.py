"""Answers: drawn with the model's probabilities, and told until they stop."""

import pytest
import torch

from tests.models.talkers import CHAT, text_of


def test_the_same_seed_draws_the_same_answer_and_another_seed_another(talker):
    def said(**more):
        return text_of(talker().trace(messages=CHAT, generate=20, **more), "answer")

    assert said(temperature=1.0, seed=1) == said(temperature=1.0, seed=1) != said(temperature=1.0, seed=2)
    assert said() == said(seed=9)  # the likeliest token needs no luck


@pytest.mark.slow
def test_tokens_are_drawn_with_the_models_probabilities(talker):
    model = talker()
    prompt = model._engine.prompt("the cat", 1)
    with torch.no_grad():
        scores = model.module(torch.tensor([prompt.ids])).logits[0, -1]
    chances = torch.softmax(scores / 2.0, -1)
    from regard.models.sampling import Sampling

    drawn = [model._engine.speak(prompt, 1, Sampling(2.0, seed)).ids[0] for seed in range(600)]
    counts = torch.bincount(torch.tensor(drawn), minlength=len(chances)) / len(drawn)
    top = chances.topk(3).indices
    spread = (chances[top] * (1 - chances[top]) / len(drawn)).sqrt()
    assert ((counts[top] - chances[top]).abs() < 4 * spread).all()
    narrow = [model._engine.speak(prompt, 1, Sampling(2.0, seed, top_p=1e-6)).ids[0] for seed in range(5)]
    assert set(narrow) == {int(chances.argmax())}


def test_an_answer_ends_before_a_stop_text(talker):
    engine = talker()._engine
    prompt = engine.prompt("the cat", 30)
    whole = engine.speak(prompt, 30)
    stop = whole.text[4:6]
    heard = []
    speech = engine.speak(prompt, 30, stop=[stop], each=lambda _, text: heard.append(text))
    assert speech.text == "".join(heard) == whole.text[: whole.text.find(stop)] and speech.stopped
    assert len(speech.ids) < len(whole.ids)


def test_half_a_character_is_not_told(talker):
    from regard.models.speech import Speech

    tokenizer = talker().tokenizer
    speech = Speech(tokenizer)
    heard = [speech.hear(token) for token in tokenizer("a猫b")["input_ids"]]
    assert heard == ["a", "", "", "猫", "b"] and speech.finish() == ""
