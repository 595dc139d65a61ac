"""Every study is registered once, has one shape, and its command has the options it takes and no others."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import regard
from regard.app.asking import offered
from regard.cli import app
from regard.commands import study as commands
from regard.corpus.engine import Run
from regard.corpus.readers.source import Source
from regard.studies.base import MapStudy, Pass, Study
from regard.studies.entry import ALIGNED
from regard.studies.registry import STUDIES
from regard.studies.run import run_study

FOLDER = Path(regard.__file__).parent / "studies"
OWN = "find"  # is asked with a command of its own, and returns heads rather than a folder
FILM = "film"  # is no study of a corpus: what the same probes give while a model is trained
NAMES = sorted({path.parent.name for path in FOLDER.glob("*/study.py")} - {OWN})
COMMANDS = typer.main.get_command(commands.app).commands


def class_of(name):
    module = import_module(f"regard.studies.{name}.study")
    (found,) = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Study) and value.__module__ == module.__name__
    ]
    return found


def test_every_folder_is_registered_and_every_study_is_a_function_and_a_command():
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} == {*NAMES, OWN, FILM}
    assert sorted(STUDIES) == sorted(regard.study.__all__) == sorted(COMMANDS) == NAMES
    assert all(getattr(regard.study, name) is STUDIES[name].run for name in NAMES)
    assert all(STUDIES[name].help.endswith(".") and COMMANDS[name].help == STUDIES[name].help for name in NAMES)


def test_every_study_of_one_model_and_texts_is_offered_by_the_app_as_a_question_in_both_languages():
    one_text = [name for name in STUDIES if not STUDIES[name].models and STUDIES[name].corpora is not ALIGNED]
    asks = {study["name"]: study["asks"] for study in offered()}
    assert list(asks) == one_text == [name for name in STUDIES if STUDIES[name].asks is not None]
    for name, (english, chinese) in asks.items():
        assert english.isascii() or "“" in english, name
        assert re.search("[\u4e00-\u9fff]", chinese) and not re.search("[,?.] ?$", chinese), name


@pytest.mark.parametrize("name", [*NAMES, OWN])
def test_a_study_updates_and_reports(name):
    study = class_of(name)
    assert study.name == name and not inspect.isabstract(study)
    assert issubclass(study, MapStudy) == hasattr(study, "taker")


@pytest.mark.parametrize("name", [name for name in NAMES if "control" in STUDIES[name].options])
def test_a_study_that_offers_controls_reports_them(name):
    """Controls take five times as long as the study: a report that does not read them has thrown them away."""
    read = [
        node
        for path in sorted((FOLDER / name).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "controls" and isinstance(node.value, ast.Name)
    ]
    assert read, f"no module of studies/{name} reads context.controls"


def test_no_study_overrides_a_method_only_to_refuse_it():
    def refuses(method):
        tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
        body = [node for node in tree.body[0].body if not isinstance(node, ast.Expr)]
        return len(body) == 1 and isinstance(body[0], ast.Raise)

    def below(kind):
        return {kind}.union(*(below(one) for one in kind.__subclasses__()))

    for name in (*NAMES, OWN):
        class_of(name)
    for kind in below(Pass):
        methods = [value for value in vars(kind).values() if inspect.isfunction(value)]
        assert not [method for method in methods if refuses(method)], kind


@pytest.mark.parametrize("name", NAMES)
def test_a_command_has_the_options_of_its_study_and_no_others(name):
    typed = {word for option in COMMANDS[name].params if option.param_type_name == "option" for word in option.opts}
    study = STUDIES[name]
    mine = {one.flag.name or f"--{option.replace('_', '-')}" for option, one in study.options.items()}
    loading = {"--device", "--allow-pickle", "--trust-remote-code", "--offline"}
    assert typed == mine | loading | {"--json", "-o"} | ({"--model", "-m"} if not study.models else set())


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("probe", "engine"),
        ("probe", "control_seeds"),
        ("probe", "long"),
        ("syntax", "long"),
        ("syntax", "unit"),
        ("coref", "pair"),
        ("ablation", "control"),
        ("atlas", "least"),
    ],
)
def test_an_option_a_study_cannot_use_is_refused_by_parser_and_function(name, option):
    typed = f"--{option.replace('_', '-')}"
    said = CliRunner().invoke(app, ["study", name, "corpus", typed])
    assert said.exit_code == 2 and f"No such option: {typed}" in said.stderr
    with pytest.raises(TypeError, match=f"^{name} takes no {option}; it takes .*output"):
        STUDIES[name].run("model", "corpus", **{option: 1})


def test_the_command_line_has_the_defaults_of_python():
    """What a flag says is the default is that of the corpus, the run or the study."""
    known = {field.name: field.default for kind in (Source, Run) for field in fields(kind)}
    parameters = inspect.signature(run_study).parameters.values()
    known |= {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    engine = import_module("regard.corpus.ray").RayEngine
    known |= {name: one.default for name, one in inspect.signature(engine).parameters.items()}
    flags = {name: one.default for name, one in STUDIES["atlas"].options.items()}
    assert {name: known[name] for name in flags} == flags


def test_the_registry_does_not_import_torch():
    code = "import sys, regard; regard.study; import regard.cli; assert not {'torch', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
