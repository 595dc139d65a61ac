"""The command line of probes: parse, train with a sign of life, say what was found.

Enters: arguments. Leaves: a folder; findings on standard output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from regard.commands.shared import Json, Loading, ModelName, err, expanded
from regard.commands.study import explained, say
from regard.commands.syntax import ReadingTrees
from regard.errors import UserError


@dataclass
class ProbeOptions:
    """Options that say how the probes are trained."""

    probe: Annotated[
        list[str] | None,
        typer.Option(help="pairs, selection or structural; may be repeated.", show_default="all three"),
    ] = None
    ranks: Annotated[str, typer.Option(help="Ranks of the structural probe.", metavar="N,N,...")] = "1,2,4,8,16,32,64"
    epochs: Annotated[int, typer.Option(help="Most passes over the training sentences.", min=1)] = 12
    least: Annotated[int, typer.Option(help="Instances that make a relation worth telling apart.", min=1)] = 100
    seeds: Annotated[int, typer.Option(help="Times every probe is trained; draws of random weights.", min=1)] = 3

    def numbers(self) -> list[int]:
        """The ranks."""
        try:
            return [int(part) for part in self.ranks.split(",")]
        except ValueError:
            raise UserError(f"ranks are numbers such as 1,4,16,64, not {self.ranks!r}") from None


@expanded
def probe(
    treebank: Annotated[str, typer.Argument(help="A CoNLL-U file to learn from, also .gz.")],
    *,
    test: Annotated[
        str | None, typer.Option(help="Another to test on.", show_default="a fifth of the documents of the first")
    ] = None,
    model: ModelName = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the result.")] = Path("regard-probe"),
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a sentence that cannot be read.")] = False,
    no_control: Annotated[
        bool, typer.Option("--no-control", help="Leave random and shuffled weights of the same shape out.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Use the probes an interrupted run had finished.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Throw these away, and start anew.")] = False,
    as_json: Json = False,
    training: ProbeOptions,
    reading: ReadingTrees,
    loading: Loading,
) -> None:
    """What can be read out of attention and hidden states: dependencies, relations, heads, distances in the tree."""
    from regard.studies import api as study

    source, *others = reading.sources([treebank, test] if test else [treebank])
    loaded = loading.load(model)
    with explained([output]), _progress() as report:
        result = study.probe(
            loaded,
            source,
            others[0] if others else None,
            probes=training.probe or None,
            ranks=training.numbers(),
            epochs=training.epochs,
            least=training.least,
            seeds=training.seeds,
            control=not no_control,
            output=output,
            strict=strict,
            resume=resume,
            restart=restart,
            seed=reading.seed,
            report=report,
        )
    say([result], [output], as_json)


@contextmanager
def _progress() -> Iterator[Callable[[str, int | None, int | None], None] | None]:
    """What is going on, counted where it can be; nothing where standard error is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("reading the treebank", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done or 0, total=total)
