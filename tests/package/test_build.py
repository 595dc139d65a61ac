"""Wheel and source distribution: built twice alike, whole, and an empty environment that installs them can use them."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# Several command lines in one process: to import torch takes longer than they do.
SEVERAL = """
import json, sys
from regard.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["regard", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
    print(chr(0), flush=True)
import regard
print(regard.__file__)
"""


# What pip does to build, with whatever backend it is told of.
BUILD = """
import importlib, sys
backend = importlib.import_module(sys.argv[1])
assert backend.get_requires_for_build_wheel() == backend.get_requires_for_build_sdist() == []
backend.build_sdist(sys.argv[2])
backend.build_wheel(sys.argv[2])
"""
SOURCES = """LICENSE Makefile README.md SECURITY.md constraints.txt mkdocs.yml pyproject.toml docs/index.md
frontend/build.mjs frontend/package.json frontend/package-lock.json frontend/src/index.ts
frontend/src/frame/style.css frontend/src/views/atlas/atlas.css
frontend/src/app/index.tsx frontend/test/wire.test.ts src/regard/static/regard.js tests/conftest.py
src/regard/transformer/embedded/ATTRIBUTION.md""".split()
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def run(*command, **options):
    made = subprocess.run(command, capture_output=True, text=True, timeout=900, env=CLEAN, **options)
    assert made.returncode == 0, made.stderr[-2000:]
    return made.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel and a source distribution, built where nothing is installed but what `build-system` asks for."""
    folder, place = (tmp_path_factory.mktemp(name) for name in ("built", "backend"))
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    wanted = [Requirement(line) for line in asked["requires"]]
    assert all(distribution(one.name).version in one.specifier for one in wanted)
    python = environment(place / "venv", {(canonicalize_name(one.name), "") for one in wanted})
    run(str(python), "-c", BUILD, asked["build-backend"], str(folder), cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (made,) = built.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def names(built):
    """The files of the source distribution."""
    (made,) = built.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames()}


def test_twine_finds_nothing_wrong(built):
    files = [str(path) for path in built.iterdir()]
    assert sorted(Path(name).suffix for name in files) == [".gz", ".whl"]
    assert run(sys.executable, "-m", "twine", "check", "--strict", *files).count("PASSED") == 2


def test_the_same_source_gives_the_same_bytes(built, tmp_path):
    """Also with `python -m build`, which makes the wheel from the source distribution: nothing is missing there."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    one, other = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (built, tmp_path))
    assert one == other


def test_the_front_ends_source_is_in_it(names):
    assert set(SOURCES) <= names


def test_what_others_wrote_or_tools_made_is_not(names):
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name or ".venv" in name]


def test_the_wheel_has_the_bundle_and_the_translator_and_no_tests(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "regard/static/regard.js",
        "regard/static/app.js",
        "regard/static/views.json",
        "regard/transformer/embedded/translator.safetensors",
    }
    wanted |= {"regard/transformer/embedded/ATTRIBUTION.md"}
    assert wanted <= names
    assert {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")} == {"regard"}
    assert wheel.stat().st_size < 15e6


def asked_by(one, extra):
    """The names and extras that a distribution asks for."""
    lines = [Requirement(line) for line in one.requires or ()]
    asked = [line for line in lines if line.marker is None or line.marker.evaluate({"extra": extra})]
    return {(canonicalize_name(line.name), its) for line in asked for its in ("", *line.extras)}


def needed(wheel, extra):
    """What a wheel asks for."""
    (record,) = (path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info"))
    return asked_by(PathDistribution(record), "") | asked_by(PathDistribution(record), extra)


def environment(folder, asked):
    """The Python of a new environment with some distributions, all that they need, and nothing else."""
    venv.create(folder)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    found, rest = set(), asked
    while rest:
        found |= rest
        rest = {more for name, its in rest for more in asked_by(distribution(name), its)} - found
    for name in {name for name, _ in found}:
        lend(distribution(name), packages)
    return folder / "bin" / "python"


def lend(one, folder):
    """Put a distribution's files into an environment as links, with what Python has compiled of them."""
    for file in one.files or ():
        there, place = Path(file.locate()), folder / file
        if ".." in file.parts or place.parent.name == "__pycache__":
            continue
        if not place.parent.exists():
            place.parent.mkdir(parents=True)
            if (there.parent / "__pycache__").is_dir() and there.parent.name != "site-packages":
                (place.parent / "__pycache__").symlink_to(there.parent / "__pycache__")
        place.symlink_to(there)


@pytest.mark.timeout(1200)
def test_an_empty_environment_that_installs_the_wheel_can_use_it(wheel, tmp_path):
    python = environment(tmp_path / "venv", needed(wheel, "demo"))
    # What the wheel asks for is there already, or this fails: there is no index.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--no-compile", "--no-index", "-c", str(ROOT / "constraints.txt"), f"{wheel}[demo]")
    inside = {"cwd": tmp_path}
    assert run(str(python.with_name("regard")), "--version", **inside).startswith("regard ")
    view = ["view", "The cat sat on the mat.", "-o", "page.html"]
    several = json.dumps([["doctor", "--json"], view, ["walk", "Hello!", "-o", "walk.html"]])
    doctor, _, walk, place = run(str(python), "-c", SEVERAL, several, **inside).split("\0")
    found = json.loads(doctor)
    assert found["capture"] == "works" and {"all-MiniLM-L6-v2", "translator"} <= set(found["models"])
    assert "regard" in (tmp_path / "page.html").read_text("utf-8")[:2000]
    assert "Hola" in walk
    assert str(tmp_path) in place
