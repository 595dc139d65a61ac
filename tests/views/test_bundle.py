"""The committed bundle is what the front end's source builds."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "regard" / "static"


@pytest.mark.skipif(
    shutil.which("node") is None or not (FRONTEND / "node_modules").is_dir(),
    reason="needs Node and the front end's packages (npm ci in frontend/)",
)
def test_the_bundle_is_fresh(tmp_path):
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=FRONTEND, check=True, timeout=120)
    built = sorted(path.name for path in tmp_path.iterdir())
    assert built == ["regard.css", "regard.js"]
    for name in built:
        same = (tmp_path / name).read_bytes() == (STATIC / name).read_bytes()
        assert same, f"src/regard/static/{name} is stale: run npm run build in frontend/"


def test_no_machine_address_is_in_the_lock_file():
    assert '"resolved"' not in (FRONTEND / "package-lock.json").read_text()
