"""The command line of the study of coreference.

Enters: arguments. Leaves: a folder; findings on standard output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from regard.commands.shared import Loading, ModelName, expanded
from regard.commands.study import Rows, RunOptions, run

if TYPE_CHECKING:
    from regard.corpus.readers.source import Source

Files = Annotated[
    list[str],
    typer.Argument(help="GAP (.tsv), CoNLL-2012 (.conll) or WinoBias files, or folders of them: one corpus."),
]


@dataclass
class ReadingMentions:
    """Options that say which documents are read."""

    format: Annotated[str | None, typer.Option(help="gap, conll or winobias, if the names mislead.")] = None
    limit: Annotated[int | None, typer.Option(help="Only the first N documents.", min=1, metavar="N")] = None
    sample: Annotated[int | None, typer.Option(help="N documents at random.", min=1, metavar="N")] = None
    seed: Annotated[int, typer.Option(help="Of the sample, and of whatever else is drawn at random.")] = 0

    def source(self, files: list[str]) -> Source:
        """The files as one corpus."""
        from regard.corpus.readers.coreference import corpus_of

        return corpus_of(files, **vars(self))


@dataclass
class RunningMentions(RunOptions):
    """Options of a run; documents are cut into windows anyway."""

    long: Annotated[str, typer.Option(help="Sentences longer than the model takes: truncate or skip.")] = "truncate"


@expanded
def coref(
    files: Files,
    *,
    model: ModelName = None,
    pieces: Annotated[int, typer.Option(help="Tokens of a window of whole sentences, at most.", min=8)] = 128,
    rows: Rows = "mean",
    reading: ReadingMentions,
    running: RunningMentions,
    loading: Loading,
) -> None:
    """Which heads find antecedents, beside rules and random weights; WinoBias' gap where pro and anti are given."""
    run("coref", [loading.load(model)], [reading.source(files)], running, pieces=pieces, rows=rows)
