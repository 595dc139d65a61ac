"""The command line of studies: parse, run with a progress bar, say where the result is and how to go on.

Enters: arguments. Leaves: a folder per corpus; findings on standard output.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text as RichText

if TYPE_CHECKING:
    from rich.progress import Task

    from regard.corpus.batches import Tally
    from regard.corpus.readers import Source
    from regard.studies.result import Result

app = typer.Typer(
    help="Ask a question of a whole corpus: tables, figures and a report, with intervals and controls.",
    no_args_is_help=True,
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

_COUNTED = 64_000_000  # bytes up to which a corpus is read once beforehand, to know how long the run will take
_MEMORY = 600.0  # seconds over which the rate is averaged
_HELP = {
    "atlas": "What every head does: each pattern with chance level and interval, and the types of maps.",
    "tokens": "Attention to special tokens, punctuation and neighbours, and its entropy, by layer and head.",
    "norms": "Weights beside what they carry, ||αf(x)||, by layer and head; norms against word frequency.",
    "similarity": "Distances between all heads, a map of them coloured by pattern, and clusters.",
}

Corpora = Annotated[list[str], typer.Argument(help="Text, JSONL, TSV, CSV or CoNLL-U files, also .gz; - reads stdin.")]
Folder = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder of the result.  [default: regard-STUDY]"),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Hub name, folder or .gguf file.  [default: the built-in all-MiniLM-L6-v2]"),
]
Format = Annotated[str | None, typer.Option(help="text, jsonl, tsv, csv, conllu or dataset, if the ending misleads.")]
Unit = Annotated[str, typer.Option(help="An example of plain text: line, paragraph or sentence.")]
TextColumnName = Annotated[str | None, typer.Option("--text", help="Column of the text.", metavar="COL")]
PairColumnName = Annotated[str | None, typer.Option("--pair", help="Column of the second sentence.", metavar="COL")]
Limit = Annotated[int | None, typer.Option(help="Only the first N examples.", min=1, metavar="N")]
Sample = Annotated[int | None, typer.Option(help="N examples at random.", min=1, metavar="N")]
Seed = Annotated[int, typer.Option(help="Of the sample and the bootstrap.")]
Long = Annotated[str, typer.Option(help="Examples longer than the model takes: truncate, split or skip.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at a line that cannot be read.")]
Control = Annotated[bool, typer.Option("--control", help="Repeat with random weights of the same shape.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run ended.")]
Engine = Annotated[str, typer.Option(help="local or ray.")]
Address = Annotated[str | None, typer.Option(help="Address of a Ray cluster.  [default: this machine]")]
Workers = Annotated[int, typer.Option(help="Ray workers, one model each.", min=1)]
Gpus = Annotated[float, typer.Option(help="GPUs of each Ray worker.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


def _add(name: str) -> None:
    """A command for a study of one model."""

    def command(
        corpora: Corpora,
        output: Folder = None,
        model: ModelName = None,
        format: Format = None,
        unit: Unit = "line",
        text: TextColumnName = None,
        pair: PairColumnName = None,
        limit: Limit = None,
        sample: Sample = None,
        seed: Seed = 0,
        long: Long = "truncate",
        strict: Strict = False,
        control: Control = False,
        resume: Resume = False,
        engine: Engine = "local",
        address: Address = None,
        workers: Workers = 2,
        gpus_per_worker: Gpus = 0,
        as_json: Json = False,
    ) -> None:
        sources = _sources(
            corpora, format=format, unit=unit, text=text, pair=pair, limit=limit, sample=sample, seed=seed
        )
        running = _running(long, strict, control, resume, engine, address, workers, gpus_per_worker)
        _many(name, [model], sources, output or Path(f"regard-{name}"), running, as_json)

    app.command(name, help=_HELP[name])(command)


for _name in _HELP:
    _add(_name)


@app.command("change")
def change(
    model_a: Annotated[str, typer.Argument(help="The model before: hub name or folder.")],
    model_b: Annotated[str, typer.Argument(help="The model after, of the same shape.")],
    corpora: Corpora,
    output: Folder = None,
    format: Format = None,
    unit: Unit = "line",
    text: TextColumnName = None,
    pair: PairColumnName = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    long: Long = "truncate",
    strict: Strict = False,
    control: Control = False,
    resume: Resume = False,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = 2,
    gpus_per_worker: Gpus = 0,
    as_json: Json = False,
) -> None:
    """What training changed between two models of one shape: distances of maps, patterns gained and lost."""
    sources = _sources(corpora, format=format, unit=unit, text=text, pair=pair, limit=limit, sample=sample, seed=seed)
    running = _running(long, strict, control, resume, engine, address, workers, gpus_per_worker)
    _many("change", [model_a, model_b], sources, output or Path("regard-change"), running, as_json)


# -- steps ---------------------------------------------------------------------------------------------------


def _sources(corpora: list[str], **options: Any) -> list[Source]:
    from regard.corpus.readers import Source

    return [Source(corpus, **options) for corpus in corpora]


def _running(
    long: str,
    strict: bool,
    control: bool,
    resume: bool,
    engine: str,
    address: str | None,
    workers: int,
    gpus_per_worker: float,
) -> dict[str, Any]:
    """Options of a run; those of Ray only where it is asked for."""
    options: dict[str, Any] = {"long": long, "strict": strict, "control": control, "resume": resume, "engine": engine}
    if engine == "ray":
        options |= {"address": address, "workers": workers, "gpus_per_worker": gpus_per_worker}
    return options


def _many(
    name: str, models: list[str | None], sources: list[Source], folder: Path, running: dict[str, Any], as_json: bool
) -> None:
    """Run a study over each corpus, each in a folder of its own where there are several."""
    folders = _folders(folder, sources)
    loaded = [_load(model) for model in models]
    with _explained(folders):
        results = [
            _one(name, loaded, source, place, {**running, "keep": len(sources) > 1})
            for source, place in zip(sources, folders, strict=True)
        ]
    if len(sources) > 1:
        _compare(name, dict(zip((place.name for place in folders), results, strict=True)), folder)
        _forget(folders)
    if as_json:
        records = [_record(result, place) for result, place in zip(results, folders, strict=True)]
        out.print_json(json.dumps(records if len(records) > 1 else records[0], ensure_ascii=False, default=str))
        return
    for result, place in zip(results, folders, strict=True):
        _say(result, place)


def _folders(folder: Path, sources: list[Source]) -> list[Path]:
    """The folder of each corpus: the one asked for, or one inside it for each of several."""
    if len(sources) == 1:
        return [folder]
    names: list[str] = []
    for source in sources:
        stem = Path(source.name).stem
        names.append(stem if stem not in names else f"{stem}-{len(names) + 1}")
    return [folder / name for name in names]


def _load(name: str | None) -> Any:
    with err.status("loading the model ...") if err.is_terminal else _quiet():
        from regard.model import load

        return load(name)


@contextmanager
def _quiet() -> Iterator[None]:
    yield


def _one(name: str, models: list[Any], source: Source, folder: Path, running: dict[str, Any]) -> Result:
    """Run a study over one corpus with a progress bar."""
    from regard import studies

    with _progress(source) as report:
        made: Result = getattr(studies, name)(
            *models, source, output=folder, seed=source.seed, report=report, **running
        )
    return made


def _compare(name: str, results: dict[str, Result], folder: Path) -> None:
    """The figure over several corpora, where a study has one."""
    if name == "atlas":
        from regard.studies.atlas_result import compared_types

        compared_types(results, folder)


def _forget(folders: list[Path]) -> None:
    from regard.studies.run import forget

    for folder in folders:
        forget(folder)


@contextmanager
def _explained(folders: list[Path]) -> Iterator[None]:
    """When a run is stopped, say what was kept and how to go on."""
    from regard.studies.run import CHECKPOINT

    try:
        yield
    except KeyboardInterrupt:
        if any((folder / CHECKPOINT).exists() for folder in folders):
            arguments = [word for word in sys.argv[1:] if word != "--resume"]
            err.print("regard: stopped; what was done is kept. Go on with:", soft_wrap=True)
            err.print(f"  {shlex.join(['regard', *arguments, '--resume'])}", markup=False, soft_wrap=True)
        else:
            err.print("regard: stopped before the first checkpoint; nothing was kept")
        raise typer.Exit(130) from None


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


# -- progress ------------------------------------------------------------------------------------------------


class _Rate(ProgressColumn):
    """Examples a second."""

    def render(self, task: Task) -> RichText:
        return RichText("" if task.speed is None else f"{task.speed:,.0f} examples/s")


@contextmanager
def _progress(source: Source) -> Iterator[Callable[[Tally, float], None] | None]:
    """A bar with rate and time left; nothing where standard error is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=err, speed_estimate_period=_MEMORY, transient=True) as bar:
        task = bar.add_task(source.name, total=_total(source))
        yield lambda tally, seconds: bar.update(task, completed=tally.examples)


def _total(source: Source) -> int | None:
    """How many examples there are, where counting them is quick."""
    from regard.corpus.readers import read

    place = Path(source.place)
    if source.format == "dataset" or not place.is_file() or place.stat().st_size > _COUNTED:
        return source.sample or source.limit
    return sum(1 for _ in read(source))
