"""A hub that accepts a connection and never answers, as a broken proxy or a captive portal does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import regard
from regard import hub


class Silent:
    """A server on this machine that takes connections and says nothing."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._held: list[socket.socket] = []
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def asked(self) -> list[str]:
        """The first line of every request."""
        return [one.recv(4096, socket.MSG_DONTWAIT).decode("latin-1").split("\r\n")[0] for one in self._held]

    def _run(self) -> None:
        while True:
            try:
                self._held.append(self._listening.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(10)
        for one in self._held:
            one.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    made = Silent()
    yield made
    made.close()


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
