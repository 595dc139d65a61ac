"""The map of a head's queries and keys, opened from a folder: points name their tokens, move, and can be gathered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import regard

LINES = ["the cat sat on the mat .", "a dog went to the store , it bought strawberries .", "the dog sat on a mat ."]
# Where the canvas shows a point that stands alone, in pixels of the page: none other within 30 pixels.
ALONE = """() => {
  const canvas = document.querySelector("[data-joint] canvas");
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = [];
  for (let n = 3; n < data.length; n += 4)
    if (data[n]) found.push([((n - 3) / 4) % width, Math.floor((n - 3) / 4 / width)]);
  const box = canvas.getBoundingClientRect();
  const near = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const one = found.find((a) => found.every((b) => near(a, b) < 6 || near(a, b) > 30));
  return [box.left + one[0] + 1, box.top + one[1] + 1];
}"""


@pytest.fixture(scope="module")
def folder(bert: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("maps")
    (place / "lines.txt").write_text("\n".join(LINES * 2), "utf-8")
    regard.study.heads(bert, place / "lines.txt", output=place / "out", predictive=0)
    return place / "out"


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Any]:
    troubles: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto((folder / "heads" / "1.1.html").as_uri())
    page.locator("[data-joint][data-drawn]").wait_for()
    page.locator("[data-part=canvas]").scroll_into_view_if_needed()
    yield page
    page.close()
    assert troubles == []


def tip(page: Any) -> str:
    page.locator("[data-part=tip] p").wait_for()
    return str(page.locator("[data-part=tip]").inner_text())


def test_a_point_names_its_token_in_its_sentence_and_moves_with_the_map(page: Any) -> None:
    x, y = page.evaluate(ALONE)
    page.mouse.move(x, y)
    said = tip(page)
    assert re.search(r"(query|key), token \d+ of example \d", said)
    bold = page.locator("[data-part=tip] b").inner_text()
    assert bold in " ".join(["[CLS] [SEP]", *LINES])
    page.mouse.move(400, 20)  # elsewhere
    page.locator("[data-part=tip] p").wait_for(state="detached")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=6)
    page.mouse.up()
    page.mouse.move(x + 61, y + 40)
    assert tip(page) == said
    page.locator("[data-part=reset]").click()
    page.mouse.move(x, y)
    assert tip(page) == said


def test_a_line_around_points_lists_their_tokens(page: Any, folder: Path) -> None:
    positions = json.loads((folder / "meta.json").read_text("utf-8"))["vectors"]["positions"]
    box = page.locator("[data-part=canvas]").bounding_box()
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2), (2, box["height"] - 2), (2, 2)]
    page.locator("[data-part=lasso]").check()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for dx, dy in corners[1:]:
        page.mouse.move(box["x"] + dx, box["y"] + dy, steps=3)
    page.mouse.up()
    listed = page.locator("[data-part=list]")
    listed.locator("li").first.wait_for()
    assert listed.locator("p").first.inner_text() == f"{positions} queries, {positions} keys"
    counts = {item.split(" ")[0]: int(item.split(" ")[1]) for item in listed.locator("li").all_inner_texts()}
    assert counts["cat"] == 2 * 2  # twice in the corpus, as a query and as a key


def test_colours_tell_tokens_and_places(page: Any) -> None:
    legend = page.locator("[data-part=legend]")
    assert legend.inner_text().split() == ["queries", "keys"]
    page.locator("[data-part=colour]").select_option("token")
    assert "the" in legend.inner_text().split() and "all others" in legend.inner_text()
    page.locator("[data-part=colour]").select_option("position")
    assert "token 0–3" in legend.inner_text()


def test_keys_move_the_map_and_the_wheel_comes_closer(page: Any) -> None:
    canvas = page.locator("[data-part=canvas]")
    drawn = "() => document.querySelector('[data-joint] canvas').toDataURL()"
    first = page.evaluate(drawn)
    canvas.focus()
    for act in (lambda: page.keyboard.press("ArrowLeft"), lambda: page.keyboard.press("+")):
        act()
        page.wait_for_function(f"(before) => ({drawn})() !== before", arg=first)
        page.keyboard.press("0")
        page.wait_for_function(f"(before) => ({drawn})() === before", arg=first)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.wheel(0, -200)
    page.wait_for_function(f"(before) => ({drawn})() !== before", arg=first)
