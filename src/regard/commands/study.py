"""The command line of studies: a command for each, with the options it takes; where the result is, how to resume.

Enters: arguments. Leaves: a folder per corpus; findings on standard output.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from regard.base.errors import UserError
from regard.commands.progress import counting, showing_steps
from regard.commands.shared import Json, Loading, ModelName, err, expand_options, out
from regard.studies.registry import STUDIES

if TYPE_CHECKING:
    from regard.corpus.readers.source import Source
    from regard.studies.entry import Offered, Registered
    from regard.studies.result import Result

app = typer.Typer(
    help="Run a study over a whole corpus: tables, figures and a report, with intervals and controls.",
    no_args_is_help=True,
)


# -- commands ------------------------------------------------------------------------------------------------


def command_of(study: Registered) -> Callable[..., None]:
    """The command of a study: it has exactly the options that the study takes."""

    def command(as_json: bool, loading: Loading, **given: Any) -> None:
        models = [loading.load(given.pop(name)) for name in study.models or ("model",)]
        places = given.pop(study.corpora.name)
        options = {name: _read(name, one, given[name]) for name, one in study.options.items()}
        _run(study, models, places, {name: value for name, value in options.items() if value is not None}, as_json)

    arguments = [
        _parameter(name, str, typer.Argument(metavar=flag.name, help=flag.help), ...)
        for name, flag in study.models.items()
    ]
    several = str if study.corpora.several == "none" else list[str]
    arguments.append(_parameter(study.corpora.name, several, typer.Argument(help=study.corpora.help), ...))
    options = [] if study.models else [Parameter("model", Parameter.KEYWORD_ONLY, default=None, annotation=ModelName)]
    options += [_option(name, one) for name, one in study.options.items()]
    options.append(Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=Json))
    loading = Parameter("loading", Parameter.KEYWORD_ONLY, annotation=Loading)
    parameters = [*arguments, *options, loading]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return expand_options(command)


def _parameter(name: str, kind: Any, option: Any, default: Any) -> Parameter:
    given = Parameter.empty if default is ... else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=given, annotation=Annotated[kind, option])


def _option(name: str, one: Offered) -> Parameter:
    """An option as it is typed: names repeated one by one, numbers separated by commas."""
    flag, kind, default = one.flag, one.type, one.default
    if _is_off(one):
        default = False
    elif _several(one) is int:
        kind, default = str, ",".join(map(str, default))
    elif _several(one):
        kind, default = list[str] | None, None
    elif Path in get_args(kind):
        kind = Path | None
    names = [flag.name or f"--{name.replace('_', '-')}", *([flag.short] if flag.short else [])]
    how: dict[str, Any] = {"help": flag.help, "min": flag.least, "metavar": flag.metavar}
    return _parameter(name, kind, typer.Option(*names, show_default=flag.shown or True, **how), default)


def _read(name: str, one: Offered, value: Any) -> Any:
    """A typed value as the study takes it; None where its own default holds."""
    if _is_off(one):
        return not value
    if _several(one) is not int:
        return value or None if _several(one) else value
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise UserError(f"{name} must be numbers such as 1,4,16,64, not {value!r}") from None


def _is_off(one: Offered) -> bool:
    return one.flag.name.startswith("--no-")


def _several(one: Offered) -> type | None:
    """The type of an option that takes several values; None for other options."""
    for kind in (one.type, *get_args(one.type)):
        if getattr(kind, "__origin__", None) is Sequence:
            found: type = get_args(kind)[0]
            return found
    return None


for _study in STUDIES.values():
    app.command(_study.name, help=_study.help)(command_of(_study))


# -- steps ---------------------------------------------------------------------------------------------------


def _run(study: Registered, models: list[Any], places: Any, options: Mapping[str, Any], as_json: bool) -> None:
    """Run a study over each corpus, in separate folders if there are several, and print what it found."""
    folder = Path(options.get("output", f"regard-{study.name}"))
    corpora = places if study.corpora.several == "each" else [places]
    sources = [study.corpora.read(corpus, options) for corpus in corpora]
    folders = _folders(folder, sources)
    given = {**options, "keep": len(sources) > 1}
    with explaining_stops(folders):
        results = [
            _one(study, models, corpus, source, {**given, "output": place})
            for corpus, source, place in zip(corpora, sources, folders, strict=True)
        ]
    if len(sources) > 1:
        if study.compare is not None:
            study.compare(dict(zip((place.name for place in folders), results, strict=True)), folder)
        _forget(folders)
    say(results, folders, as_json)


def _one(study: Registered, models: list[Any], corpus: Any, source: Source, options: dict[str, Any]) -> Result:
    """Run a study over one corpus while showing progress: its current step, or the examples it has counted."""
    with showing_steps() if study.reports_steps else counting(source) as report:
        return study.run(*models, corpus, report=report, **options)


def _folders(folder: Path, sources: list[Source]) -> list[Path]:
    """The folder of each corpus: the given one, or one inside it for each of several."""
    if len(sources) == 1:
        return [folder]
    names: list[str] = []
    for source in sources:
        stem = Path(source.name).stem
        tried = chain([stem], (f"{stem}-{number}" for number in count(len(names) + 1)))
        names.append(next(name for name in tried if name not in names))
    return [folder / name for name in names]


def _forget(folders: list[Path]) -> None:
    from regard.studies.folder import forget

    for folder in folders:
        forget(folder)


@contextmanager
def explaining_stops(folders: list[Path]) -> Iterator[None]:
    """When a run is stopped, say what was saved and how to resume."""
    from regard.studies.folder import TERMINATED, checkpoints

    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != TERMINATED:
            raise
        if any(checkpoints(folder) for folder in folders):
            arguments = [word for word in sys.argv[1:] if word not in ("--resume", "--restart")]
            err.print("regard: stopped; progress is saved. Resume with:", soft_wrap=True)
            err.print(f"  {shlex.join(['regard', *arguments, '--resume'])}", markup=False, soft_wrap=True)
        else:
            err.print("regard: stopped before the first checkpoint; nothing was saved")
        raise typer.Exit(TERMINATED if isinstance(stop, SystemExit) else 130) from None


def say(results: list[Result], folders: list[Path], as_json: bool) -> None:
    """Print what was found and where it is saved."""
    if as_json:
        records = [_record(result, place) for result, place in zip(results, folders, strict=True)]
        out.print_json(json.dumps(records if len(records) > 1 else records[0], ensure_ascii=False, default=str))
        return
    for result, place in zip(results, folders, strict=True):
        _say(result, place)


def _record(result: Result, folder: Path) -> dict[str, Any]:
    return {
        "study": result.study,
        "folder": str(folder),
        "findings": list(result.findings),
        "cautions": list(result.cautions),
        "meta": result.meta,
    }


def _say(result: Result, folder: Path) -> None:
    out.print(result.title, style="bold", markup=False)
    for text in result.findings:
        out.print(f"  {text}", markup=False)
    for text in result.cautions:
        out.print(f"  note: {text}", markup=False, style="dim")
    out.print(f"\nreport: [bold]{(folder / 'report.html').resolve()}[/bold], open it in a browser", soft_wrap=True)
