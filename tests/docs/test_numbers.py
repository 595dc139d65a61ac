"""Figures in the pages are those that were measured last, and each has a script that measures it again."""

import sys

import pytest

from .write_page import ROOT

FOLDER = ROOT / "docs" / "numbers"


@pytest.fixture(scope="module")
def run():
    sys.path.insert(0, str(FOLDER))
    try:
        import run as module

        yield module
    finally:
        sys.path.remove(str(FOLDER))


def test_every_block_of_a_page_is_what_its_script_makes_of_the_measured_figures(run):
    for name in run.MEASURED:
        for page, parts in run.load(name).blocks(run.found(name)).items():
            written = run.blocks.read(page)
            for block, markdown in parts.items():
                assert written[block].strip() == markdown.strip(), (
                    f"{page}, {block}: python docs/numbers/run.py --write"
                )


def test_every_script_writes_into_blocks_that_are_there(run):
    for name in run.MEASURED:
        for page, parts in run.load(name).blocks(run.found(name)).items():
            assert set(parts) <= set(run.blocks.read(page)), page
