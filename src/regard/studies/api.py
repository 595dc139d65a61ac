"""Studies: a question asked of a whole corpus, answered with tables, figures and a report.

Enters: a model and a corpus. Leaves: a `Result` whose numbers carry their baselines and intervals.

    result = regard.study.atlas("bert-base-uncased", "corpus.txt", unit="sentence", output="folder")
    result.table, result.figure(), result.report()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from regard.errors import UserError, WrongTypeError

if TYPE_CHECKING:
    import os

    from regard.corpus.readers.source import Source
    from regard.models.model import Model
    from regard.studies.result import Result

    Named = Model | str | os.PathLike[str] | None
    Corpus = Source | str | os.PathLike[str]

NAMES = ("atlas", "tokens", "norms", "similarity", "change", "syntax", "coref", "probe", "ablation")
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
    control, control_seeds
        Repeat the study on the same shape with random weights, drawn three times unless given, and with shuffled ones:
        four more runs.
    resume, restart
        Go on where the checkpoint in `output` ends, or throw it away; without either, one that is there is refused.
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
    control_seeds: int
    keep: bool
    resume: bool
    restart: bool
    report: Any
    engine: str
    address: str | None
    workers: int
    gpus_per_worker: float


_OF_SOURCE = ("format", "unit", "text", "pair", "limit", "sample", "seed", "split")
_OF_RUN = ("long", "strict", "resume", "restart", "report")


def atlas(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What every head does over a corpus: each pattern with its chance level and interval, and Kovaleva's types."""
    from regard.studies.atlas.reduce import Atlas

    return _run(Atlas(seed=options.get("seed", 0)), model, corpus, options)


