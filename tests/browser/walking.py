"""How tests go through the walk and read its numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

ENCODER = "tokens embed project scores scale softmax mix join output residual feed stack".split()
DECODER = "target mask attend cross dfeed predict loss".split()


def go(page: Any, step: str) -> None:
    page.click(f"[data-step={step}]")
    page.wait_for_selector(f"[data-step={step}][aria-current=step]")
    unfold(page)


def unfold(page: Any) -> None:
    """Open the tables of a step, and the weights in them."""
    page.evaluate("for (const some of document.querySelectorAll('.walk details')) some.open = true")


def cell(page: Any, name: str, row: int, column: int, nth: int = -1) -> float:
    """The number under the pointer, as the page says it."""
    canvas = page.locator(f'canvas[data-matrix="{name}"]').nth(nth)
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    x, y = at["left"] + (column + 0.5) * at["cell"], at["top"] + (row + 0.5) * at["line"]
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": x, "y": y})
    said = page.inner_text("[data-readout]")
    value = said.partition("] = ")[2].split(" = ")[0].replace("−", "-")
    return float(value.replace("∞", "inf"))


def numbers(page: Any, name: str, expected: np.ndarray, nth: int = -1) -> None:
    """Some cells of a matrix on the page, against what they should be."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        row, column = (int(rng.integers(n)) for n in expected.shape)
        assert cell(page, name, row, column, nth) == pytest.approx(float(expected[row, column]), abs=2e-4)


def near(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def box(page: Any, selector: str) -> dict[str, float]:
    return page.locator(selector).bounding_box()


def saved(page: Any, path: Path) -> list[str]:
    """The texts of the picture that the page saves."""
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    assert waiting.value.suggested_filename.startswith("regard-walk")
    waiting.value.save_as(path)
    return [element.text for element in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")]
