"""The command line of studies: parse, run with a progress bar, say where the result is and how to go on.

Enters: arguments. Leaves: a folder per corpus; findings on standard output.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text as RichText

from regard.commands.shared import Json, Loading, ModelName, err, expanded, out

if TYPE_CHECKING:
    from rich.progress import Task

    from regard.corpus.batches import Tally
    from regard.corpus.readers.source import Source
    from regard.studies.result import Result

app = typer.Typer(
    help="Ask a question of a whole corpus: tables, figures and a report, with intervals and controls.",
    no_args_is_help=True,
)

_COUNTED = 64_000_000  # bytes up to which a corpus is read once beforehand, to know how long the run will take
_MEMORY = 600.0  # seconds over which the rate is averaged
_LINE = 60.0  # seconds between lines where there is no bar
_HELP = {
    "atlas": "What every head does: each pattern with chance level and interval, and the types of maps.",
    "tokens": "Attention to special tokens, punctuation and neighbours, and its entropy, by layer and head.",
    "norms": "Weights beside what they carry, ||αf(x)||, by layer and head; norms against word frequency.",
    "similarity": "Distances between all heads, a map of them coloured by pattern, and clusters.",
}

Corpora = Annotated[list[str], typer.Argument(help="Text, JSONL, TSV, CSV or CoNLL-U files, also .gz; - reads stdin.")]
Rows = Annotated[str, typer.Option(help="Pieces of an attending word: mean over them, or first alone.", metavar="WAY")]


@dataclass
class CorpusOptions:
    """Options that say what of a corpus is read."""

    format: Annotated[
        str | None, typer.Option(help="text, jsonl, tsv, csv, conllu or dataset, if the ending misleads.")
    ] = None
    unit: Annotated[str, typer.Option(help="An example of plain text: line, paragraph or sentence.")] = "line"
    text: Annotated[str | None, typer.Option("--text", help="Column of the text.", metavar="COL")] = None
    pair: Annotated[str | None, typer.Option("--pair", help="Column of the second sentence.", metavar="COL")] = None
    split: Annotated[str, typer.Option(help="Split of a Hugging Face dataset.")] = "train"
    limit: Annotated[int | None, typer.Option(help="Only the first N examples.", min=1, metavar="N")] = None
    sample: Annotated[int | None, typer.Option(help="N examples at random.", min=1, metavar="N")] = None
    seed: Annotated[int, typer.Option(help="Of the sample, and of whatever else is drawn at random.")] = 0

    def sources(self, corpora: list[str]) -> list[Source]:
        """The corpora as they are to be read."""
        from regard.corpus.readers.source import Source

        return [Source(corpus, **vars(self)) for corpus in corpora]


@dataclass
class RunOptions:
    """Options that say how a study runs and where its result goes."""

    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the result.", show_default="regard-STUDY")
    ] = None
    long: Annotated[str, typer.Option(help="Examples longer than the model takes: truncate, split or skip.")] = (
        "truncate"
    )
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a line that cannot be read.")] = False
    control: Annotated[
        bool, typer.Option("--control", help="Repeat with random and shuffled weights of the same shape.")
    ] = False
    control_seeds: Annotated[
        int, typer.Option(help="Draws of random weights; each is one more run, as are shuffled weights.", min=1)
    ] = 3
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run ended.")] = False
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw away what an interrupted run left, and start anew.")
    ] = False
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local"
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.", show_default="this machine")] = None
    workers: Annotated[int, typer.Option(help="Ray workers, one model each.", min=1)] = 2
    gpus_per_worker: Annotated[float, typer.Option(help="GPUs of each Ray worker.", min=0)] = 0
    as_json: Json = False

    def options(self) -> dict[str, Any]:
        """What `regard.study` takes of them; Ray's only where it is asked for."""
        names = ["long", "strict", "control", "control_seeds", "resume", "restart", "engine"]
        if self.engine == "ray":
            names += ["address", "workers", "gpus_per_worker"]
        return {name: getattr(self, name) for name in names}


def _add(name: str) -> None:
    """A command for a study of one model."""

    @expanded
    def command(
        corpora: Corpora, *, model: ModelName = None, reading: CorpusOptions, running: RunOptions, loading: Loading
    ) -> None:
        run(name, [loading.load(model)], reading.sources(corpora), running)

    app.command(name, help=_HELP[name])(command)


for _name in _HELP:
    _add(_name)


@app.command("change")
@expanded
def change(
    model_a: Annotated[str, typer.Argument(help="The model before: hub name or folder.")],
    model_b: Annotated[str, typer.Argument(help="The model after, of the same shape.")],
    corpora: Corpora,
    *,
    reading: CorpusOptions,
    running: RunOptions,
    loading: Loading,
) -> None:
    """What training changed between two models of one shape: distances of maps, patterns gained and lost."""
    run("change", [loading.load(model_a), loading.load(model_b)], reading.sources(corpora), running)


