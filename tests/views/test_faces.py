"""The letters of figures: the page's faces while a figure is written, in a form that its format can hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontEntry, fontManager
from matplotlib.text import Text

from regard import Trace
from regard.views import faces
from regard.views.faces import dressed


@pytest.fixture
def drawn():
    trace = Trace.from_maps(np.full((1, 2, 3, 3), 1 / 3), ["a", "b", "c"])
    return trace.figure("matrix", layer=0, head=1).figure


@pytest.fixture
def installed(monkeypatch):
    """As if a face were installed from a file."""

    def install(face: str, file: str) -> None:
        entry = FontEntry(fname=file, name=face)
        monkeypatch.setattr(fontManager, "ttflist", [*others(face), entry])
        faces._usable.cache_clear()

    yield install
    faces._usable.cache_clear()


def others(face: str) -> list[FontEntry]:
    return [one for one in fontManager.ttflist if one.name != face]


def families(figure) -> set[str]:
    return {text.get_fontfamily()[0] for text in figure.findobj(Text) if text.get_text()}


def test_a_figure_has_the_page_s_faces_while_it_is_written(drawn, installed):
    installed("Inter", "Inter-Regular.otf")
    before = families(drawn)
    with dressed(drawn, "png"):
        assert "Inter" in families(drawn)
    assert families(drawn) == before


def test_a_pdf_has_a_face_only_as_truetype(drawn, installed):
    """An outline font in the place of a TrueType one is damage that some readers do not show at all."""
    installed("Inter", "Inter-Regular.otf")
    with dressed(drawn, "pdf"):
        assert "Inter" not in families(drawn)
    installed("Inter", "Inter-Regular.ttf")
    with dressed(drawn, "pdf"):
        assert "Inter" in families(drawn)


def test_without_the_faces_a_figure_is_written_in_matplotlib_s_own(drawn, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(fontManager, "ttflist", [one for one in others("Inter") if one.name != "JetBrains Mono"])
    faces._usable.cache_clear()
    with dressed(drawn, "svg"):
        assert families(drawn) <= {"sans-serif", "monospace"}
    faces._usable.cache_clear()
