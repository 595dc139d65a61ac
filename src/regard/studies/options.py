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
    name: str = ""  # as it is typed, where that is not the option's own name; --no-x turns x off
    short: str = ""
    least: float | None = None
    metavar: str | None = None
    shown: str | None = None  # what help says of the default


class _Sampling(TypedDict, total=False):
    limit: Annotated[int | None, Flag("Only the first N examples.", least=1, metavar="N")]
    sample: Annotated[int | None, Flag("N examples at random.", least=1, metavar="N")]
    seed: Annotated[int, Flag("Of the sample, and of whatever else is drawn at random.", default=0)]


class _Reading(TypedDict, total=False):
    format: Annotated[str | None, Flag("text, jsonl, tsv, csv, conllu or dataset, if the ending misleads.")]
    unit: Annotated[str, Flag("An example of plain text: line, paragraph or sentence.", default="line")]
    text: Annotated[str | None, Flag("Column of the text.", metavar="COL")]
    pair: Annotated[str | None, Flag("Column of the second sentence.", metavar="COL")]
    split: Annotated[str, Flag("Split of a Hugging Face dataset.", default="train")]


class _Cutting(TypedDict, total=False):
    long: Annotated[str, Flag("Examples longer than the model takes: truncate, split or skip.", default="truncate")]


class _Keeping(TypedDict, total=False):
    output: Annotated[str | Path | None, Flag("Folder of the result.", short="-o", shown="regard-STUDY")]
    strict: Annotated[bool, Flag("Stop at a line that cannot be read.", default=False)]
    resume: Annotated[bool, Flag("Go on where an interrupted run ended.", default=False)]
    restart: Annotated[bool, Flag("Throw away what an interrupted run left, and start anew.", default=False)]
    keep: bool


class _Reporting(TypedDict, total=False):
    report: Callable[[Any, float], None] | None


class _Control(TypedDict, total=False):
    control: Annotated[bool, Flag("Repeat with random and shuffled weights of the same shape.", default=False)]
    control_seeds: Annotated[
        int, Flag("Draws of random weights; each is one more run, as are shuffled weights.", default=3, least=1)
    ]


class _Engine(TypedDict, total=False):
    engine: Annotated[str, Flag("local or ray.", default="local")]
    address: Annotated[str | None, Flag("Address of a Ray cluster.", shown="this machine")]
    workers: Annotated[int, Flag("Ray workers, one model each.", default=2, least=1)]
    gpus_per_worker: Annotated[float, Flag("GPUs of each Ray worker.", default=0.0, least=0)]


class Options(_Reading, _Sampling, _Keeping, _Cutting, _Control, _Engine, _Reporting):
    """What a study of texts takes beside model and corpus; others take those of them that they can use.

    format, unit, text, pair, limit, sample, seed, split
        How a corpus that is named by its path is read, as in `regard.corpus.readers.source.Source`.
    output
        A folder for table, figures and report; without it nothing is written.
    long
        What becomes of examples the model cannot take whole: "truncate", "split" or "skip".
    strict
        Stop at a line that cannot be read, instead of counting it.
    control, control_seeds
        Repeat the study on the same shape with random weights, drawn three times unless given, and with shuffled ones:
        four more runs.
    resume, restart
        Go on where the checkpoint in `output` ends, or throw it away; without either, one that is there is refused.
    keep
        Leave the checkpoints of the finished run in `output`.
    report
        Called with the tally so far and the seconds since the start.
    engine, address, workers, gpus_per_worker
        "local", or "ray" and what Ray should use; controls run there, too.
    """


class TreeOptions(_Sampling, _Keeping, _Control, _Engine, _Reporting):
    """What a study of treebanks takes: sentences cannot be cut, and CoNLL-U has no columns to choose."""


class MentionOptions(_Sampling, _Keeping, _Control, _Engine, _Reporting):
    """What a study of coreference takes."""

    format: Annotated[str | None, Flag("gap, conll or winobias, if the names mislead.")]
    long: Annotated[str, Flag("Sentences longer than the model takes: truncate or skip.", default="truncate")]


class TaskOptions(_Reading, _Sampling, _Keeping, _Cutting, _Engine, _Reporting):
    """What a study of a task takes: no control, for random weights know no task."""


class ProbeOptions(_Sampling, _Keeping):
    """What a study of probes takes: features stay on this machine, so there is no other engine."""

    control: Annotated[
        bool, Flag("Leave random and shuffled weights of the same shape out.", default=True, name="--no-control")
    ]
    report: Callable[[str, int | None, int | None], None] | None
