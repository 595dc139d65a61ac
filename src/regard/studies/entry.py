"""How a study is called: registered once, its options checked, its corpus read, named models loaded.

Enters: a model and a corpus by name, options. Leaves: a `Result`; for the command line, what each study takes.

Long on purpose: the way from a call to a study is read in one go.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from regard.base.errors import UserError, WrongTypeError
from regard.studies.options import Flag

if TYPE_CHECKING:
    from regard.corpus.readers.source import Source
    from regard.models.model import Model
    from regard.studies.base import Study
    from regard.studies.result import Result

    Named: TypeAlias = Model | str | os.PathLike[str] | None
    Corpus: TypeAlias = Source | str | os.PathLike[str]
else:  # as the command line sees them; the others need torch
    Named, Corpus = str | None, str

Entry = TypeVar("Entry", bound=Callable[..., Any])

_OF_SOURCE = ("format", "unit", "text", "pair", "limit", "sample", "seed", "split")
_OF_RUN = ("long", "strict", "resume", "restart", "report", "step")


# -- corpora -----------------------------------------------------------------------------------------------------


def texts(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    """A corpus of texts, read as the options say."""
    from regard.corpus.readers.lines import format_of

    source = texts_or_images(corpus, options)
    if format_of(source) == "images":
        raise UserError(f"{source.place} is a folder, and this study reads texts; name a file of them")
    return source


def texts_or_images(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    """A corpus of texts, or a folder of images."""
    from regard.corpus.readers.source import Source

    given = {name: options[name] for name in _OF_SOURCE if name in options}
    if not isinstance(corpus, Source):
        return Source(str(corpus), **given)
    also = sorted(set(given) - {"seed"})
    if also:
        raise UserError(f"{', '.join(also)} must be set in the Source when one is passed")
    return corpus


def trees(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    """A treebank."""
    source = texts(corpus, options)
    if source.format not in (None, "conllu", "treebank"):
        raise UserError(f"trees are read from CoNLL-U files, not from {source.format!r}")
    return replace(source, format="treebank")


def with_trees(source: Source) -> Source:
    """A corpus of texts, with its trees if it is a treebank."""
    from regard.corpus.readers.lines import format_of

    return replace(source, format="treebank") if format_of(source) == "conllu" else source


def mentions(corpus: Corpus | Sequence[str | os.PathLike[str]], options: Mapping[str, Any]) -> Source:
    """Texts with coreference; several files, and folders, are one corpus."""
    from regard.corpus.readers.coreference import FORMATS, corpus_of
    from regard.corpus.readers.source import Source

    if isinstance(corpus, Source):
        source = texts(corpus, options)
    else:
        places = corpus if isinstance(corpus, Sequence) and not isinstance(corpus, str) else [corpus]
        given = {name: options[name] for name in _OF_SOURCE if name in options}
        source = corpus_of([str(place) for place in places], **given)
    if source.format not in FORMATS:
        raise UserError(f"coreference is read as {', '.join(FORMATS)}, not as {source.format!r}")
    return source


REFERENCES = ("gold", "dictionary", "parallel")  # what tells which words of two sentences belong together


def aligned(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    """Sounds with the onsets of their words, or sentences with their translations if something tells their links."""
    from regard.corpus.readers.lines import format_of

    source = texts(corpus, options)
    if any(options.get(name) for name in REFERENCES):
        return replace(source, format="translations")
    if source.format not in (None, "jsonl", "utterances"):
        raise UserError(f"utterances are read from JSONL files, not from {source.format!r}")
    if format_of(source) not in ("jsonl", "utterances"):
        raise UserError(
            f"{source.name} is no JSONL file of utterances; for translations, say which words belong together: --gold, "
            "--dictionary or --parallel"
        )
    return replace(source, format="utterances")


@dataclass(frozen=True)
class Corpora:
    """The corpora of a study: what they are called, how one is read, and how several are treated."""

    name: str
    help: str
    read: Callable[[Any, Mapping[str, Any]], Source]
    several: str = "each"  # "each" is studied separately, all are "one" corpus, or "none" but the first is allowed


TEXTS = Corpora("corpora", "Text, JSONL, TSV, CSV or CoNLL-U files, also .gz; - reads stdin.", texts)
TEXTS_OR_IMAGES = Corpora(
    "corpora",
    "Text, JSONL, TSV, CSV or CoNLL-U files, also .gz; - reads stdin; for a vision model, a folder of images.",
    texts_or_images,
)
TREEBANKS = Corpora("treebanks", "CoNLL-U files, also .gz; - reads stdin.", trees)
TREEBANK = Corpora("treebank", "A CoNLL-U file to learn from, also .gz.", trees, several="none")
MENTIONS = Corpora(
    "files", "GAP (.tsv), CoNLL-2012 (.conll) or WinoBias files, or folders of them: one corpus.", mentions, "one"
)
ALIGNED = Corpora(
    "corpora",
    "JSONL files: audio, text and onsets [[character, seconds], ...] of each utterance; or source TAB target lines.",
    aligned,
)


# -- studies -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Offered:
    """An option of a study: its type, its default and how the command line offers it."""

    type: Any
    default: Any
    flag: Flag


@dataclass(frozen=True)
class Registered:
    """A study as Python, the command line and the documentation find it."""

    run: Callable[..., Result]
    corpora: Corpora
    compare: Callable[[Mapping[str, Result], Path], None] | None = None  # draws several corpora in one figure
    reports_steps: bool = False  # reports what is going on, where others report a tally and the seconds
    asks: tuple[str, str] | None = None  # its question in English and Chinese; the app offers studies that have one

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def help(self) -> str:
        """The first sentence of its documentation."""
        return " ".join(cleandoc(self.run.__doc__ or "").partition("\n\n")[0].split())

    @property
    def shared(self) -> dict[str, Any]:
        """The types of the options it shares with other studies, by name."""
        rest = list(signature(self.run).parameters.values())[-1]
        (options,) = get_args(self._type(rest))
        return get_type_hints(options, include_extras=True)

    @property
    def models(self) -> dict[str, Flag]:
        """Models that the command line takes as arguments; empty if it takes one as an option."""
        return {name: one.flag for name, one in self._flagged(Parameter.POSITIONAL_OR_KEYWORD).items() if one.flag.name}

    @property
    def own(self) -> dict[str, Offered]:
        """The command-line options of this study alone."""
        also = {name: one for name, one in self._flagged(Parameter.POSITIONAL_OR_KEYWORD).items() if not one.flag.name}
        return also | self._flagged(Parameter.KEYWORD_ONLY)

    @property
    def options(self) -> dict[str, Offered]:
        """The command-line options, those of this study alone first."""
        shared = {name: _offered(hint) for name, hint in self.shared.items()}
        return self.own | {name: one for name, one in shared.items() if one is not None}

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that this study does not take."""
        unknown = sorted(set(options) - set(self.shared))
        if unknown:
            keywords = [p.name for p in signature(self.run).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
            takes = ", ".join((*keywords, *self.shared))
            raise WrongTypeError(f"{self.name} takes no {', '.join(unknown)}; it takes {takes}")

    def _flagged(self, kind: Any) -> dict[str, Offered]:
        mine = [p for p in signature(self.run).parameters.values() if p.kind is kind]
        found = {p.name: _offered(self._type(p), p.default) for p in mine}
        return {name: one for name, one in found.items() if one is not None}

    def _type(self, parameter: Parameter) -> Any:
        """The type of a parameter; annotations are stored as text."""
        function = getattr(self.run, "__wrapped__", self.run)
        return eval(parameter.annotation, function.__globals__)  # noqa: S307 (our own source)


def _offered(hint: Any, default: Any = None) -> Offered | None:
    """How an option is offered; None if it is for Python only."""
    if get_origin(hint) is not Annotated:
        return None
    kind, flag = get_args(hint)
    return Offered(kind, flag.default if default is None else default, flag)


class Registry(dict[str, Registered]):
    """Every study, by name."""

    def add(self, corpora: Corpora, **more: Any) -> Callable[[Entry], Entry]:
        """Register the function that runs a study; unknown options are refused."""

        def register(function: Entry) -> Entry:
            @wraps(function)
            def run(*args: Any, **options: Any) -> Any:
                known = signature(function).parameters
                registered.check({name: value for name, value in options.items() if name not in known})
                return function(*args, **{"command": command_line(registered, args, options), **options})

            registered = Registered(run, corpora, **more)
            self[registered.name] = registered
            return run  # type: ignore[return-value]

        return register


# -- the command of a run ----------------------------------------------------------------------------------------

_ONLY_HERE = ("output", "resume", "restart", "engine", "address", "workers", "gpus_per_worker")  # change no number


def command_line(study: Registered, args: Sequence[Any], options: Mapping[str, Any]) -> str:
    """The command that runs the same study: files by their names, options that are not the default."""
    names = list(signature(study.run).parameters)
    given = {**dict(zip(names, args, strict=False)), **options}
    model = [] if study.models or given.get("model") is None else ["-m", _said(given["model"])]
    corpus = names[len(study.models) or 1]
    places = [name for name in (*study.models, corpus) if name in given]
    words = [word for name in places for word in _words(given[name])]
    flags = [
        word
        for name, one in study.options.items()
        if name in given and name not in _ONLY_HERE and given[name] not in (None, one.default)
        for word in _flag(name, one, given[name])
    ]
    return shlex.join(["regard", "study", study.name, *words, *model, *flags])


def _flag(name: str, one: Offered, value: Any) -> list[str]:
    typed = one.flag.name or f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [typed]
    if one.flag.metavar == "N,N,...":
        return [typed, ",".join(map(str, value))]
    return [word for part in _words(value) for word in (typed, part)]


def _words(value: Any) -> list[str]:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return [_said(one) for one in value] if several else [_said(value)]


def _said(value: Any) -> str:
    """A model or corpus by its name; a file without its folder, which is nobody's business."""
    named = getattr(value, "name", value)
    return Path(named).name if isinstance(value, os.PathLike) or Path(str(named)).is_absolute() else str(named)


# -- steps -------------------------------------------------------------------------------------------------------


def loaded(model: Named) -> Model:
    """A model, loaded if it is given by name."""
    from regard.models.load import load
    from regard.models.model import Model

    return model if isinstance(model, Model) else load(model if model is None else str(model))


def run_over(study: Study, model: Named, source: Source, options: Mapping[str, Any]) -> Result:
    """Run a study over a corpus."""
    from regard.corpus.engine import Run
    from regard.studies.run import run_study

    rest = {n: value for n, value in options.items() if n not in (*_OF_SOURCE, *_OF_RUN)}
    run = Run(source, **{name: options[name] for name in _OF_RUN if name in options})
    return run_study(study, loaded(model), run, **rest)
