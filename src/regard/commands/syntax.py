"""The command line of studies over treebanks.

Enters: arguments. Leaves: a folder per treebank; findings on standard output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from regard.commands.shared import Loading, ModelName, expanded
from regard.commands.study import Rows, RunOptions, run

if TYPE_CHECKING:
    from regard.corpus.readers.source import Source

Treebanks = Annotated[list[str], typer.Argument(help="CoNLL-U files, also .gz; - reads stdin.")]


@dataclass
class ReadingTrees:
    """Options that say which sentences of a treebank are read."""

    limit: Annotated[int | None, typer.Option(help="Only the first N sentences.", min=1, metavar="N")] = None
    sample: Annotated[int | None, typer.Option(help="N sentences at random.", min=1, metavar="N")] = None
    seed: Annotated[int, typer.Option(help="Of the sample, and of whatever else is drawn at random.")] = 0

    def sources(self, treebanks: list[str]) -> list[Source]:
        """The treebanks as they are to be read."""
        from regard.corpus.readers.source import Source

        return [Source(treebank, format="treebank", **vars(self)) for treebank in treebanks]


@dataclass
class RunningTrees(RunOptions):
    """Options of a run; a sentence cannot be cut with its tree."""

    long: Annotated[str, typer.Option(hidden=True)] = "skip"


@expanded
def syntax(
    treebanks: Treebanks,
    *,
    model: ModelName = None,
    least: Annotated[int, typer.Option(help="Instances that make a relation worth a row.", min=1)] = 100,
    rows: Rows = "mean",
    reading: ReadingTrees,
    running: RunningTrees,
    loading: Loading,
) -> None:
    """Which heads find syntactic heads: accuracy by relation beside fixed offsets and random weights."""
    run("syntax", [loading.load(model)], reading.sources(treebanks), running, least=least, rows=rows)