def tokens(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention to special tokens, punctuation and neighbours, and its entropy: Clark et al. (2019), section 3."""
    from regard.studies.tokens.reduce import Tokens

    return _run(Tokens(seed=options.get("seed", 0)), model, corpus, options)


def norms(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention weights beside what they carry, ||alpha f(x)||: Kobayashi et al. (2020)."""
    from regard.studies.norms.reduce import Norms

    return _run(Norms(seed=options.get("seed", 0)), model, corpus, options)


def similarity(model: Named, corpus: Corpus, *, clusters: int | None = None, **options: Unpack[Options]) -> Result:
    """Jensen-Shannon distances between all heads, a map of them and `clusters` of them (the clearest unless given)."""
    from regard.studies.similarity.reduce import Similarity

    return _run(Similarity(seed=options.get("seed", 0), clusters=clusters), model, corpus, options)


def change(model: Named, other: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What changed from one model to another of the same shape: distances of maps, patterns gained and lost."""
    from regard.studies.change.reduce import Change

    return _run(Change(other=_loaded(other), seed=options.get("seed", 0)), model, corpus, options)


def syntax(
    model: Named, treebank: Corpus, *, least: int = 100, rows: str = "mean", **options: Unpack[Options]
) -> Result:
    """Which heads find syntactic heads in a CoNLL-U treebank: Clark et al. (2019), section 4.2.

    `least` instances make a relation worth a row; `rows` is how the pieces of an attending word are read: "mean", or
    "first" for its first piece alone. Sentences longer than the model takes are left out.
    """
    from regard.studies.syntax.reduce import Syntax

    study = Syntax(seed=options.get("seed", 0), least=least, rows=rows)
    return _run_on_trees(study, model, treebank, options)


def coref(
    model: Named,
    corpus: Corpus | Sequence[str | os.PathLike[str]],
    *,
    pieces: int = 128,
    rows: str = "mean",
    **options: Unpack[Options],
) -> Result:
    """Which heads find antecedents in GAP, CoNLL-2012 or WinoBias files: Clark et al. (2019), section 4.3.

    `corpus` may be several files, and folders: one corpus, such as WinoBias' pro and anti sentences. Documents are
    read in windows of whole sentences of up to `pieces` tokens; `rows` is how the pieces of an attending word are read:
    "mean", or "first" for its first piece alone.
    """
    from regard.corpus.readers.coreference import FORMATS, corpus_of
    from regard.corpus.readers.source import Source
    from regard.studies.coref.reduce import Coref

    if options.get("long", "truncate") == "split":
        raise UserError("documents are read in windows of whole sentences: long must be 'truncate' or 'skip'")
    if not isinstance(corpus, Source):
        places = corpus if isinstance(corpus, Sequence) and not isinstance(corpus, str) else [corpus]
        given = {name: value for name, value in options.items() if name in _OF_SOURCE}
        corpus = corpus_of([str(place) for place in places], **given)
        for name in set(given) - {"seed"}:
            options.pop(name)  # type: ignore[misc]
    if corpus.format not in FORMATS:
        raise UserError(f"coreference is read as {', '.join(FORMATS)}, not as {corpus.format!r}")
    return _run(Coref(seed=options.get("seed", 0), pieces=pieces, rows=rows), model, corpus, options)


def probe(
    model: Named,
    treebank: Corpus,
    test: Corpus | None = None,
    *,
    probes: Sequence[str] | None = None,
    ranks: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
    epochs: int = 12,
    least: int = 100,
    seeds: int = 3,
    **options: Unpack[Options],
) -> Result:
    """What linear probes read out of a model: Coenen et al., Clark et al. and Hewitt & Manning (all 2019).

    Parameters
    ----------
    model, treebank, test
        The probes learn from one CoNLL-U file and are tested on another; without it, a fifth of the first is set aside,
        whole documents where it has ten or more.
    probes
        Some of "pairs" (attention between two words: is there a dependency, and which), "selection" (attention: the
        head of every word) and "structural" (hidden states: distances in the tree); all unless given.
    ranks
        Ranks of the structural probe; layers are compared at the highest.
    epochs
        Most passes over the training sentences.
    least
        Instances in training that make a relation worth telling apart.
    seeds
        Times every probe is trained, each with another tenth of the sentences to stop by, other random weights to start
        from and another control task; numbers are means, and intervals have the spread. Also draws of random weights.
    **options
        limit, sample, seed, output, strict, resume, restart and control as for every study, but random and shuffled
        weights are probed unless control is False; `report` is called with what is going on, how much is done and how
        much there is (None where it is not counted).
    """
    from regard.studies.probe.run import PROBES, Probing, run_probes

    own = ("strict", "resume", "restart", "report", "control")
    unknown = sorted(set(options) - {*_OF_SOURCE, *own, "output"})
    if unknown:
        raise WrongTypeError(
            f"probes take no {', '.join(unknown)}; they take {', '.join((*_OF_SOURCE, *own, 'output'))}"
        )
    given: dict[str, Any] = {name: value for name, value in options.items() if name in own and value is not None}
    probing = Probing(
        _source(treebank, options),
        None if test is None else _source(test, options),
        probes=tuple(probes or PROBES),
        ranks=tuple(ranks),
        epochs=epochs,
        least=least,
        seeds=seeds,
        seed=options.get("seed", 0),
        **given,
    )
    return run_probes(_loaded(model), probing, options.get("output"))


def ablation(
    model: Named,
    corpus: Corpus,
    *,
    task: str | None = None,
    label: str | None = None,
    modes: Sequence[str] = ("zero", "uniform", "mean"),
    reference: Corpus | None = None,
    curve: bool = False,
    share: bool = True,
    **options: Unpack[Options],
) -> Result:
    """What each head, and each layer, is worth for a task: its score with them switched off.

    `task` is classification, masked-lm, causal-lm or sts (what the model is made for unless given), `label` the column
    of labels or scores. `modes` are ways to switch off: "zero", "uniform", "mean" (over `reference`, the first examples
    of the corpus unless given). `curve` also removes heads together, by importance, by ablation, at random and by
    pattern. `share` False computes every run whole, which gives the same numbers and takes longer.
    """
    from regard.ablation.tasks import task_for
    from regard.studies.ablation.reduce import AblationMap

    loaded, source = _loaded(model), _source(corpus, options)
    if source.once:
        raise UserError("an ablation study reads its corpus twice; name a file in place of standard input or a pipe")
    if options.get("control"):
        raise UserError("random weights know no task; an ablation study takes no control")
    asked = task_for(loaded, task, label)
    source = replace(source, keep=(asked.label,) if asked.label else ())
    study = AblationMap(
        source=source,
        task=asked.name,
        label=asked.label,
        modes=modes,
        reference=None if reference is None else _source(reference, {}),
        curve=curve,
        share=share,
        seed=options.get("seed", 0),
    )
    study.prepared(loaded)  # labels that make no sense are told before anything runs
    return _run(study, loaded, source, {n: v for n, v in options.items() if n == "seed" or n not in _OF_SOURCE})


def _run_on_trees(study: Any, model: Named, treebank: Corpus, options: Mapping[str, Any]) -> Result:
    """Run a study whose examples carry their trees."""
    if options.get("long", "skip") != "skip":
        raise UserError(f"a sentence cannot be cut with its tree: long must be 'skip', not {options['long']!r}")
    source = _source(treebank, options)
    if source.format not in (None, "conllu", "treebank"):
        raise UserError(f"trees are read from CoNLL-U files, not from the format {source.format!r}")
    rest = {name: value for name, value in options.items() if name == "seed" or name not in _OF_SOURCE}
    return _run(study, model, replace(source, format="treebank"), {**rest, "long": "skip"})


def _run(study: Any, model: Named, corpus: Corpus, options: Mapping[str, Any]) -> Result:
    """Load what is named, and run."""
    from regard.corpus.engine import Run
    from regard.studies.run import run_study

    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise WrongTypeError(f"a study takes no {', '.join(unknown)}; it takes {', '.join(Options.__annotations__)}")
    rest = {n: value for n, value in options.items() if n not in (*_OF_SOURCE, *_OF_RUN)}
    run = Run(_source(corpus, options), **{name: options[name] for name in _OF_RUN if name in options})
    return run_study(study, _loaded(model), run, **rest)


def _source(corpus: Corpus, options: Mapping[str, Any]) -> Source:
    from regard.corpus.readers.source import Source

    given = {name: options[name] for name in _OF_SOURCE if name in options}
    if not isinstance(corpus, Source):
        return Source(str(corpus), **given)
    also = sorted(set(given) - {"seed"})
    if also:
        raise UserError(f"{', '.join(also)} belongs to the Source when one is passed; set it there")
    return corpus


def _loaded(model: Named) -> Model:
    from regard.models.load import load
    from regard.models.model import Model

    return model if isinstance(model, Model) else load(model if model is None else str(model))
