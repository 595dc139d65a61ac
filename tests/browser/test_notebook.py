"""The views in a running JupyterLab: first run of a cell, after save and reload, two views in one notebook."""

import json
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

pytestmark = pytest.mark.browser

CELLS = [
    """import numpy as np
from regard import Trace
rng = np.random.default_rng(0)
maps = rng.dirichlet(np.ones(6), (3, 4, 6)).astype("float32")
trace = Trace.from_maps(maps, ["[CLS]", "the", "cat", "sat", ".", "[SEP]"])
one = trace.view("heads", layer=1)
one""",
    "two = trace.view('atlas')\ntwo",
    "one.select(layer=2, heads=[3])",
    "print('layer', one.selection['layer'], 'heads', one.selection['heads'])",
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab of its own on loopback."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "source": code, "outputs": [], "execution_count": None, "id": f"c{i}"}
            for i, code in enumerate(CELLS)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "tour.ipynb").write_text(json.dumps(notebook))
    port = free_port()
    args = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
    ]
    args += [
        "--ServerApp.ip=127.0.0.1",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *args],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**__import__("os").environ, "JUPYTER_CONFIG_DIR": str(folder / "config")},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=1).read()
                break
            except OSError:
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def opened(page, address):
    page.goto(f"{address}/lab/tree/tour.ipynb?reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_function("() => !document.querySelector('#jupyterlab-splash')")


def run_all(page):
    page.click("text=Run >> nth=0")
    page.click("text=Run All Cells >> nth=0")


def views(page):
    return page.locator(".jp-OutputArea-output canvas")


def layer_printed(page):
    return page.locator(".jp-OutputArea-output pre", has_text="layer").last.inner_text()


def test_views_appear_at_once_answer_to_python_and_survive_a_reload(lab, new_page):
    page = new_page()
    opened(page, lab)
    run_all(page)
    page.wait_for_function(
        "() => document.querySelectorAll('.jp-OutputArea-output canvas').length >= 2", timeout=60_000
    )
    page.wait_for_function("() => [...document.querySelectorAll('pre')].some(p => p.textContent.includes('layer 2'))")
    assert "layer 2 heads [3]" in layer_printed(page)

    # a choice in the view reaches Python
    first = page.locator(".jp-OutputArea-output", has=page.locator("canvas")).first
    first.locator("select").first.select_option("0")
    page.locator(".jp-CodeCell").nth(3).click()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => [...document.querySelectorAll('pre')].some(p => p.textContent.includes('layer 0'))")

    page.keyboard.press("Control+s")
    page.wait_for_timeout(1500)
    page.reload()
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_function(
        "() => document.querySelectorAll('.jp-OutputArea-output canvas').length >= 2", timeout=60_000
    )
