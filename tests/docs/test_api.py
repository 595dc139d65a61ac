"""Nothing public is undocumented: the reference names it, and it says what it is."""

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import regard
from regard.trace import showing
from regard.views.figures import figure
from regard.views.html import save_html
from regard.views.wire import encode

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md").read_text("utf-8")
CLASSES = (regard.Model, regard.Trace, regard.Site, regard.Token, regard.Segment, regard.Side)


def shown():
    """Names on the page -> the members that it picks, None where it shows all."""
    blocks = re.findall(r"^::: (\S+)\n((?:    .*\n)*)", PAGE, flags=re.MULTILINE)
    found = {}
    for name, options in blocks:
        picked = re.search(r"members: \[(.*)\]", options)
        found[name] = None if picked is None else picked[1].split(", ")
    return found


def public(of):
    return [name for name in dir(of) if not name.startswith("_")]


def test_every_public_name_is_on_the_page():
    assert [name for name in regard.__all__ if f"regard.{name}" not in shown()] == []
    assert [name for name in regard.study.STUDIES if not inspect.getdoc(getattr(regard.study, name))] == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_public_attribute_is_shown_and_says_what_it_is(kind):
    assert shown()[f"regard.{kind.__name__}"] is None  # all members
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    silent = [name for name in public(kind) if name not in fields and not inspect.getdoc(getattr(kind, name))]
    assert silent == []
    assert [name for name in fields if not re.search(rf"\b{name}\b", kind.__doc__)] == []


def test_a_model_has_the_names_that_people_would_guess_and_few_others():
    methods = {"trace", "trace_inputs", "ablate", "effect", "cut", "cutting", "why", "writes", "lens", "prune", "walk"}
    methods |= {"layout", "head_means", "evidence"}
    facts = {"name", "module", "tokenizer", "config", "device", "parameters", "limit", "facts"}
    assert set(public(regard.Model)) == methods | facts | {"can_generate", "is_encoder_decoder"}


def names_of(function):
    kept = inspect.signature(function).parameters.values()
    return {one.name for one in kept if one.kind is one.KEYWORD_ONLY}


def test_options_of_views_are_those_that_are_taken():
    assert set(showing.FigureOptions.__annotations__) == names_of(figure)
    taken = names_of(save_html) | set(showing.Shown.__annotations__)
    assert showing.PageOptions.__required_keys__ | showing.PageOptions.__optional_keys__ == taken
    written = {"view", "weights", "pictures", "packed", "study"}  # by what writes pages and reports
    assert showing.ViewOptions.__optional_keys__ | written == names_of(encode)


def test_options_have_the_types_that_are_taken():
    taken = inspect.signature(figure).parameters
    given = {name: kind.__forward_arg__ for name, kind in showing.FigureOptions.__annotations__.items()}
    assert given == {name: taken[name].annotation for name in given}
