"""The committed bundle is what the front end's source builds."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import need

from regard import Trace
from regard.views.html import page_of

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "regard" / "static"


@pytest.mark.slow
def test_the_bundle_is_fresh(tmp_path):
    there = shutil.which("node") is not None and (FRONTEND / "node_modules").is_dir()
    need(there, "needs Node and the front end's packages (make test installs them)")
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=FRONTEND, check=True, timeout=120)
    built = sorted(path.name for path in tmp_path.iterdir())
    pairs = [f"{name}.{kind}" for name in ("app", "film", "page", "regard") for kind in ("css", "js")]
    assert built == sorted([*pairs, "joint.js", "views.json"])
    for name in built:
        same = (tmp_path / name).read_bytes() == (STATIC / name).read_bytes()
        assert same, f"src/regard/static/{name} is stale: run npm run build in frontend/"


@pytest.mark.parametrize("name", ["regard.js", "page.js", "app.js", "film.js"])
def test_a_bundle_begins_with_the_licences_of_what_is_in_it(name):
    head = (STATIC / name).read_text("utf-8").split("*/")[0]
    assert head.startswith("/*! This file contains:")
    locked = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
    for package in ("preact", "@preact/signals", "d3-interpolate", "d3-scale"):
        assert f"{package} {locked[f'node_modules/{package}']['version']} (" in head
    assert "Copyright (c) 2015-present Jason Miller" in head and "Mike Bostock" in head


def test_a_saved_page_carries_the_licences():
    page = page_of(Trace.from_maps(np.full((1, 1, 2, 2), 0.5), ["a", "b"])).decode()
    assert "Copyright (c) 2015-present Jason Miller" in page and "Mike Bostock" in page


def test_no_machine_address_is_in_the_lock_file():
    assert '"resolved"' not in (FRONTEND / "package-lock.json").read_text()
