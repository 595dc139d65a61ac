"""Studies that the page may start, and what it asks of them, checked on arrival.

Enters: the body of a request. Leaves: a study with its text and options, or a refusal in one sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from regard.app.fields import Fields
from regard.app.problems import Problem, bad, large
from regard.app.questions import model_of
from regard.app.settings import Limits
from regard.studies.entry import ALIGNED, MENTIONS, Registered
from regard.studies.registry import STUDIES
from regard.trace.sentences import refusal

_STEM = re.compile(r"[^\w-]+")
_NAME = 200  # characters of a file's name
_PASTED = "pasted-text"
_ENDINGS = (".tsv", ".csv", ".jsonl", ".conllu")  # of texts; anything else is plain text
_WORD = re.compile(r"^\d+\t([^\t]*\t){8}[^\t\n]*$", re.MULTILINE)  # of CoNLL-U: ten columns
_CONLL, _GAP = "#begin document", "ID\tText\tPronoun\t"


@dataclass(frozen=True)
class AskedStudy:
    """A study to run: of which model, over which text, under which file name, and how."""

    study: Registered
    model: str | None
    text: str
    file: str  # a name of letters, digits, '-' and '_', and an ending that says the format
    options: dict[str, Any]


def offered() -> list[dict[str, Any]]:
    """The studies with a question for the page: in both languages, whether they can be controlled, what they read.

    They take one model and one text. Utterances name files, and those of the server are nobody's to read.
    """
    return [
        {
            "name": study.name,
            "help": study.help,
            "asks": list(study.asks),
            "control": "control" in study.shared,
            "reads": _reads(study),
        }
        for study in STUDIES.values()
        if study.asks is not None and not study.models and study.corpora is not ALIGNED
    ]


def asked_of(fields: Fields, limits: Limits) -> AskedStudy:
    """The study that a request asks for; `limits` bound its text and its examples."""
    study = _study(fields.text("study", 40))
    text = fields.get("text", str)
    if text is None or not text.strip():
        raise Problem(422, "input", refusal("study_empty"))
    if len(text) > limits.corpus:
        raise large(refusal("study_text", count=f"{len(text):,}", most=f"{limits.corpus:,}"))
    fields.text("text", limits.corpus)  # whole characters
    examples = fields.get("limit", int) or limits.examples
    if not 1 <= examples <= limits.examples:
        raise large(refusal("study_examples", most=f"{limits.examples:,}"))
    options: dict[str, Any] = {"limit": examples}
    control = fields.get("control", bool)
    if control is not None and "control" in study.shared:
        options["control"] = control
    name = fields.text("file", _NAME) or ""
    stem = _STEM.sub("-", PurePosixPath(name).stem).strip("-")[:60] or _PASTED
    return AskedStudy(study, model_of(fields, "model"), text, stem + _ending(study, text, name), options)


def _study(name: str | None) -> Registered:
    names = [one["name"] for one in offered()]
    if name is None or name not in names:
        raise bad(f"study must be one of {', '.join(names)}")
    return STUDIES[name]


def _reads(study: Registered) -> str:
    """What a study reads: any text, a treebank or coreference."""
    if study.corpora is MENTIONS:
        return "mentions"
    return "trees" if study.corpora.name.startswith("treebank") else "text"


def _ending(study: Registered, text: str, name: str) -> str:
    """The ending that says how the corpus is read; a text without the annotations that a study needs is refused."""
    reads = _reads(study)
    if reads == "trees":
        if _WORD.search(text):
            return ".conllu"
        raise Problem(422, "input", refusal("study_trees", study=study.name))
    if reads == "mentions":
        if text.lstrip().startswith(_CONLL):
            return ".conll"
        if text.startswith(_GAP):
            return ".tsv"
        raise Problem(422, "input", refusal("study_mentions", study=study.name))
    ending = PurePosixPath(name).suffix.lower()
    return ending if ending in _ENDINGS else ".txt"
