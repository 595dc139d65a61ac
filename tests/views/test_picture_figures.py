"""Figures of heads that look at a picture."""

import numpy as np
import pytest
from tests.planted import PLACED, pictured

from regard import Trace
from regard.trace.site import Site
from regard.trace.tiles import Tile, picture_side
from regard.views import decode
from regard.views.drawing.overlay import lit
from regard.views.wire import encode


@pytest.fixture(scope="module")
def trace():
    return pictured()


def test_a_figure_shows_the_picture_for_every_head_and_says_what_is_there(trace):
    drawn = trace.figure("heads", layer=0)
    shown = [axes for axes in drawn.figure.axes if axes.get_visible() and axes.images]
    assert len(shown) == 1 + 3
    title = drawn.figure.get_suptitle()
    assert title == "From [CLS], head 0.1 looks most at the top right (row 1, column 4): 80% (even: 2.7%)"
    assert "a picture of 36 patches" in drawn.figure.get_supxlabel()
    assert drawn.svg().startswith(b"<?xml")


def test_the_planted_patch_is_the_blue_and_clear_one(trace):
    side = trace.side("image")
    grey = np.full((60, 60, 3), 0.5, np.float32)
    found = lit(grey, side.spans, trace.attention(0, 1, queries=0)[0])
    bluer = found[..., 2] - found[..., 0]
    row, column = (slice(10 * place, 10 * place + 10) for place in PLACED)
    inside = bluer[row, column].min()
    bluer[row, column] = 0
    assert inside > 0.2 and bluer.max() < 0.1


def test_one_head_and_another_query(trace):
    drawn = trace.figure("heads", layer=0, head=1, query=5)
    assert len([axes for axes in drawn.figure.axes if axes.images]) == 2
    assert drawn.figure.get_suptitle().startswith("From 0,4, head 0.1")


def test_too_many_heads_do_not_fit(trace):
    side = trace.side("image")
    maps = np.full((40, len(side), len(side)), 1 / len(side), np.float32)
    many = Trace({"image": side}, (Site("encoder", 0, "image", "image", tuple(range(40)), maps=maps),), {})
    with pytest.raises(ValueError, match="choose up to 32"):
        many.figure("heads")


def test_a_page_keeps_weights_between_patches_to_a_few_thousandths():
    rng = np.random.default_rng(0)
    tile = Tile(np.array([[1 / 112, 0, 0], [0, 1 / 112, 0]]), np.ones((112, 112), bool), (8, 8))
    side = picture_side([tile], None, 1 + 14 * 14, 0)
    q, k = (rng.normal(size=(2, len(side), 32)).astype(np.float32) for _ in range(2))
    site = Site("encoder", 0, "image", "image", (0, 1), scale=32**-0.5, q=q, k=k)
    trace = Trace({"image": side}, (site,), {})
    again = decode(encode(trace, report=False, packed=True))
    error = np.sqrt(np.square(again.scores(0, 0) - trace.scores(0, 0)).mean())
    assert 1e-3 < error < 3.3e-3
