"""Coming from BertViz: the same calls give ours."""

import inspect

import numpy as np
import pytest
import torch
from tests.conftest import need

from regard import bertviz as ours

MAPS = tuple(torch.softmax(torch.randn(1, 2, 4, 4, generator=torch.Generator().manual_seed(0)), -1) for _ in range(3))
TOKENS = ["[CLS]", "Ġcat", "sat", "[SEP]"]


def theirs():
    try:
        from bertviz import head_view, model_view
    except ModuleNotFoundError:
        need(False, "bertviz is not installed (make test installs it)")
    return {"head_view": head_view, "model_view": model_view}


@pytest.mark.parametrize("name", ["head_view", "model_view"])
@pytest.mark.filterwarnings("ignore")
def test_arguments_have_the_same_names_order_and_defaults(name):
    expected = inspect.signature(theirs()[name]).parameters
    found = inspect.signature(getattr(ours, name)).parameters
    assert [(p.name, p.default) for p in found.values()] == [(p.name, p.default) for p in expected.values()]


def shown(monkeypatch, call, *args, **options):
    """What a call displays in a notebook."""
    seen = []
    monkeypatch.setattr("IPython.display.display", seen.append)
    assert call(*args, **options) is None
    return seen[0]


def test_head_view_shows_the_same_maps(monkeypatch):
    view = shown(monkeypatch, ours.head_view, MAPS, TOKENS, sentence_b_start=2, layer=1, heads=[1])
    np.testing.assert_allclose(view.trace.attention(2, 1), MAPS[2][0, 1].numpy(), atol=1e-6)
    assert view.trace.side().texts == ["[CLS]", " cat", "sat", "[SEP]"]
    assert [(s.start, s.end) for s in view.trace.segments] == [(0, 2), (2, 4)]


def test_layers_and_heads_can_be_chosen_and_keep_their_numbers(monkeypatch):
    view = shown(monkeypatch, ours.model_view, MAPS, TOKENS, include_layers=[2], include_heads=[1])
    assert view.trace.layers() == (2,)
    assert view.trace.site(2).head_ids == (1,)


def test_encoder_decoder_arguments_with_unequal_depths(monkeypatch):
    cross = [torch.full((1, 2, 3, 4), 0.25)]
    view = shown(
        monkeypatch,
        ours.head_view,
        encoder_attention=MAPS,
        cross_attention=cross,
        encoder_tokens=TOKENS,
        decoder_tokens=list("xyz"),
    )
    assert (view.trace.layers("encoder"), view.trace.layers("cross")) == ((0, 1, 2), (0,))


def test_html_can_be_returned_in_place_of_shown():
    page = ours.model_view(MAPS, TOKENS, html_action="return")
    assert page.data.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass attention and tokens"),
        ({"attention": MAPS}, "tokens is required"),
        ({"attention": MAPS, "tokens": TOKENS, "cross_attention": MAPS}, "not both"),
        ({"attention": MAPS, "tokens": TOKENS, "sentence_b_start": 9}, "sentence_b_start is 9"),
        ({"attention": MAPS, "tokens": TOKENS, "html_action": "print"}, "'view' or 'return', not 'print'"),
        ({"attention": (), "tokens": TOKENS}, "empty tuple"),
        ({"encoder_attention": MAPS}, "needs the tokens of the encoder"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ours.head_view(**options)
