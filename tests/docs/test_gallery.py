"""The gallery shows every view, is what its script writes, and stays small."""

import json
import re

import pytest

from .scripts import script
from .write_page import ROOT

FOLDER = ROOT / "docs" / "gallery"
MOST = 3_000_000  # bytes of all pictures


@pytest.fixture(scope="module")
def shots():
    yield from script(FOLDER, "shots")


def test_the_page_is_what_its_script_writes(shots):
    assert shots.PAGE.read_text("utf-8") == shots.page(), "python docs/gallery/make.py --page"


def test_every_picture_is_there_and_none_besides(shots):
    pictures = list(FOLDER.glob("*.webp"))
    assert {path.stem for path in pictures} == set(shots.kept())
    assert sum(path.stat().st_size for path in pictures) < MOST


def test_every_view_is_shown(shots):
    views = json.loads((ROOT / "src" / "regard" / "static" / "views.json").read_text("utf-8"))
    assert [view for view in views if not any(f"view={view}&" in shot.opens for shot in shots.SHOTS)] == []


def test_every_picture_of_the_first_pages_stands_beside_the_line_that_made_it(shots):
    """In one row of a table, or in one column of it, word for word as in the gallery, but for emphasis."""
    lines = {shot.name: shot.how for shot in shots.SHOTS}
    lines |= {f"figure-{name}": how for name, how in shots.FIGURES.items()}
    for page in ("docs/index.md", "README.md"):
        rows = [line for line in (ROOT / page).read_text("utf-8").splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
        shown = 0
        for number, row in enumerate(cells):
            for column, cell in enumerate(row):
                found = re.search(r"gallery/(.+?)(?:-(?:light|dark)-\d+)?\.webp", cell)
                if found:
                    beside = [other for other in row if other != cell and "webp" not in other]
                    below = cells[number + 1][column : column + 1] if number + 1 < len(cells) else []
                    plain = [re.sub(r"[`*]", "", one) for one in beside + below]
                    assert lines[found[1]] in plain, (page, cell)
                    shown += 1
        assert shown >= 2
