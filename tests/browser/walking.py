"""How tests go through the walk, read its numbers, and look for barriers in its steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from test_access import COLOURS, violations, with_axe
from test_heads import still, until

ENCODER = "tokens embed project scores scale softmax mix join output residual feed stack".split()
DECODER = "target mask attend cross dfeed predict loss".split()
# Steps look alike in every model that has them: each is searched for barriers in one walk.
SEARCHED = {
    "translator": "tokens scores softmax mask join predict loss".split(),
    "gpt2": "embed norm feed".split(),
    "smollm": "group rotate scale cache".split(),
    "t5": "project bias mix output residual stack target attend cross dfeed".split(),
    "gated t5": "feed dfeed".split(),
}


# All in the page, without a pointer that travels, which takes longer than to draw the step.
GONE = """async ([step, open]) => {
  document.querySelector(`[data-step=${step}]`).click();
  while (!document.querySelector(`[data-step=${step}][aria-current=step]`)) await new Promise(requestAnimationFrame);
  for (const some of document.querySelectorAll('.walk details')) some.open ||= open;
}"""


def go(page: Any, step: str, *, unfold: bool = True) -> None:
    """To a step, with its tables and the weights in them open; that boxes can be clicked is seen by `barriers`."""
    page.evaluate(GONE, [step, unfold])


# Where a cell of a drawn matrix is on the screen; nowhere, if something else is there.
PLACE = """(canvas, [row, column]) => {
  canvas.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  const [left, top, cell, line] = ['left', 'top', 'cell', 'line'].map(name => +canvas.dataset[name]);
  const box = canvas.getBoundingClientRect(), at = [left + (column + 0.5) * cell, top + (row + 0.5) * line];
  const seen = document.elementFromPoint(box.left + at[0], box.top + at[1]) === canvas;
  return [at, seen ? [box.left + at[0], box.top + at[1]] : null];
}"""
READOUT = """async () => {
  await new Promise(requestAnimationFrame);  // what the pointer did is drawn
  return document.querySelector('[data-readout]')?.innerText ?? '';
}"""


def readout(page: Any, name: str, row: int, column: int, nth: int = -1) -> tuple[str, float]:
    """What the page says of the cell under the pointer: which it is, and its number."""
    canvas = page.locator(f'canvas[data-matrix="{name}"]').nth(nth)
    (x, y), seen = canvas.evaluate(PLACE, [row, column])
    if seen:
        page.mouse.move(*seen)
    said = page.evaluate(READOUT) if seen else ""
    if "] = " not in said:  # out of sight, or still moving
        page.mouse.move(0, 0)  # or it would not move, where it is there already
        canvas.hover(position={"x": x, "y": y})
        said = page.inner_text("[data-readout]")
    which, _, value = said.partition("] = ")
    return which, float(value.split(" = ")[0].replace("−", "-").replace("∞", "inf"))


def cell(page: Any, name: str, row: int, column: int, nth: int = -1) -> float:
    """The number under the pointer, as the page says it."""
    return readout(page, name, row, column, nth)[1]


def numbers(page: Any, name: str, expected: np.ndarray, nth: int = -1) -> None:
    """Some cells of a matrix on the page, against what they should be."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        row, column = (int(rng.integers(n)) for n in expected.shape)
        assert cell(page, name, row, column, nth) == pytest.approx(float(expected[row, column]), abs=2e-4)


FITS = """width => {
  const cell = document.querySelector('.cell[data-cell]')?.getBoundingClientRect();
  return cell && document.documentElement.scrollWidth <= width && cell.left >= 0 && cell.right <= width;
}"""


def fits(page: Any, width: int) -> None:
    """The step that is open needs no more than the window, and its cell is in it, when it has come to rest."""
    until(page, FITS, width, seconds=60)


ANSWERED = """async () => {
  const all = selector => [...document.querySelectorAll(selector)], early = all('[data-said]').length;
  for (const option of all('[data-option]')) {
    document.querySelector(`[data-option='${option.dataset.option}']`).click();
    for (const _ of 'ab') await new Promise(requestAnimationFrame);  // it is drawn
    const [said] = all('[data-said=right]');
    if (said) return [early, all('[data-option]').length, option.innerText, said.innerText];
  }
  return null;
}"""


def right_answer(page: Any) -> str:
    """The right one of a step's options: there are others, nothing is said before, and then something is."""
    found = page.evaluate(ANSWERED)
    assert found is not None, "no option is right"
    early, options, answer, said = found
    assert early == 0 and options >= 2 and len(said) > 10
    return str(answer)


@contextmanager
def wide(page: Any, width: int) -> Iterator[None]:
    """A window of another width, for a while."""
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 844})
    try:
        yield
    finally:
        page.set_viewport_size(before)


def near(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def box(page: Any, selector: str) -> dict[str, float]:
    return page.locator(selector).bounding_box()


def saved(page: Any, path: Path) -> list[str]:
    """The texts of the picture that the page saves."""
    page.wait_for_timeout(110)  # Chromium drops what a page wants to save after ten files in a second
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    assert waiting.value.suggested_filename.startswith("regard-walk")
    waiting.value.save_as(path)
    every = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in every]  # what stands lower is an element of its own


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
