"""Rules that the page asks for: which heads follow one, on a text or over a study's corpus, and those that are saved.

Enters: a rule and a kept trace, or the folder of a study. Leaves: records.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.app.fields import Fields
from regard.app.plain import finite
from regard.app.problems import Problem, missing
from regard.app.settings import Limits
from regard.app.shelf import KeptTrace
from regard.app.studies import META, inside, meta_of
from regard.app.worker import Job
from regard.base.errors import UserError
from regard.patterns.following import follow
from regard.patterns.rules import LONGEST, parse_rule
from regard.patterns.saved import add_rule, remove_rule, rules_file, saved_rules
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from regard.models.model import Model

_NAME = 200  # characters of a name that are read at all
_SHOWN = 20  # heads of a corpus in an answer


def rule_of(fields: Fields) -> str:
    """The rule in a request."""
    return fields.text("rule", LONGEST) or ""


def saved() -> dict[str, Any]:
    """The saved rules, and where they are."""
    return {"file": rules_file().name, "rules": [rule.record for rule in saved_rules()]}


def save(fields: Fields) -> dict[str, Any]:
    """Save a rule under a name."""
    add_rule(fields.text("name", _NAME) or "", rule_of(fields))
    return saved()


def forget(name: str) -> dict[str, Any]:
    """Remove a saved rule."""
    try:
        remove_rule(name[:_NAME])
    except UserError as error:
        raise missing(str(error)) from None
    return saved()


def followed(job: Job, entry: KeptTrace, rule: str) -> dict[str, Any]:
    """Every head of a trace by how far it follows a rule."""
    return follow(entry.trace, parse_rule(rule), check=job.check).record


def study_of(folder: Path | None, name: str) -> tuple[Path, str]:
    """The folder of a study, which may be the served folder itself, and the name of its model."""
    own = folder is not None and name == folder.resolve().name and (folder / META).is_file()
    place = inside(folder, META if own else f"{name}/{META}").parent
    assert folder is not None  # or nothing would be inside
    model = meta_of(place, folder).get("model")
    if not isinstance(model, str) or not model:
        raise Problem(422, "input", refusal("study_model"))
    return place, model


def found(job: Job, model: Model, folder: Path, root: Path, rule: str, limits: Limits) -> dict[str, Any]:
    """Every head by how far it follows a rule over the corpus of a study, which must lie in the folder of studies."""
    from regard.printing.found import as_record
    from regard.studies.find.asking import NoTreesError, find_in, source_for

    parsed = parse_rule(rule)
    try:
        source, _ = source_for(parsed, folder, {"limit": limits.found}, near=(folder, folder.parent))
        if not all(Path(one.place).resolve().is_relative_to(root.resolve()) for one in source.each):
            raise UserError("its corpus is elsewhere")
    except NoTreesError:
        raise
    except UserError:
        command = shlex.join(["regard", "find", parsed.name, "CORPUS", "-m", model.name])
        raise Problem(422, "input", refusal("study_corpus", command=command)) from None
    with job.watching(model.module):
        result = find_in(parsed, source, model)
    return dict(finite(as_record(result, _SHOWN)))
