"""A hub that never answers costs ten seconds, not minutes, and a sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import regard
from regard.models import hub
from tests.silent import Silent


def patterns(silent: Silent, tmp_path, *options: str) -> subprocess.CompletedProcess[str]:
    """`regard patterns` on a model of this hub."""
    environment = {**os.environ, "HF_ENDPOINT": silent.address, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": ""}
    environment = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    command = [sys.executable, "-m", "regard", "patterns", "A cat.", "-m", "nobody/nothing", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150)


def test_a_hub_that_never_answers_is_given_up_with_the_way_out(silent, tmp_path):
    done = patterns(silent, tmp_path)
    assert done.returncode == 2 and "did not answer within 10 seconds" in done.stderr and "--offline" in done.stderr
    assert f"waiting for {silent.address} to answer" in done.stderr  # said before it was given up
    assert "HEAD / HTTP/1.1" in silent.asked and not any("nobody" in line for line in silent.asked)


def test_offline_asks_nobody(silent, tmp_path):
    done = patterns(silent, tmp_path, "--offline")
    assert done.returncode == 2 and "was not asked (--offline" in done.stderr
    assert silent.asked == []


def test_a_model_that_is_here_loads_though_the_hub_never_answers(silent, tmp_path, bert, monkeypatch):
    import huggingface_hub

    folder = tmp_path / "models--someone--tiny"
    bert.module.save_pretrained(folder / "snapshots" / "abc")
    bert.tokenizer.save_pretrained(folder / "snapshots" / "abc")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", silent.address)
    monkeypatch.setattr(hub, "FIRST_ANSWER", 2.5)
    assert regard.load("someone/tiny").trace("the cat").attention(0).shape == (3, 4, 4)
    assert not any("someone" in line for line in silent.asked)
