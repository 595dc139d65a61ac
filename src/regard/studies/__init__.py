"""Studies: a question asked of a whole corpus, answered with tables, figures and a report.

Enters: a model and a corpus. Leaves: a `Result` whose numbers carry their baselines and intervals.

    result = regard.studies.atlas("bert-base-uncased", "corpus.txt", unit="sentence", output="folder")
    result.table, result.figure(), result.report()
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

if TYPE_CHECKING:
    import os

    from regard.corpus.readers import Source
    from regard.model import Model
    from regard.studies.result import Result

    Named = Model | str | os.PathLike[str] | None
    Corpus = Source | str | os.PathLike[str]

NAMES = ("atlas", "tokens", "norms", "similarity", "change")
__all__ = [*NAMES, "Options"]


class Options(TypedDict, total=False):
    """What every study takes beside model and corpus.

    format, unit, text, pair, limit, sample, seed, split
        How a corpus that is named by its path is read, as in `regard.corpus.Source`.
    output
        A folder for table, figures and report; without it nothing is written.
    long
        What becomes of examples the model cannot take whole: "truncate", "split" or "skip".
    strict
        Stop at a line that cannot be read, instead of counting it.
    control
        Repeat the study on the same shape with random weights.
    resume
        Go on where the checkpoint in `output` ends.
    report
        Called with the tally so far and the seconds since the start.
    engine, address, workers, gpus_per_worker
        "local", or "ray" and what Ray should use.
    """

    format: str | None
    unit: str
    text: str | None
    pair: str | None
    limit: int | None
    sample: int | None
    seed: int
    split: str
    output: str | Path | None
    long: str
    strict: bool
    control: bool
    keep: bool
    resume: bool
    report: Any
    engine: str
    address: str | None
    workers: int
    gpus_per_worker: float


_OF_SOURCE = ("format", "unit", "text", "pair", "limit", "sample", "seed", "split")
_OF_RUN = ("long", "strict", "resume", "report")


def atlas(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What every head does over a corpus: each pattern with its chance level and interval, and Kovaleva's types."""
    from regard.studies.atlas_sums import Atlas

    return _run(Atlas(seed=options.get("seed", 0)), model, corpus, options)


def tokens(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention to special tokens, punctuation and neighbours, and its entropy: Clark et al. (2019), section 3."""
    from regard.studies.tokens_sums import Tokens

    return _run(Tokens(seed=options.get("seed", 0)), model, corpus, options)


def norms(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention weights beside what they carry, ||alpha f(x)||: Kobayashi et al. (2020)."""
    from regard.studies.norms_sums import Norms

    return _run(Norms(seed=options.get("seed", 0)), model, corpus, options)


def similarity(model: Named, corpus: Corpus, *, clusters: int | None = None, **options: Unpack[Options]) -> Result:
    """Jensen-Shannon distances between all heads, a map of them and `clusters` of them (the clearest unless given)."""
    from regard.studies.similarity_sums import Similarity

    return _run(Similarity(seed=options.get("seed", 0), clusters=clusters), model, corpus, options)


def change(model: Named, other: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What changed from one model to another of the same shape: distances of maps, patterns gained and lost."""
    from regard.studies.change_sums import Change

    return _run(Change(other=_loaded(other), seed=options.get("seed", 0)), model, corpus, options)


def _run(study: Any, model: Named, corpus: Corpus, options: Mapping[str, Any]) -> Result:
    """Load what is named, and run."""
    from regard.corpus.engine import Run
    from regard.studies.run import run_study

    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"a study takes no {', '.join(unknown)}; it takes {', '.join(Options.__annotations__)}")
    rest = {n: value for n, value in options.items() if n not in (*_OF_SOURCE, *_OF_RUN)}
    run = Run(_source(corpus, options), **{name: options[name] for name in _OF_RUN if name in options})
    return run_study(study, _loaded(model), run, **rest)


def _source(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    from regard.corpus.readers import Source

    given = {name: options[name] for name in _OF_SOURCE if name in options}
    if not isinstance(corpus, Source):
        return Source(str(corpus), **given)
    also = sorted(set(given) - {"seed"})
    if also:
        raise ValueError(f"{', '.join(also)} belongs to the Source when one is passed; set it there")
    return corpus


def _loaded(model: Named) -> Model:
    from regard.model import Model, load

    return model if isinstance(model, Model) else load(model if model is None else str(model))
