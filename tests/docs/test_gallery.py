"""The gallery shows every view, is what its script writes, and stays small."""

import json

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
