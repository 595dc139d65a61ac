"""The committed bundle is what the front end's source builds."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.conftest import need

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "regard" / "static"


def test_the_bundle_is_fresh(tmp_path):
    there = shutil.which("node") is not None and (FRONTEND / "node_modules").is_dir()
    need(there, "needs Node and the front end's packages (make test installs them)")
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=FRONTEND, check=True, timeout=120)
    built = sorted(path.name for path in tmp_path.iterdir())
    assert built == ["app.css", "app.js", "regard.css", "regard.js"]
    for name in built:
        same = (tmp_path / name).read_bytes() == (STATIC / name).read_bytes()
        assert same, f"src/regard/static/{name} is stale: run npm run build in frontend/"


def test_no_machine_address_is_in_the_lock_file():
    assert '"resolved"' not in (FRONTEND / "package-lock.json").read_text()
