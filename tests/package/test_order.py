"""The lists by which tests are ordered and left out name what is there."""

from pathlib import Path

from tests.order import LONG, REAL, SLOW

TESTS = Path(__file__).resolve().parents[1]


def test_every_file_that_is_called_long_or_slow_is_there():
    assert [name for name in {*LONG, *SLOW} if not (TESTS / name).exists()] == []
    assert len(set(LONG)) == len(LONG) and len(set(SLOW)) == len(SLOW)


def test_every_fixture_of_real_models_and_texts_is_there():
    sources = [path.read_text("utf-8") for path in TESTS.rglob("*.py")]
    assert [name for name in REAL if not any(f"\ndef {name}(" in text for text in sources)] == []
