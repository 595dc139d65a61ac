"""Options of studies: their types for Python, and how the command line offers them.

Enters: nothing. Leaves: one `TypedDict` per group of studies; a study refuses what its own does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict


@dataclass(frozen=True)
class Flag:
    """How the command line offers an option; those without a flag are for Python alone."""

    help: str
    default: Any = None
    name: str = ""  # as it is typed, if different from the option's own name; --no-x turns x off
    short: str = ""
    least: float | None = None
    metavar: str | None = None
    shown: str | None = None  # what help says of the default


class _Sampling(TypedDict, total=False):
    limit: Annotated[int | None, Flag("Use only the first N examples.", least=1, metavar="N")]
    sample: Annotated[int | None, Flag("Use N random examples.", least=1, metavar="N")]
    seed: Annotated[int, Flag("Seed of the sample and of everything else that is random.", default=0)]


class _Reading(TypedDict, total=False):
    format: Annotated[str | None, Flag("text, jsonl, tsv, csv, conllu or dataset, if the file's ending is misleading.")]
    unit: Annotated[str, Flag("What an example of plain text is: line, paragraph or sentence.", default="line")]
    text: Annotated[str | None, Flag("Column with the text.", metavar="COL")]
    pair: Annotated[str | None, Flag("Column with the second sentence.", metavar="COL")]
    split: Annotated[str, Flag("Split of a Hugging Face dataset.", default="train")]


class _Cutting(TypedDict, total=False):
    long: Annotated[
        str, Flag("What to do with examples too long for the model: truncate, split or skip.", default="truncate")
    ]


class _Keeping(TypedDict, total=False):
    output: Annotated[str | Path | None, Flag("Folder for the result.", short="-o", shown="regard-STUDY")]
    strict: Annotated[bool, Flag("Stop at a line that cannot be read.", default=False)]
    resume: Annotated[bool, Flag("Continue an interrupted run.", default=False)]
    restart: Annotated[bool, Flag("Discard an interrupted run and start over.", default=False)]
    keep: bool
    command: str


class _Reporting(TypedDict, total=False):
    report: Callable[[Any, float], None] | None
    step: Callable[[int], None] | None


class _Control(TypedDict, total=False):
    control: Annotated[bool, Flag("Repeat with random and shuffled weights of the same shape.", default=False)]
    control_seeds: Annotated[
        int, Flag("Draws of random weights; each adds a run, and shuffled weights add another.", default=3, least=1)
    ]


class _Engine(TypedDict, total=False):
    engine: Annotated[str, Flag("local or ray.", default="local")]
    address: Annotated[str | None, Flag("Address of a Ray cluster.", shown="this machine")]
    workers: Annotated[int, Flag("Ray workers, one model each.", default=2, least=1)]
    gpus_per_worker: Annotated[float, Flag("GPUs per Ray worker.", default=0.0, least=0)]


class Options(_Reading, _Sampling, _Keeping, _Cutting, _Control, _Engine, _Reporting):
    """What a study of texts takes besides model and corpus; other studies take those that they can use.

    format, unit, text, pair, limit, sample, seed, split
        How a corpus given by its path is read, as in `regard.corpus.readers.source.Source`.
    output
        A folder for tables, figures and report; without it, nothing is written.
    long
        What to do with examples too long for the model: "truncate", "split" or "skip".
    strict
        Stop at a line that cannot be read, instead of counting it.
    control, control_seeds
        Repeat the study on the same shape with random weights, drawn three times unless given, and with shuffled ones:
        four more runs. The atlas also repeats it on the model itself with permuted queries.
    resume, restart
        Continue from the checkpoint in `output`, or discard it; with neither, an existing checkpoint is refused.
    keep
        Leave the checkpoints of the finished run in `output`.
    command
        The command line that the report quotes; made from the arguments unless given.
    report
        Called with the tally so far and the seconds since the start.
    step
        Called after each batch with the inputs done in this pass over the corpus.
    engine, address, workers, gpus_per_worker
        "local", or "ray" and the resources for Ray; controls run there, too.
    """


class TreeOptions(_Sampling, _Keeping, _Control, _Engine, _Reporting):
    """What a study of treebanks takes: sentences cannot be cut, and CoNLL-U has fixed columns."""


class MentionOptions(_Sampling, _Keeping, _Control, _Engine, _Reporting):
    """What a study of coreference takes."""

    format: Annotated[str | None, Flag("gap, conll or winobias, if the file names are misleading.")]
    long: Annotated[
        str, Flag("What to do with sentences too long for the model: truncate or skip.", default="truncate")
    ]


class TaskOptions(_Reading, _Sampling, _Keeping, _Cutting, _Engine, _Reporting):
    """What a study of a task takes: no control, since random weights cannot do a task."""


class AlignmentOptions(_Sampling, _Keeping, _Control, _Engine, _Reporting):
    """What a study of alignment takes: nothing can be cut, and a control is for translations alone."""


class FindOptions(_Reading, _Reporting, total=False):
    """What a search for heads takes."""

    limit: int


class ProbeOptions(_Sampling, _Keeping):
    """What a study of probes takes: features stay on this machine, so there is only one engine."""

    control: Annotated[
        bool, Flag("Do not probe random and shuffled weights of the same shape.", default=True, name="--no-control")
    ]
    report: Callable[[str, int | None, int | None], None] | None
