"""A line of text in a picture: letters stand under the columns that say them, and light falls where a column looks."""

from __future__ import annotations

import numpy as np
import pytest
from test_colours import pixels
from test_heads import until
from tests.models.drawn import line

KEYS = ".panel:nth-of-type(2)"
TEXT = "Total: 47.13"


@pytest.mark.models
def test_a_line_of_text_is_lit_where_a_column_looks_and_its_padding_is_said(ocr, show, tmp_path):
    trace = ocr.trace(image=line(TEXT))
    page = show(trace.save_html(tmp_path / "a.html"), "#view=heads&kind=encoder&layer=0&heads=4")
    page.wait_for_selector(f"{KEYS} .patch")
    assert page.inner_text(".head-bar .read").strip("“”") == TEXT
    assert page.inner_text(".overlay > .legend").startswith(f"The model reads: “{TEXT}”.")
    letters = page.eval_on_selector_all(f"{KEYS} .letters span", "all => all.map(e => e.textContent)")
    assert "".join(letters).replace("␣", " ") == TEXT
    assert page.locator(f"{KEYS} .chip").count() == 0  # padding is no row of chips
    side, at = trace.side(), next(i for i, token in enumerate(trace.tokens) if token.text == "4")
    page.hover(f".panel >> nth=0 >> [data-position='{at}']")
    until(page, "document.querySelector('.letters .active')?.textContent === '4'")
    row = trace.attention(0, 4, queries=at)[0]
    padding = np.array([token.special for token in side.tokens])
    share = f"{100 * row[padding].sum():.0f}% of the attention falls on the {padding.sum()} columns of padding"
    assert share in page.inner_text(KEYS)
    shown = pixels(page, f"{KEYS} .patches canvas")
    strip = np.ptp(shown[-6:-2], axis=2).mean(axis=0)  # how blue it is below the letters, where the paper is white
    dense = row / (side.spans[:, 2] - side.spans[:, 0])  # the last column is cut off where the picture ends
    most = side.spans[np.nan_to_num(dense).argmax()]
    assert abs((strip.argmax() + 0.5) / len(strip) - (most[0] + most[2]) / 2) < 1.5 * (most[2] - most[0])