# -- steps ---------------------------------------------------------------------------------------------------


def run(name: str, models: list[Any], sources: list[Source], running: RunOptions, **special: Any) -> None:
    """Run a study over each corpus, each in a folder of its own where there are several, and say what it found."""
    folder = running.output or Path(f"regard-{name}")
    folders = _folders(folder, sources)
    options = {**running.options(), **special, "keep": len(sources) > 1}
    with explained(folders):
        results = [_one(name, models, source, place, options) for source, place in zip(sources, folders, strict=True)]
    if len(sources) > 1:
        _compare(name, dict(zip((place.name for place in folders), results, strict=True)), folder)
        _forget(folders)
    say(results, folders, running.as_json)


def _folders(folder: Path, sources: list[Source]) -> list[Path]:
    """The folder of each corpus: the one asked for, or one inside it for each of several."""
    if len(sources) == 1:
        return [folder]
    names: list[str] = []
    for source in sources:
        stem = Path(source.name).stem
        tried = chain([stem], (f"{stem}-{number}" for number in count(len(names) + 1)))
        names.append(next(name for name in tried if name not in names))
    return [folder / name for name in names]


def _one(name: str, models: list[Any], source: Source, folder: Path, running: dict[str, Any]) -> Result:
    """Run a study over one corpus with a progress bar."""
    from regard.studies import api as study

    with _progress(source) as report:
        made: Result = getattr(study, name)(*models, source, output=folder, seed=source.seed, report=report, **running)
    return made


def _compare(name: str, results: dict[str, Result], folder: Path) -> None:
    """The figure over several corpora, where a study has one."""
    if name == "atlas":
        from regard.studies.atlas.report import compared_types

        compared_types(results, folder)


def _forget(folders: list[Path]) -> None:
    from regard.studies.folder import forget

    for folder in folders:
        forget(folder)


@contextmanager
def explained(folders: list[Path]) -> Iterator[None]:
    """When a run is stopped, say what was kept and how to go on."""
    from regard.studies.folder import TERMINATED, checkpoints

    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != TERMINATED:
            raise
        if any(checkpoints(folder) for folder in folders):
            arguments = [word for word in sys.argv[1:] if word not in ("--resume", "--restart")]
            err.print("regard: stopped; what was done is kept. Go on with:", soft_wrap=True)
            err.print(f"  {shlex.join(['regard', *arguments, '--resume'])}", markup=False, soft_wrap=True)
        else:
            err.print("regard: stopped before the first checkpoint; nothing was kept")
        raise typer.Exit(TERMINATED if isinstance(stop, SystemExit) else 130) from None


def say(results: list[Result], folders: list[Path], as_json: bool) -> None:
    """Print what was found and where it lies."""
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


# -- progress ------------------------------------------------------------------------------------------------


class _Rate(ProgressColumn):
    """Examples a second."""

    def render(self, task: Task) -> RichText:
        return RichText("" if task.speed is None else f"{task.speed:,.0f} examples/s")


class _Lines:
    """A line a minute, where standard error is a file: how far a study is, how fast it goes and what is left."""

    def __init__(self, source: Source) -> None:
        self.name, self.total = source.name, _total(source)
        self.last: tuple[int, float] | None = None

    def __call__(self, tally: Tally, seconds: float) -> None:
        done, since = self.last or (tally.examples, seconds)
        if self.last is None or tally.examples < done:  # the first window of a run, resumed or not, or of its control
            self.last = tally.examples, seconds
        if seconds - since < _LINE or tally.examples <= done:
            return
        rate = (tally.examples - done) / (seconds - since)
        self.last = tally.examples, seconds
        said = f"{self.name}: {tally.examples:,} examples, {rate:,.1f} a second"
        if self.total is not None:
            said += f", {(self.total - tally.examples) / rate / 60:,.0f} min left"
        err.print(said, markup=False, soft_wrap=True)


@contextmanager
def _progress(source: Source) -> Iterator[Callable[[Tally, float], None]]:
    """A bar with rate and time left; lines where standard error is not a terminal."""
    if not err.is_terminal:
        yield _Lines(source)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=err, speed_estimate_period=_MEMORY, transient=True) as bar:
        task = bar.add_task(source.name, total=_total(source))
        yield lambda tally, seconds: bar.update(task, completed=tally.examples)


def _total(source: Source) -> int | None:
    """How many examples there are, where counting them is quick; what cannot be read is said by the run."""
    from regard.corpus.readers.source import read

    place = Path(source.place)
    if source.format == "dataset" or not place.is_file() or place.stat().st_size > _COUNTED:
        return source.sample or source.limit
    try:
        return sum(1 for _ in read(source))
    except (ValueError, OSError):
        return None
