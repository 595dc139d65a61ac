"""What a release is made of: other packagers' files agree with ours."""

import re
import tomllib
from pathlib import Path

import yaml

import regard

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = {"torch": "pytorch"}  # other names
DOCKER = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
STEPS = re.split(r"\n(?=[A-Z]+ )", "\n".join(DOCKER))


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == recipe()["context"]["version"] == regard.__version__
    assert citation["license"] == PROJECT["license"] and citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= set(citation)


def test_the_changelog_begins_with_this_version_in_a_sentence_and_three_parts():
    """A part for what is not released may stand before it."""
    parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    names = [part.split("\n", 1)[0] for part in parts]
    newest = parts[1] if names[0] == "Unreleased" else parts[0]
    title, sentence, *_ = (line for line in newest.splitlines() if line)
    assert title == regard.__version__ and not sentence.startswith(("#", "-"))
    assert re.findall(r"^### (.+)$", newest, flags=re.MULTILINE) == ["Added", "Changed", "Fixed"]
    assert names[-1] == "0.1.0" and len(set(names)) == len(names)


def recipe():
    return yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())


def test_the_conda_recipe_asks_for_what_the_project_asks_for():
    asked = [re.match(r"([a-z0-9-]+)(.*)", line).groups() for line in PROJECT["dependencies"]]
    wanted = [f"{CONDA.get(name, name)} {versions}" for name, versions in asked]
    assert recipe()["requirements"]["run"] == [f"python {PROJECT['requires-python']}", *wanted]
    assert recipe()["build"]["python"]["entry_points"] == [f"regard = {PROJECT['scripts']['regard']}"]


def test_every_extra_is_documented():
    page = (ROOT / "docs" / "errors" / "extra-missing.md").read_text()
    for extra in set(PROJECT["optional-dependencies"]) - {"docs", "dev"}:
        assert f"`{extra}`" in page


# What hadolint, the usual linter, would ask of it.


def test_the_image_runs_as_somebody_without_rights():
    users = [step.split()[1] for step in STEPS if step.startswith("USER")]
    assert users == ["regard"]
    assert not any(step.startswith("RUN") for step in STEPS[STEPS.index("USER regard") :])


def test_images_have_a_version_and_nothing_is_cached_or_added_from_elsewhere():
    images = [step.split()[1] for step in STEPS if step.startswith("FROM")]
    assert images and all(re.fullmatch(r"[a-z]+:\d[\w.-]+", image) for image in images)
    assert not any(step.startswith(("ADD", "MAINTAINER")) or "sudo" in step or "latest" in step for step in STEPS)
    assert all("--no-cache-dir" in step for step in STEPS if "pip install" in step)
    assert all("-c constraints.txt" in step for step in STEPS if "pip install" in step)


def test_folders_are_absolute_and_commands_are_lists():
    assert all(step.split()[1].startswith("/") for step in STEPS if step.startswith("WORKDIR"))
    assert all("[" in step for step in STEPS if step.startswith(("CMD", "ENTRYPOINT", "HEALTHCHECK")))


def test_all_that_is_copied_is_there_and_let_through():
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for step in STEPS if step.startswith("COPY") and "--from" not in step for name in step.split()[1:-1]}
    assert copied == allowed and all((ROOT / name).exists() for name in copied)


def test_the_command_of_the_image_is_one_that_regard_has():
    from typer.main import get_command

    from regard.cli import app

    (step,) = [step for step in STEPS if step.startswith("CMD")]
    name, *options = re.findall(r'"([^"]+)"', step)
    known = {one for parameter in get_command(app).commands[name].params for one in parameter.opts}
    assert {one for one in options if one.startswith("--")} <= known
