"""The views in a running JupyterLab: first run of a cell, after save and reload, two views in one notebook."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec

import pytest
from test_heads import until
from tests.conftest import need
from tests.planted import pictured, spoken
from tests.processes import spawned

CELLS = [
    """import numpy as np
from regard import Trace
rng = np.random.default_rng(0)
maps = rng.dirichlet(np.ones(6), (3, 4, 6)).astype("float32")
trace = Trace.from_maps(maps, ["[CLS]", "the", "cat", "sat", ".", "[SEP]"])
one = trace.view("heads", layer=1)
print('at first', one.selection['layer'], one.selection['heads'])
one""",
    "two = trace.view('atlas', layer=0, heads=[1])\ntwo",
    "one.select(layer=2, heads=[3])",
    "print('layer', one.selection['layer'], 'heads', one.selection['heads'], two.selection['view'])",
]
SHOWN = [CELLS[0].split("one =")[0] + "trace", "Trace.load('picture.safetensors')", "Trace.load('sound.safetensors')"]
END_KERNELS = """async () => {
    const token = document.cookie.match(/_xsrf=([^;]+)/)[1];
    for (const kernel of await (await fetch('/api/kernels')).json())
        await fetch(`/api/kernels/${kernel.id}`, { method: 'DELETE', headers: { 'X-XSRFToken': token } });
}"""
VIEW = ".jp-OutputArea-output .regard[data-theme]"
CONFIG = {
    # Otherwise a new JupyterLab asks in a box over the notebook whether it may fetch news.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def notebook(codes):
    cells = [
        {"cell_type": "code", "metadata": {}, "source": code, "outputs": [], "execution_count": None, "id": f"c{i}"}
        for i, code in enumerate(codes)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab of its own on loopback, with its settings in a folder of the test."""
    need(find_spec("jupyterlab") is not None, "needs JupyterLab (make test installs it)")
    folder = tmp_path_factory.mktemp("lab")
    (folder / "tour.ipynb").write_text(json.dumps(notebook(CELLS)))
    (folder / "shown.ipynb").write_text(json.dumps(notebook(SHOWN)))
    pictured().save(folder / "picture.safetensors")
    spoken().save(folder / "sound.safetensors")
    settings = folder / "settings"
    for name, values in CONFIG.items():
        package, plugin = name.split(":")
        path = settings / package / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values))
    port = free_port()
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=",
        "--ServerApp.ip=127.0.0.1",
    ]
    options += [f"--ServerApp.root_dir={folder}", f"--LabApp.user_settings_dir={settings}"]
    options += [f"--LabApp.workspaces_dir={folder / 'workspaces'}"]
    with (folder / "log").open("wb") as log:
        process = spawned(
            [sys.executable, "-m", "jupyterlab", *options],
            stdout=log,
            stderr=log,
            env={**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data")},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api", process, folder / "log")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(address, process, log, seconds=240):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return urllib.request.urlopen(address, timeout=1).read()
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)


@pytest.fixture
def page(browser):
    """A page that may load from the loopback address only; afterwards, no error of ours in the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, locale="en-US")
    page = context.new_page()
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda r: troubles.append(r.url) if "127.0.0.1" not in r.url and "http" in r.url[:5] else None)
    yield page
    context.close()
    assert troubles == []


def drawn(page, count):
    until(page, f"document.querySelectorAll('{VIEW} canvas').length >= 2", seconds=240)
    until(page, f"document.querySelectorAll('{VIEW}').length === {count}", seconds=240)


def printed(page, text):
    has = "text => [...document.querySelectorAll('.jp-OutputArea-output pre')].some(p => p.textContent.includes(text))"
    until(page, has, arg=text, seconds=240)


def to_last_cell(page):
    page.locator(".jp-CodeCell", has_text="two.selection").locator(".jp-InputPrompt").click()


def run_last_cell(page):
    to_last_cell(page)
    page.keyboard.press("Control+Enter")


def layer_of(page, view):
    return page.locator(VIEW).nth(view).locator("[data-control=layer]").input_value()


def run_all(lab, page, name):
    page.goto(f"{lab}/lab/workspaces/{name}/tree/{name}.ipynb")  # of its own: no other notebook is open
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=240_000)
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.wait_for_selector("text=(ipykernel) | Idle", timeout=240_000)  # before, running a cell asks for a kernel
    page.click("text=Run >> nth=0")
    page.click("text=Run All Cells >> nth=0")


def save(page):
    page.keyboard.press("Control+s")
    until(page, "!document.querySelector('.jp-mod-dirty')")


def test_views_appear_at_once_answer_to_python_and_survive_a_reload(lab, page):
    run_all(lab, page, "tour")
    drawn(page, 2)
    printed(page, "at first 1 [0, 1, 2, 3]")  # what Python knows before any view is drawn
    printed(page, "layer 2 heads [3] atlas")
    for _ in range(50):  # the message to the page may come a moment after what is printed
        if layer_of(page, 0) == "2":
            break
        page.wait_for_timeout(200)
    assert layer_of(page, 0) == "2"  # what Python chose is shown

    # A choice in the view reaches Python.
    page.locator(VIEW).first.locator("[data-control=layer]").select_option("0")
    run_last_cell(page)
    printed(page, "layer 0 heads [3] atlas")

    # Keys belong to the view while it has the focus, and to the notebook otherwise.
    page.locator(VIEW).first.locator("main").click(position={"x": 5, "y": 5})
    page.keyboard.press("ArrowDown")
    assert layer_of(page, 0) == "1"
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == len(CELLS)  # the notebook's key that deletes a cell
    to_last_cell(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert layer_of(page, 0) == "1"
    run_last_cell(page)
    printed(page, "layer 1 heads [3] atlas")

    box = page.locator(VIEW).first.bounding_box()
    cell = page.locator(".jp-OutputArea-output", has=page.locator(".regard")).first.bounding_box()
    assert box["width"] <= cell["width"]
    assert 400 < box["height"] <= 560

    save(page)
    page.reload()
    drawn(page, 2)
    assert layer_of(page, 0) == "1"  # what was chosen is still chosen


def test_traces_of_texts_pictures_and_sounds_show_themselves_and_leave_pictures_for_when_the_kernel_is_gone(lab, page):
    run_all(lab, page, "shown")
    drawn(page, 3)
    page.locator(f"{VIEW} .overlay .patches").first.wait_for()
    page.locator(f"{VIEW} [data-word='1']").hover()
    page.locator(f"{VIEW} [data-word='1'].lit").wait_for()
    assert "layer 1 listens most at 0.45 s (mean of its 2 heads)" in page.locator(f"{VIEW} [data-told]").inner_text()
    stills = page.locator(".regard-still img")
    stills.nth(2).wait_for(state="attached", timeout=240_000)
    assert not any(still.is_visible() for still in stills.all())  # the views stand for them
    save(page)
    page.evaluate(END_KERNELS)
    page.goto(f"{lab}/lab/workspaces/again/tree/shown.ipynb")
    stills.nth(2).wait_for(state="attached", timeout=240_000)
    for still in stills.all():
        still.scroll_into_view_if_needed()
        still.wait_for(state="visible")
        assert still.bounding_box()["width"] > 100
    assert stills.last.get_attribute("alt") == "when a sound is listened to"
