"""A hub that never answers costs ten seconds, not minutes, and a sentence."""

from __future__ import annotations

import huggingface_hub
import pytest

import regard
from regard.models import hub
from tests.silent import Silent

ASKED = ("patterns", "A cat.", "-m", "nobody/nothing")


@pytest.fixture(autouse=True)
def only_hub(silent: Silent, tmp_path, monkeypatch) -> None:
    """The silent hub is the only one, and is given up soon."""
    assert hub.FIRST_ANSWER == 10
    monkeypatch.setattr(hub, "FIRST_ANSWER", 1.0)
    monkeypatch.setattr(hub, "_SIGN_OF_LIFE", 0.2)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", silent.address)
    monkeypatch.setenv("no_proxy", "*")


def test_a_hub_that_never_answers_is_given_up_with_the_way_out(silent, command, caplog):
    done = command(*ASKED)
    assert done.returncode == 2 and "did not answer within 1 seconds" in done.stderr
    assert f"waiting for {silent.address} to answer" in caplog.text and "--offline" in caplog.text  # said before that
    assert "HEAD / HTTP/1.1" in silent.asked and not any("nobody" in line for line in silent.asked)


def test_offline_asks_nobody(silent, command):
    done = command(*ASKED, "--offline")
    assert done.returncode == 2 and "was not asked (--offline" in done.stderr
    assert silent.asked == []


def test_a_model_that_is_here_loads_though_the_hub_never_answers(silent, tmp_path, bert):
    folder = tmp_path / "models--someone--tiny"
    bert.module.save_pretrained(folder / "snapshots" / "abc")
    bert.tokenizer.save_pretrained(folder / "snapshots" / "abc")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    assert regard.load("someone/tiny").trace("the cat").attention(0).shape == (3, 4, 4)
    assert not any("someone" in line for line in silent.asked)
