"""`regard serve` as a process: it says where it is, stops when told, and a killed one takes no study with it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx

from tests.processes import Forked, command_line, spawned, warm_python

from .conftest import started
from .entering import entered, origin_of, token_of


def digest(folder: Path) -> dict[str, str]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_killed_in_the_middle_of_a_request_it_loses_no_study_and_starts_again(long_llama, tmp_path):
    study = tmp_path / "studies" / "atlas"
    study.mkdir(parents=True)
    (study / "report.html").write_text("report")
    (study / "meta.json").write_text(json.dumps({"study": "atlas", "tally": {"inputs": 3}}))
    before = digest(tmp_path / "studies")
    options = ("--model", str(long_llama), "--studies", str(tmp_path / "studies"))
    with started(*options) as (address, process), entered(address) as client:
        assert client.post("/api/traces", json={"text": "the cat"}).status_code == 200
        listed = client.get("/api/studies").json()
        failed = []

        def ask() -> None:
            try:
                client.post("/api/traces", json={"text": "a" * 4096})
            except httpx.HTTPError as error:
                failed.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
        asking.join(20)
        assert failed, "the request was over before the server was killed"
    assert digest(tmp_path / "studies") == before
    with started(*options) as (address, process), entered(address) as client:
        assert client.get("/api/studies").json() == listed
        assert client.get("/studies/atlas/report.html").text == "report"
        process.send_signal(signal.SIGTERM)
        process.wait(20)  # told to stop while it may still be loading


def test_plain_regard_opens_the_browser_and_stops_at_ctrl_c(tmp_path):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser)}
    command = [*warm_python(), "-m", "regard"]
    with spawned(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            end = time.monotonic() + 20
            while not (opened.exists() and opened.read_text()) and time.monotonic() < end:
                time.sleep(0.05)
            address = opened.read_text()
            assert origin_of(address) in said
            assert token_of(address) not in said  # others see what a browser is started with: it is good for one time
            with entered(address) as client:
                assert client.get("/api/state").status_code == 200
            assert httpx.get(address).status_code == 401
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        finally:
            process.kill()


def test_the_address_that_is_printed_lets_in_and_nothing_else_does():
    with started() as (address, _):
        assert httpx.get(f"{origin_of(address)}/api/state").status_code == 401
        assert len(token_of(address)) >= 32
        with entered(address) as client:
            assert client.get("/api/state").status_code == 200


def test_without_a_token_everybody_is_let_in():
    with started("--no-token") as (address, _):
        assert token_of(address) == "" and httpx.get(f"{address}api/state").status_code == 200


def test_a_taken_port_is_one_sentence():
    from regard.app.run import listen

    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        done = Forked(command_line, "serve", "--no-browser", "--port", port)
        _, said = done.communicate(timeout=240)
    assert done.returncode == 2 and f"port {port} is taken" in said and "Traceback" not in said
