"""The source distribution: everything that the project is built, tested and documented from."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WANTED = """LICENSE Makefile README.md SECURITY.md constraints.txt mkdocs.yml pyproject.toml docs/index.md
frontend/build.mjs frontend/package.json frontend/package-lock.json frontend/src/index.ts
frontend/src/frame/style.css frontend/src/views/atlas/atlas.css
frontend/src/app/index.tsx frontend/test/wire.test.ts src/regard/static/regard.js tests/conftest.py
src/regard/transformer/embedded/ATTRIBUTION.md""".split()


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (made,) = folder.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames()}


def test_the_front_ends_source_is_in_it(names):
    assert set(WANTED) <= names


def test_what_others_wrote_or_tools_made_is_not(names):
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name or ".venv" in name]
