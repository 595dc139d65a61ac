"""Figures in the pages are those that were measured last, and each has a script that measures it again."""

import re

import pytest

from .scripts import script
from .write_page import ROOT

FOLDER = ROOT / "docs" / "numbers"


@pytest.fixture(scope="module")
def run():
    yield from script(FOLDER, "run")


def test_every_block_of_a_page_is_what_its_script_makes_of_the_measured_figures(run):
    for name in run.NAMES:
        for page, parts in run.load(name).blocks(run.found(name)).items():
            written = run.blocks.read(page)
            for block, markdown in parts.items():
                assert written[block].strip() == markdown.strip(), (
                    f"{page}, {block}: python docs/numbers/run.py --write"
                )


def test_every_script_has_been_measured(run):
    missing = [name for name in run.NAMES if not (FOLDER / "found" / f"{name}.json").exists()]
    assert not missing, f"make docs-numbers NAMES={' '.join(missing)}"


def test_no_block_of_a_page_is_empty_or_without_its_number(run):
    for page in (ROOT / "docs").rglob("*.md"):
        for block, markdown in run.blocks.read(str(page.relative_to(ROOT / "docs"))).items():
            assert markdown.strip(), f"{page.name}, {block} is empty"
            assert not re.search(r"\bnan\b", markdown), f"{page.name}, {block} holds nan"


def test_every_block_of_a_page_has_a_script(run):
    made = {
        (page, block)
        for name in run.NAMES
        for page, parts in run.load(name).blocks(run.found(name)).items()
        for block in parts
    }
    for page in (ROOT / "docs").rglob("*.md"):
        place = str(page.relative_to(ROOT / "docs"))
        assert {(place, block) for block in run.blocks.read(place)} <= made
