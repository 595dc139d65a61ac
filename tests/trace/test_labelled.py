"""A trace as an xarray: named dimensions, token texts, and numbers that are computed when they are needed."""

import numpy as np
import pytest

import regard
from regard.base.errors import UserError
from regard.trace import labelled
from tests.patterns.maps import shifted, trace_of

from ..conftest import ARTICLE


@pytest.fixture(scope="module")
def trace(bert):
    return bert.trace(*ARTICLE)


@pytest.mark.parametrize("what", ["attention", "scores", "contributions"])
def test_every_number_is_that_of_the_trace(trace, what):
    array = trace.to_xarray(what)
    assert array.dims == ("layer", "head", "query", "key") and array.name == what
    for layer in trace.layers():
        np.testing.assert_allclose(array.sel(layer=layer).values, getattr(trace, what)(layer), rtol=1e-5)


def test_worth_is_there_too(gpt2):
    trace = gpt2.trace("the cat sat on the mat", worth=True)
    array = trace.to_xarray("worth", layers=[1])
    np.testing.assert_allclose(array.sel(layer=1, head=2).values, trace.worth(1, 2), rtol=1e-5)


def test_coordinates_are_positions_and_token_texts(trace):
    array = trace.to_xarray()
    texts = [token.text for token in trace.tokens]
    assert list(array["query_token"].values) == list(array["key_token"].values) == texts
    assert list(array["key"].values) == list(range(len(texts)))
    to_cls = array.where(array["key_token"] == "[CLS]", drop=True)
    np.testing.assert_allclose(to_cls.values[..., 0], array.isel(key=0).values, rtol=1e-5)


def test_some_layers_keep_their_numbers(trace):
    array = trace.to_xarray(layers=[1])
    assert list(array["layer"].values) == [1] and array.attrs["kind"] == "encoder"


def test_only_what_is_chosen_is_computed(trace, monkeypatch):
    asked = []
    read = regard.Trace.attention

    def noted(self, layer, head=None, **tile):
        asked.append((layer, head, len(tile["queries"]), len(tile["keys"])))
        return read(self, layer, head, **tile)

    monkeypatch.setattr(regard.Trace, "attention", noted)
    array = trace.to_xarray()
    asked.clear()
    row = array.sel(layer=1, head=2, query=5)
    assert asked == []
    np.testing.assert_allclose(row.values, read(trace, 1, 2)[5], rtol=1e-5)
    assert asked == [(1, 2, 1, len(trace.tokens))]


def test_lists_steps_and_negative_positions_choose_as_in_numpy(trace):
    array, whole = trace.to_xarray(), np.stack([trace.attention(layer) for layer in trace.layers()])
    np.testing.assert_allclose(
        array.isel(query=[3, 0], key=slice(None, None, 2)).values, whole[:, :, [3, 0], ::2], rtol=1e-5
    )
    np.testing.assert_allclose(array.isel(head=-1, key=-1).values, whole[:, -1, :, -1], rtol=1e-5)
    np.testing.assert_allclose(array.mean("head").values, whole.mean(1), rtol=1e-6)


def test_too_much_at_once_is_refused_with_the_way_out(trace, monkeypatch):
    monkeypatch.setattr(labelled, "LIMIT", 1000)
    array = trace.to_xarray()
    with pytest.raises(UserError, match=r"choose first, as in \.sel\(layer=0, head=0\)"):
        array.values  # noqa: B018
    assert array.sel(layer=0, head=0, query=0).values.shape == (len(trace.tokens),)


def test_cross_attention_has_the_tokens_of_both_sides(bart):
    trace = bart.trace("the cat sat", target="the dog went to the store")
    array = trace.to_xarray(kind="cross")
    assert list(array["query_token"].values) == list(trace.side("decoder").texts)
    assert list(array["key_token"].values) == list(trace.side("encoder").texts)


def test_what_is_not_available_is_said_at_once():
    trace = trace_of(shifted(-1))
    with pytest.raises(UserError, match="not available"):
        trace.to_xarray("scores")
    with pytest.raises(UserError, match="choose from attention, scores"):
        trace.to_xarray("maps")
    with pytest.raises(UserError, match="at least one"):
        trace.to_xarray(layers=[])


def test_layers_of_different_shapes_are_named():
    even = np.full((2, 2, 3, 3), 1 / 3)
    trace = regard.Trace.from_maps([even[0], even[0][:1]], ["a", "b", "c"])
    with pytest.raises(UserError, match=r"pass layers=\[0\] and layers=\[1\]"):
        trace.to_xarray()


def test_it_is_written_and_read_again(trace, tmp_path):
    import xarray

    array = trace.to_xarray(layers=[0])
    stored = xarray.DataArray.from_dict(array.to_dict())
    xarray.testing.assert_allclose(stored, array)
