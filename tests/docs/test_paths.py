"""Pages that describe the code name files that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = (ROOT, ROOT / "src" / "regard", ROOT / "frontend" / "src")
PATH = re.compile(r"`([\w./-]+(?:\.(?:py|ts|tsx|json|css|md|txt|toml|yml)|/))`")


def is_there(name: str) -> bool:
    if any((place / name).exists() for place in PLACES):
        return True
    return "/" not in name and any(next(place.rglob(name), None) for place in PLACES[1:])  # `tap.py` of a folder


@pytest.mark.parametrize("page", ["docs/explanation/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_a_page_names_exists(page):
    named = PATH.findall((ROOT / page).read_text("utf-8"))
    assert len(named) > 10
    assert [name for name in named if not is_there(name)] == []


def test_a_path_that_is_gone_is_noticed():
    assert not is_there("capture/gone.py") and not is_there("gone.py") and is_there("capture/tap.py")
