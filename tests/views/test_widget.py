"""The notebook widget, seen from Python; tests/browser/test_notebook.py has it in JupyterLab."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from test_wire import previous_token_trace

pytestmark = pytest.mark.skipif(find_spec("anywidget") is None, reason="anywidget is not installed")


def test_python_knows_what_is_chosen_before_anything_is_drawn():
    view = previous_token_trace().view("matrix")
    assert view.selection == {"view": "matrix", "kind": "encoder", "layer": 1, "part": 0, "heads": [1]}


def test_a_choice_in_python_reaches_the_selection():
    view = previous_token_trace().view(layer=0)
    view.select(layer=1, heads=[0], queries=[3])
    assert view.selection["layer"] == 1
    assert view.selection["queries"] == [3]


def test_a_view_opens_with_what_lines_are_worth(llama):
    view = llama.trace("the cat sat", worth={"check": 0}).view(worth=True)
    assert view.selection["worth"] is True
    view.select(worth=False)
    assert view.selection["worth"] is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer": 9}, "holds layers 0, 1"),
        ({"heads": [7]}, "not 7"),
        ({"view": "tree"}, "choose from atlas, heads"),
        ({"worth": True}, "trace the text with worth=True"),
        ({"token": 3}, "has no option 'token'; choose from view, kind"),
    ],
)
def test_what_is_not_there_is_refused(change, message):
    view = previous_token_trace().view()
    before = dict(view.selection)
    with pytest.raises((ValueError, IndexError), match=message):
        view.select(**change)
    assert view.selection == before
