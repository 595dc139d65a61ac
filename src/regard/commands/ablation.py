"""The command line of the study of switched-off heads.

Enters: arguments. Leaves: a folder per corpus; findings on standard output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from regard.commands.shared import Loading, ModelName, expanded
from regard.commands.study import Corpora, CorpusOptions, RunOptions, run


@dataclass
class RunningTask(RunOptions):
    """Options of a run; random weights know no task."""

    control: Annotated[bool, typer.Option(hidden=True)] = False
    control_seeds: Annotated[int, typer.Option(hidden=True)] = 3


@expanded
def ablation(
    corpora: Corpora,
    *,
    model: ModelName = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="classification, masked-lm, causal-lm or sts.",
            show_default="what the model is made for",
            metavar="TASK",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column of labels or scores.", show_default="label; score for sts", metavar="COL"),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(help="zero, uniform or mean; may be given again.", show_default="all three", metavar="MODE"),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Corpus of the mean outputs.", show_default="the first examples", metavar="FILE"),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Remove heads together, too: by importance, ablation, pattern, at random.")
    ] = False,
    reading: CorpusOptions,
    running: RunningTask,
    loading: Loading,
) -> None:
    """What each head is worth for a task: its score with every head, and every layer, switched off."""
    from regard.trace.heads import MODES

    options = {"task": task, "label": label, "modes": mode or MODES, "reference": reference, "curve": curve}
    run("ablation", [loading.load(model)], reading.sources(corpora), running, **options)
