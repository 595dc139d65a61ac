"""The wheel: everything a user needs is in it, and an empty environment that installs it can use it."""

import json
import os
import subprocess
import sys
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


def run(*command, **options):
    made = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    assert made.returncode == 0, made.stderr[-2000:]
    return made.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]  # hatchling is here
    run(*pip, "--wheel-dir", str(folder), str(ROOT))
    (made,) = folder.glob("*.whl")
    return made


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
    """All distributions that a wheel needs, and no other that is installed here."""
    (record,) = (path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info"))
    own = PathDistribution(record)
    found, rest = set(), asked_by(own, "") | asked_by(own, extra)
    while rest:
        found |= rest
        rest = {more for name, its in rest for more in asked_by(distribution(name), its)} - found
    return [distribution(name) for name in {name for name, _ in found}]


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
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for one in needed(wheel, "demo"):
        lend(one, packages)
    # What the wheel asks for is there already, or this fails: there is no index.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--no-compile", "--no-index", "-c", str(ROOT / "constraints.txt"), f"{wheel}[demo]")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    inside = {"cwd": tmp_path, "env": clean}
    assert run(str(python.with_name("regard")), "--version", **inside).startswith("regard ")
    view = ["view", "The cat sat on the mat.", "-o", "page.html"]
    several = json.dumps([["doctor", "--json"], view, ["walk", "Hello!", "-o", "walk.html"]])
    doctor, _, walk, place = run(str(python), "-c", SEVERAL, several, **inside).split("\0")
    found = json.loads(doctor)
    assert found["capture"] == "works" and {"all-MiniLM-L6-v2", "translator"} <= set(found["models"])
    assert "regard" in (tmp_path / "page.html").read_text("utf-8")[:2000]
    assert "Hola" in walk
    assert str(tmp_path) in place
