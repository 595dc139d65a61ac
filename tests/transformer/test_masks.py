"""What a mask hides has no influence at all."""

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.transformer.config import Config
from regard.transformer.masks import causal_mask, padding_mask
from regard.transformer.model import Bert, Translator, sinusoids

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ids = st.integers(4, 39)
sentences = st.lists(ids, min_size=1, max_size=9)


@QUICK
@given(source=sentences, target=st.lists(ids, min_size=2, max_size=9), data=st.data())
def test_changing_a_later_target_token_changes_no_earlier_logit(tiny: Translator, source, target, data):
    place = data.draw(st.integers(1, len(target) - 1))
    changed = [*target]
    changed[place] = data.draw(ids)
    with torch.no_grad():
        before = tiny(torch.tensor([source]), torch.tensor([target]))
        after = tiny(torch.tensor([source]), torch.tensor([changed]))
    torch.testing.assert_close(before[:, :place], after[:, :place], atol=0, rtol=0)


@QUICK
@given(source=sentences, padding=st.lists(ids, min_size=1, max_size=4), target=sentences)
def test_what_stands_in_padded_source_positions_changes_nothing(tiny: Translator, source, padding, target):
    real = torch.tensor([[1] * len(source) + [0] * len(padding)])
    blank = [0] * len(padding)
    with torch.no_grad():
        alone = tiny(torch.tensor([source]), torch.tensor([target]))
        padded = tiny(torch.tensor([source + blank]), torch.tensor([target]), real)
        filled = tiny(torch.tensor([source + padding]), torch.tensor([target]), real)
    torch.testing.assert_close(padded, filled, atol=0, rtol=0)
    torch.testing.assert_close(alone, padded, atol=1e-5, rtol=0)


@QUICK
@given(target=sentences, padding=st.lists(ids, min_size=1, max_size=4))
def test_padded_target_positions_change_nothing_and_are_numbers(tiny: Translator, target, padding):
    source = torch.tensor([[5, 6, 7]])
    front = [0] * len(padding) + [1] * len(target)
    with torch.no_grad():
        one = tiny(source, torch.tensor([padding + target]), decoder_attention_mask=torch.tensor([front]))
        two = tiny(source, torch.tensor([[9] * len(padding) + target]), decoder_attention_mask=torch.tensor([front]))
    assert torch.isfinite(one).all()
    torch.testing.assert_close(one[:, len(padding) :], two[:, len(padding) :], atol=0, rtol=0)


@QUICK
@given(words=sentences, padding=st.lists(ids, min_size=1, max_size=4))
def test_padding_changes_nothing_in_bert(words, padding):
    torch.manual_seed(0)
    bert = Bert(Config(vocabulary=40, width=24, heads=3, layers=2, decoder_layers=0, segments=2, position="learned"))
    real = torch.tensor([[1] * len(words) + [0] * len(padding)])
    with torch.no_grad():
        alone = bert.eval()(torch.tensor([words]))
        padded = bert(torch.tensor([words + padding]), real)[:, : len(words)]
    torch.testing.assert_close(alone, padded, atol=1e-5, rtol=0)


def test_the_causal_mask_lets_each_row_see_itself_and_what_came_before():
    expected = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=torch.bool)
    assert torch.equal(causal_mask(3, 3), expected)
    assert torch.equal(causal_mask(1, 3), torch.ones(1, 3, dtype=torch.bool))


def test_a_batch_without_padding_needs_no_mask():
    assert padding_mask(torch.ones(2, 3)) is None
    assert padding_mask(None) is None


def test_a_sinusoid_further_on_is_a_rotation_of_the_one_before():
    table = sinusoids(30, 16).double()
    pairs = table.view(30, 8, 2)
    rate = torch.tensor([10000 ** (-2 * i / 16) for i in range(8)], dtype=torch.float64)
    cos, sin = torch.cos(3 * rate), torch.sin(3 * rate)
    turned = torch.stack(
        [pairs[:27, :, 0] * cos + pairs[:27, :, 1] * sin, pairs[:27, :, 1] * cos - pairs[:27, :, 0] * sin], -1
    )
    torch.testing.assert_close(turned, pairs[3:], atol=1e-5, rtol=0)
