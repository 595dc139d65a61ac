"""A trace in a running marimo: the views appear, and nothing but the machine itself is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from test_heads import until
from test_notebook import free_port, wait_for
from tests.conftest import need
from tests.processes import spawned

NOTEBOOK = """import marimo

app = marimo.App()


@app.cell
def _():
    import numpy as np
    from regard import Trace

    maps = np.random.default_rng(0).dirichlet(np.ones(6), (3, 4, 6)).astype("float32")
    trace = Trace.from_maps(maps, ["[CLS]", "the", "cat", "sat", ".", "[SEP]"])
    return (trace,)


@app.cell
def _(trace):
    trace
    return


@app.cell
def _(trace):
    trace.patterns()
    return
"""


@pytest.fixture(scope="module")
def marimo(tmp_path_factory):
    """marimo, serving one notebook on loopback."""
    need(find_spec("marimo") is not None, "needs marimo (make test installs it)")
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "tour.py").write_text(NOTEBOOK)
    port = free_port()
    options = ["run", "tour.py", "--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = spawned(
            [sys.executable, "-m", "marimo", "-y", *options],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "XDG_CONFIG_HOME": str(folder), "HOME": str(folder), "MARIMO_SKIP_UPDATE_CHECK": "1"},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health", process, folder / "log")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_a_trace_shows_its_views_and_patterns_their_report(marimo, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 1000}, locale="en-US")
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(marimo)
    inside = """(selector) => { const find = root => [...root.querySelectorAll('*')].some(one =>
        one.matches(selector) || (one.shadowRoot && find(one.shadowRoot))); return find(document) }"""
    until(page, inside, arg=".regard[data-theme] canvas", seconds=240)
    until(page, inside, arg="pre", seconds=60)
    assert faults == []
    page.close()
