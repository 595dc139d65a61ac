"""How tests go through the walk, read its numbers, and look for barriers in its steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from test_access import COLOURS, violations, with_axe
from test_heads import still

ENCODER = "tokens embed project scores scale softmax mix join output residual feed stack".split()
DECODER = "target mask attend cross dfeed predict loss".split()


def go(page: Any, step: str) -> None:
    page.click(f"[data-step={step}]")
    page.wait_for_selector(f"[data-step={step}][aria-current=step]")
    unfold(page)


def unfold(page: Any) -> None:
    """Open the tables of a step, and the weights in them."""
    page.evaluate("for (const some of document.querySelectorAll('.walk details')) some.open = true")


# Where a cell of a drawn matrix is on the screen; nowhere, if something else is there.
PLACE = """(canvas, [row, column]) => {
  canvas.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  const [left, top, cell, line] = ['left', 'top', 'cell', 'line'].map(name => +canvas.dataset[name]);
  const box = canvas.getBoundingClientRect(), at = [left + (column + 0.5) * cell, top + (row + 0.5) * line];
  const seen = document.elementFromPoint(box.left + at[0], box.top + at[1]) === canvas;
  return [at, seen ? [box.left + at[0], box.top + at[1]] : null];
}"""


def cell(page: Any, name: str, row: int, column: int, nth: int = -1) -> float:
    """The number under the pointer, as the page says it."""
    canvas = page.locator(f'canvas[data-matrix="{name}"]').nth(nth)
    (x, y), seen = canvas.evaluate(PLACE, [row, column])
    if seen:
        page.mouse.move(*seen)
    if not seen or "] = " not in page.inner_text("[data-readout]"):  # out of sight, or still moving
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


def barriers(page: Any, steps: Iterable[str]) -> list[str]:
    """What axe-core finds in steps, in both themes: in all of the page at the first, then in what a step changes."""
    with_axe(page)
    found = []
    for number, step in enumerate(steps):
        page.click(f"[data-step={step}]")
        page.click("[data-option='0']")
        for theme, rules in (("first", None), ("second", COLOURS)):
            still(page)
            part = ".scene" if number else ".regard"
            found += [f"{step}, {theme} theme: {one}" for one in violations(page, rules, part)]
            page.click("[data-tool=theme]")
    return found
