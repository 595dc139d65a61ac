"""How heads are found: a rule, and a corpus or the folder of a study.

Enters: names. Leaves: a `Result`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from regard.base.errors import MissingFileError, UserError, WrongTypeError
from regard.corpus.readers.lines import format_of
from regard.corpus.readers.reading import check
from regard.corpus.readers.source import Source
from regard.patterns.rules import parse_rule
from regard.studies.entry import Corpus, Named, loaded, run_over, texts
from regard.studies.find.study import Find
from regard.studies.options import FindOptions
from regard.studies.whence import remembered
from regard.trace.sentences import reason

if TYPE_CHECKING:
    from regard.patterns.rules import Rule
    from regard.studies.result import Result

LIMIT = 1_000  # inputs that are read unless asked for more
_META = "meta.json"


class NoTreesError(UserError):
    """A rule asks for parts of speech or relations, and the corpus is no treebank."""


def find(rule: str, corpus: Corpus, model: Named = None, **options: Unpack[FindOptions]) -> Result:
    """Heads that follow a rule, such as `offset = -1` or `query is PRON and key is NOUN`: every head, best first.

    Parameters
    ----------
    rule
        Which keys are meant for which query; docs/reference/rules.md has all terms.
    corpus
        A file of texts, or the folder of a study, whose corpus and model are used.
    model
        As in `regard.load`.
    **options
        `limit`, the first inputs to read (1,000 unless given); format, unit, text, pair, split, report and step as for
        studies.

    Returns
    -------
    A result whose `table` has a row per head: `lift` with its interval, `held_out` (heads are in the order of one half
    of the documents, and scored here on the other), `share`, `chance`, `rows` and how `awake` the head is in them.
    `tables["Examples"]` has texts in which the first head follows the rule most.

    Examples
    --------
    >>> regard.find("offset = -1", "corpus.txt").table.head()  # doctest: +SKIP
    """
    known = FindOptions.__optional_keys__
    if not set(options) <= known:
        raise WrongTypeError(
            f"find takes no {', '.join(sorted(set(options) - known))}; it takes {', '.join(sorted(known))}"
        )
    parsed = parse_rule(rule)
    source, named = source_for(parsed, corpus, {"limit": LIMIT, **options})
    passed = {name: options[name] for name in ("report", "step") if name in options}
    return find_in(parsed, source, named if model is None else model, **passed)


def find_in(rule: Rule, source: Source, model: Named, **options: Any) -> Result:
    """The same for a corpus that is known to have what the rule asks for."""
    ready = loaded(model)
    words = ["regard", "find", rule.name, source.name, "-m", ready.name, "--limit", str(source.limit)]
    return run_over(Find(rule=rule), ready, source, {**options, "command": shlex.join(words)})


def source_for(
    rule: Rule, corpus: Corpus, options: Any, near: Sequence[Path] | None = None
) -> tuple[Source, str | None]:
    """Where the texts are that a rule can be asked of; and the model, if they are those of a study.

    The corpus of a study is looked for in the folders `near`; unless given, here, beside the study, in it, and where it
    was read on this machine.
    """
    reading = {name: value for name, value in options.items() if name not in ("report", "step")}
    named = None
    if isinstance(corpus, Source):
        source = corpus if corpus.limit is not None else replace(corpus, limit=options["limit"])
    elif (Path(corpus) / _META).is_file():
        source, named = _studied(Path(corpus), near)
        source = replace(source, **reading)
    else:
        source = texts(corpus, reading)
    check(source)
    if not rule.needs_trees:
        return source, named
    if any(format_of(one) not in ("conllu", "treebank") for one in source.each):
        raise NoTreesError(f"{source.name} cannot answer {rule.name}: {reason('no_tree')}")
    return replace(source, format="treebank"), named


def _studied(folder: Path, near: Sequence[Path] | None) -> tuple[Source, str | None]:
    """The corpus and the model of a study; its folder has no paths, so the corpus is looked for."""
    try:
        meta = json.loads((folder / _META).read_text("utf-8"))
        stored, model = dict(meta["corpus"]), str(meta["model"])
        known = {one.name for one in fields(Source)} - {"limit", "sample"}
        source = Source(**{name: value for name, value in stored.items() if name in known})
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / _META} is not that of a study ({error}); name a corpus instead") from None
    more = tuple(_near(folder, str(name), near, model) for name in source.more)
    place = source.place if source.format == "dataset" else _near(folder, source.place, near, model)
    return replace(source, place=place, more=more, keep=tuple(source.keep)), model


def _near(folder: Path, name: str, near: Sequence[Path] | None, model: str) -> str:
    """A file of this name in one of some folders; unless given, here, beside the study, in it, or where it was read."""
    name = Path(name).name
    known = remembered(folder, name) if near is None else None
    for place in (Path(), folder.parent, folder) if near is None else near:
        if (place / name).is_file():
            return str(place / name)
    if known is not None:
        return str(known)
    raise MissingFileError(
        f"{folder} is a study of {name}, which is neither where it was read nor here nor beside the study; name the "
        f"file in place of the folder: regard find RULE PATH/{name} -m {model}"
    )
