"""Figures stay well-formed whatever tokens, models and corpora are called."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from fontTools import subset
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from regard.ablation.tasks import Task
from regard.studies import figures as pictures
from regard.studies.ablation.figures import curve_picture
from regard.studies.arcs import Arc, arcs_svg
from regard.trace.lettering import readable, visible
from regard.trace.trace import Trace
from regard.views.figures import figure

ODD = (
    "\x00",
    "\x1b[1m",
    "\x7f",
    "\x85",
    "\ud800",
    "\ufffe",
    "\uffff",
    "\ufeff",
    "$x$",
    r"$\frac$",
    r"\$a$",
    "]]>",
    "&<",
)
TEXTS = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(codec=None), max_size=6),  # lone surrogates too
    st.text(st.sampled_from("$\\{}^_%&<>'\"a\x01\ufeff\udc80"), max_size=8),
)


@pytest.fixture(scope="module", autouse=True)
def fonts_without_layout():
    """In PDFs text is set already, by the numbers of its glyphs: the tables of a font that say which glyph a letter is
    and where it stands take most of the time, and nothing reads them."""
    unused = [*subset.Options._drop_tables_default, "GDEF", "GPOS", "GSUB", "cmap", "OS/2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset.Options, "_drop_tables_default", unused)
        yield


def texts_of(svg):
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]


def check(picture, *said):
    """Both formats can be read again, and the SVG says what was to be said."""
    found = texts_of(picture.svg())
    for text in said:
        assert any(text.strip() in line for line in found), (text, found)
    pages = PdfReader(io.BytesIO(picture._bytes("pdf")), strict=True).pages
    assert len(pages) == 1 and pages[0].extract_text() is not None


@given(TEXTS, TEXTS)
@settings(max_examples=5, deadline=None)
@example("\ufeff", "$x$")
@example("\ud800", "\x00")
@pytest.mark.parametrize("view", ["heads", "matrix", "neurons"])
def test_figures_of_any_token_are_well_formed(llama, view, token, name):
    if view == "neurons":
        trace = llama.trace("ab").select(layers=[0])
        trace.sides["text"] = Trace.from_maps(np.ones((1, 1, 2, 2)) / 2, [token, "b"]).sides["encoder"]
    else:
        trace = Trace.from_maps(np.full((1, 1, 2, 2), 0.5), [token, "b"], facts={"model": name})
    check(figure(trace, view, title=name), readable(token), visible(name))


def test_every_character_gives_a_token_that_can_be_drawn():
    codes = [*range(0x300), *range(0xD7F0, 0xE010), *range(0xFDC0, 0xFE00), *range(0xFEF0, 0x10010), 0x10FFFF]
    for code in codes:
        ElementTree.fromstring(f"<a>{readable(f'a{chr(code)}').replace('&', '').replace('<', '')}</a>".encode())


PICTURES = {
    "grid": lambda name: pictures.grid_picture((2, 2), {(0, 1): ("always rests", 0.5)}, title=name),
    "heat": lambda name: pictures.heat_picture(np.eye(2), title=name, label="weight"),
    "lines": lambda name: pictures.line_picture({"entropy": np.ones(3)}, x="layer", y="value", title=name),
    "shares": lambda name: pictures.share_picture({name: np.full(5, 0.2), "other": np.full(5, 0.2)}),
    "points": lambda name: pictures.scatter_picture(np.eye(2), ["delimiter", "none"], ["0.0", "0.1"], title=name),
    "bars": lambda name: pictures.bar_picture([name], {"a": np.array([[0.5, 0.4, 0.6]])}, y="accuracy"),
    "curve": lambda name: curve_picture(
        pd.DataFrame({"order": ["random"], "share": [0.5], "score": [0.5]}), 1.0, _Scored, name
    ),
}


class _Scored(Task):
    score = "accuracy"


@pytest.mark.parametrize("kind", PICTURES)
@given(TEXTS)
@settings(max_examples=2, deadline=None)
@example("$x$.txt")
@example("$\\frac$\ufeff\x00\ud800")
def test_figures_of_any_corpus_are_well_formed(kind, name):
    check(PICTURES[kind](name), visible(name))


@given(st.lists(TEXTS, min_size=2, max_size=4), TEXTS)
def test_arcs_over_any_words_are_well_formed(words, label):
    found = texts_of(arcs_svg(words, [Arc(0, 1, "right")], label=label))
    assert found == [visible(word) for word in words]
