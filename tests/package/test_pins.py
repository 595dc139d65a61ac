"""Versions: all that is installed is pinned, and nothing with a known weakness is allowed."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The first version without the weaknesses known of it.
SAFE = {
    "h11": "0.16",
    "pillow": "12.3",
    "protobuf": "6.33.5",
    "pyarrow": "23.0.1",
    "ray": "2.55",
    "sentencepiece": "0.2.1",
    "starlette": "1.0.1",
    "torch": "2.10",
}


def asked():
    """What the project and its extras ask for."""
    extras = PROJECT["optional-dependencies"].values()
    return [Requirement(line) for line in (*PROJECT["dependencies"], *(line for extra in extras for line in extra))]


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(re.match(r"([^=]+)==(.+)", line).groups() for line in lines if line and not line.startswith("#"))


def installed():
    """Everything that comes with what is asked for, by name."""
    found, open_ = {}, [(one, extra) for one in asked() for extra in ("", *one.extras)]
    while open_:
        one, extra = open_.pop()
        name = canonicalize_name(one.name)
        try:
            there = distribution(name)
        except PackageNotFoundError:  # of another platform or an extra nobody asked for
            continue
        if (name, extra) in found:
            continue
        found[name, extra] = there.version
        for line in there.requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                open_ += [(needed, more) for more in ("", *needed.extras)]
    return {name: version.split("+")[0] for (name, _), version in found.items()}


def test_every_package_that_is_installed_is_pinned():
    known = {canonicalize_name(name): version for name, version in pins().items()}
    assert set(installed()) - set(known) == set()


def test_the_pins_are_for_any_machine():
    odd = [name for name, version in pins().items() if re.match("nvidia|cuda|triton|regard$", name) or "+" in version]
    assert not odd and pins()["torch"] == "2.13.0"


def test_what_is_asked_for_can_be_had_with_the_pins():
    known = {canonicalize_name(name): version for name, version in pins().items()}
    for one in asked():
        assert one.specifier.contains(known[canonicalize_name(one.name)]), one


@pytest.mark.parametrize("name", SAFE)
def test_no_version_with_a_known_weakness_is_allowed(name):
    (one,) = {str(one.specifier) for one in asked() if one.name == name}
    assert Version(one.removeprefix(">=")) >= Version(SAFE[name])
