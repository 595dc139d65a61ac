"""What a notebook shows of results that are the last line of a cell, and what its file keeps of them."""

import importlib.util
import re
from types import SimpleNamespace

import IPython
import IPython.display
import numpy as np
import pytest
from tests.patterns.maps import shifted, trace_of
from tests.planted import spoken

import regard
from regard.views import cells

TOKENS = ["[CLS]", "the", "<b>", "sat", ".", "[SEP]"]


@pytest.fixture
def trace():
    return trace_of(shifted(-1))


@pytest.fixture
def shown(monkeypatch):
    """What IPython is asked to display, in a notebook."""
    found = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(IPython.display, "display", lambda one, raw=False: found.append((one, raw)))
    return found


def without(monkeypatch, package):
    there = importlib.util.find_spec
    monkeypatch.setattr(cells, "find_spec", lambda name: None if name == package else there(name))


def test_a_trace_is_the_widget_and_a_still_that_the_file_keeps(trace, shown):
    trace._ipython_display_()
    (view, _), (still, raw) = shown
    assert type(view).__name__ == "View" and view.selection["view"] == "heads" and raw
    assert re.search(r'<div class="regard-still"><img [^>]*src="data:image/png;base64,iVBOR', still["text/html"])
    assert "previous token" in re.search(r'alt="([^"]*)"', still["text/html"])[1]
    assert still["text/plain"] == repr(trace)
    assert len(still["text/html"]) < 600_000


def test_without_the_widget_there_is_the_still(trace, shown, monkeypatch):
    without(monkeypatch, "anywidget")
    trace._ipython_display_()
    assert [raw for _, raw in shown] == [True] and "regard-still" in trace._display_()


def test_without_matplotlib_there_are_words(trace, monkeypatch):
    without(monkeypatch, "matplotlib")
    markup = trace._repr_mimebundle_()["text/html"]
    assert "<img" not in markup and "encoder" in markup


def test_a_terminal_shows_one_line(trace, shown, monkeypatch):
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace())
    trace._ipython_display_()
    assert shown == [({"text/plain": repr(trace)}, True)]


def test_a_large_trace_is_not_sent_unasked(trace, shown, monkeypatch):
    monkeypatch.setattr(cells, "LIGHT", 10)
    trace._ipython_display_()
    assert len(shown) == 1


def test_a_picture_that_is_too_large_is_left_out(trace, monkeypatch):
    monkeypatch.setattr(cells, "STILL", 100)
    assert "<img" not in trace._repr_mimebundle_()["text/html"]


def test_a_long_text_has_words_only():
    n = 600
    trace = regard.Trace.from_maps(np.full((1, 1, n, n), 1 / n, np.float32), [f"t{i}" for i in range(n)])
    markup = trace._repr_mimebundle_()["text/html"]
    assert "<img" not in markup and "600" in markup


def test_tokens_are_text_and_never_markup():
    maps = np.random.default_rng(0).dirichlet(np.ones(6), (1, 2, 6))
    trace = regard.Trace.from_maps(maps, TOKENS, facts={"model": "<script>alert(1)</script>"})
    for one in (trace, trace.patterns()):
        assert "<script" not in one._repr_mimebundle_()["text/html"]


def test_results_show_the_report_of_the_terminal(gpt2):
    effect = gpt2.effect("the cat sat on the mat", heads="1.0", modes=["zero"])
    bundle = effect._repr_mimebundle_()
    assert bundle["text/html"].startswith("<pre") and "1.0" in bundle["text/html"]
    assert effect.rows[0].name.strip() in bundle["text/plain"]


def test_patterns_show_what_heads_do(trace):
    assert "previous token" in trace.patterns()._repr_mimebundle_()["text/plain"]


@pytest.mark.slow
def test_a_study_shows_its_findings_and_its_first_figure(bert, tmp_path):
    corpus = tmp_path / "few.txt"
    corpus.write_text("the cat sat on the mat .\nthe dog went to the store .\n" * 8)
    result = regard.study.tokens(bert, corpus)
    bundle = result._repr_mimebundle_()
    assert result.title in bundle["text/html"] and "<img" in bundle["text/html"]
    assert all(text in bundle["text/plain"] for text in result.findings[:8])
    assert len(bundle["text/html"]) < 700_000


def test_a_cell_sends_a_view_of_a_sound_that_opens_on_it():
    view = cells.view_of(spoken())
    assert (view.selection["view"], view.selection["kind"], view.selection["layer"]) == ("sound", "cross", 1)
    assert spoken().view("atlas").selection["view"] == "atlas"


def test_what_is_not_sent_does_not_make_a_trace_too_large(bert, monkeypatch):
    trace = bert.trace("the cat sat .")
    vectors = sum(site.q.nbytes + site.k.nbytes for site in trace.sites)
    assert all(site.v is not None for site in trace.sites)
    monkeypatch.setattr(cells, "LIGHT", vectors)
    assert cells.view_of(trace) is not None
