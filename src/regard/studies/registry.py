"""Studies: a question asked of a whole corpus, answered with tables, figures and a report. This is `regard.study`.

Enters: a model and a corpus. Leaves: a `Result` whose numbers come with baselines and intervals.

    result = regard.study.atlas("bert-base-uncased", "corpus.txt", unit="sentence", output="folder")
    result.table, result.figure(), result.report()

A study is registered here once: the command line and the documentation offer what the functions of this module take.

Long on purpose: one short function per study, and what people read about its options.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from regard.base.errors import OutOfRangeError, UserError
from regard.studies.entry import (
    ALIGNED,
    MENTIONS,
    TEXTS,
    TEXTS_OR_IMAGES,
    TREEBANK,
    TREEBANKS,
    Corpus,
    Named,
    Registry,
    aligned,
    loaded,
    mentions,
    run_over,
    texts,
    texts_or_images,
    trees,
    with_trees,
)
from regard.studies.options import (
    AlignmentOptions,
    Flag,
    MentionOptions,
    Options,
    ProbeOptions,
    TaskOptions,
    TreeOptions,
)

if TYPE_CHECKING:
    from regard.studies.result import Result

STUDIES = Registry()
__all__ = [
    "ablation",
    "alignment",
    "atlas",
    "change",
    "coref",
    "deletion",
    "heads",
    "norms",
    "probe",
    "retrieval",
    "similarity",
    "sinks",
    "syntax",
    "tokens",
    "worth",
]

_LEAST = Flag("Fewest instances for which a relation gets a row.", least=1)
_ROWS = Flag("How to read the pieces of an attending word: mean, or first only.", metavar="WAY")


@STUDIES.add(ALIGNED)
def alignment(
    model: Named,
    corpus: Corpus,
    *,
    gold: Annotated[str | None, Flag("Links of each line's words in Pharaoh format, 0-0 1-2.", metavar="FILE")] = None,
    dictionary: Annotated[str | None, Flag("Words that translate each other: word TAB word.", metavar="FILE")] = None,
    parallel: Annotated[
        str | None, Flag("Other sentence pairs, from which a dictionary is learned (IBM model 1).", metavar="FILE")
    ] = None,
    **options: Unpack[AlignmentOptions],
) -> Result:
    """Which cross heads tell when each word of a sound begins, or which words of a translation belong together.

    Heads are ranked on one half of the corpus and tested on the other, both ways round. A speech model is asked for the
    onsets of words, beside its own list of alignment heads and a line through the text. A translation model is asked
    which words belong together, beside the diagonal; right links come from `gold`, from a `dictionary`, or from one
    that is learned from `parallel` pairs that are not in the corpus. The row of a token is the one that chooses the
    next token, and is read so.
    """
    from regard.studies.alignment.study import Alignment

    given = {"gold": gold, "dictionary": dictionary, "parallel": parallel}
    asked = {name: str(place) for name, place in given.items() if place is not None}
    source, seed = aligned(corpus, {**options, **asked}), options.get("seed", 0)
    if not asked:
        if options.get("control"):
            raise UserError("a control is for translations: untrained weights write no words that could be timed")
        return run_over(Alignment(seed=seed), model, source, options)
    if len(asked) > 1:
        raise UserError(f"links come from one place; choose one of {', '.join(f'--{name}' for name in asked)}")
    from regard.studies.alignment.word_study import WordAlignment

    ((kind, place),) = asked.items()
    return run_over(WordAlignment(kind=kind, place=place, corpus=source.place, seed=seed), model, source, options)


def _compare_types(results: Mapping[str, Result], folder: Path) -> None:
    from regard.studies.atlas.type_shares import compared_types

    compared_types(results, folder)


@STUDIES.add(
    TEXTS_OR_IMAGES, compare=_compare_types, asks=("Which pattern does each head follow?", "每个头遵循哪种模式？")
)
def atlas(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What every head does: each pattern with chance level and interval, and Kovaleva's types of maps."""
    from regard.patterns.saved import saved_rules
    from regard.studies.atlas.study import Atlas

    rules, source = saved_rules(), texts_or_images(corpus, options)
    if any(rule.needs_trees for rule in rules):
        source = with_trees(source)
    own = Atlas(seed=options.get("seed", 0), rules=[rule.record for rule in rules])
    return run_over(own, model, source, options)


@STUDIES.add(TEXTS, asks=("What does each head do, with examples?", "每个头在做什么？附例句"))
def heads(
    model: Named,
    corpus: Corpus,
    *,
    predictive: Annotated[
        int,
        Flag("Inputs for which a language model is asked which words predict which; 0: none.", least=0, metavar="N"),
    ] = 32,
    vectors: Annotated[
        int,
        Flag("Positions whose q and k are kept, for nearest rows and maps of queries and keys; 0: none.", least=0),
    ] = 4096,
    **options: Unpack[Options],
) -> Result:
    """A portrait of every head: what it does when awake, tested on new text, with examples; a page per head.

    Each page shows the head's strongest links, ordinary ones of every strength, the tokens that look and are looked at,
    and how far it looks; with a CoNLL-U treebank also between which parts of speech and along which relations. For the
    first `predictive` inputs, cut to 32 tokens, a language model is asked which words predict which. q and k of a
    sample of up to `vectors` positions (50,000 at most) are kept, for `regard.nearest` and maps of queries and keys.
    """
    from regard.studies.heads.sample import MOST
    from regard.studies.heads.study import Heads
    from regard.studies.heads.vocabulary import frequent_tokens

    ready, source = loaded(model), with_trees(texts(corpus, options))
    if source.once:
        raise UserError("portraits read their corpus more than once; name a file in place of standard input or a pipe")
    if vectors > MOST:
        raise OutOfRangeError(f"vectors must be from 0 to {MOST:,}, not {vectors:,}")
    counted = frequent_tokens(ready, source, options.get("long", "truncate"))
    study = Heads(counted, seed=options.get("seed", 0), predictive=predictive, vectors=vectors)
    return run_over(study, ready, source, options)


@STUDIES.add(TEXTS, asks=("Where does attention go?", "注意力去了哪里？"))
def tokens(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention to special tokens, punctuation and neighbours, and its entropy: Clark et al. (2019), section 3."""
    from regard.studies.tokens.study import Tokens

    return run_over(Tokens(seed=options.get("seed", 0)), model, texts(corpus, options), options)


@STUDIES.add(TEXTS_OR_IMAGES, asks=("Where it looks, and what arrives", "看哪里与传来什么"))
def norms(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Attention weights and contributions ||αf(x)||, and norms against word frequency: Kobayashi et al. (2020)."""
    from regard.studies.norms.study import Norms

    return run_over(Norms(seed=options.get("seed", 0)), model, texts_or_images(corpus, options), options)


@STUDIES.add(TEXTS, asks=("Which ranking finds the tokens that matter?", "哪种排序能找出要紧的词元？"))
def deletion(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """Which ranking of tokens finds those that matter: rollout, attention, gradient x input, worth; by deletion.

    The first tokens of each ranking are hidden from the model, and what it makes of the text is compared: the
    probability of its own next word or label, or the direction of the text's mean hidden state.
    """
    from regard.studies.deletion.study import Deletion

    return run_over(Deletion(seed=options.get("seed", 0)), model, texts(corpus, options), options)


@STUDIES.add(TEXTS, asks=("What does each link change?", "每条连线改变了什么？"))
def worth(model: Named, corpus: Corpus, **options: Unpack[Options]) -> Result:
    """What links are worth for a prediction of each text, by class of their keys, beside weights and contributions."""
    from regard.studies.worth.study import WorthStudy

    return run_over(WorthStudy(seed=options.get("seed", 0)), model, texts(corpus, options), options)


@STUDIES.add(TEXTS_OR_IMAGES, asks=("Which heads are alike?", "哪些头相似？"))
def similarity(
    model: Named,
    corpus: Corpus,
    *,
    clusters: Annotated[
        int | None, Flag("Number of clusters of heads.", least=1, shown="the clearest number", metavar="N")
    ] = None,
    **options: Unpack[Options],
) -> Result:
    """Distances between all heads, a map of them coloured by pattern, and clusters.

    Distances are Jensen-Shannon's; `clusters` is the number of clusters, the clearest one unless given.
    """
    from regard.studies.similarity.study import Similarity

    study = Similarity(seed=options.get("seed", 0), clusters=clusters)
    return run_over(study, model, texts_or_images(corpus, options), options)


@STUDIES.add(TEXTS_OR_IMAGES)
def change(
    model: Annotated[Named, Flag("The model before: hub name or folder.", name="model_a")],
    other: Annotated[Named, Flag("The model after, of the same shape.", name="model_b")],
    corpus: Corpus,
    **options: Unpack[Options],
) -> Result:
    """What training changed between two models of the same shape: distances of maps, patterns gained and lost."""
    from regard.studies.change.study import Change

    study = Change(other=loaded(other), seed=options.get("seed", 0))
    return run_over(study, model, texts_or_images(corpus, options), options)


@STUDIES.add(TREEBANKS, asks=("Which heads know grammar?", "哪些头懂语法？"))
def syntax(
    model: Named,
    treebank: Corpus,
    *,
    least: Annotated[int, _LEAST] = 100,
    rows: Annotated[str, _ROWS] = "mean",
    **options: Unpack[TreeOptions],
) -> Result:
    """Which heads find syntactic heads: accuracy by relation, compared with fixed offsets and random weights.

    As in Clark et al. (2019), section 4.2, over a CoNLL-U treebank. A relation gets a row if it has `least` instances;
    `rows` says how the pieces of an attending word are read: "mean", or "first" for its first piece only. Sentences
    too long for the model are left out.
    """
    from regard.studies.syntax.study import Syntax

    study = Syntax(seed=options.get("seed", 0), least=least, rows=rows)
    return run_over(study, model, trees(treebank, options), {**options, "long": "skip"})


@STUDIES.add(MENTIONS, asks=("Which heads know who “he” is?", "哪些头懂得“他”指谁？"))
def coref(
    model: Named,
    corpus: Corpus | Sequence[str | os.PathLike[str]],
    *,
    pieces: Annotated[int, Flag("Most tokens per window of whole sentences.", least=8)] = 128,
    rows: Annotated[str, _ROWS] = "mean",
    **options: Unpack[MentionOptions],
) -> Result:
    """Which heads find antecedents, compared with rules and random weights; WinoBias' gap if pro and anti are given.

    As in Clark et al. (2019), section 4.3, over GAP, CoNLL-2012 or WinoBias files. `corpus` may be several files and
    folders that form one corpus, such as WinoBias' pro and anti sentences. Documents are read in windows of whole
    sentences of up to `pieces` tokens; `rows` says how the pieces of an attending word are read: "mean", or "first" for
    its first piece only.
    """
    from regard.studies.coref.study import Coref

    if options.get("long", "truncate") == "split":
        raise UserError("documents are read in windows of whole sentences: long must be 'truncate' or 'skip'")
    study = Coref(seed=options.get("seed", 0), pieces=pieces, rows=rows)
    return run_over(study, model, mentions(corpus, options), options)


@STUDIES.add(TREEBANK, reports_steps=True, asks=("How much grammar can be read from it?", "能从中读出多少语法？"))
def probe(  # long because of its arguments and their descriptions
    model: Named,
    treebank: Corpus,
    test: Annotated[
        Corpus | None,
        Flag("Another treebank to test on.", shown="a fifth of the first one's documents", metavar="FILE"),
    ] = None,
    *,
    probes: Annotated[
        Sequence[str] | None,
        Flag("pairs, selection or structural; can be repeated.", name="--probe", shown="all three"),
    ] = None,
    ranks: Annotated[Sequence[int], Flag("Ranks of the structural probe.", metavar="N,N,...")] = (
        1,
        2,
        4,
        8,
        16,
        32,
        64,
    ),
    epochs: Annotated[int, Flag("Most passes over the training sentences.", least=1)] = 12,
    least: Annotated[int, Flag("Fewest instances for which a relation is probed.", least=1)] = 100,
    seeds: Annotated[int, Flag("Training runs per probe, and draws of random weights.", least=1)] = 3,
    **options: Unpack[ProbeOptions],
) -> Result:
    """What can be read from attention and hidden states: dependencies, relations, heads, distances in the tree.

    Linear probes as in Coenen et al., Clark et al. and Hewitt & Manning (all 2019).

    Parameters
    ----------
    model, treebank, test
        The probes learn from one CoNLL-U file and are tested on another; without a second one, a fifth of the first is
        set aside, whole documents if it has ten or more.
    probes
        Some of "pairs" (attention between two words: is there a dependency, and which), "selection" (attention: the
        head of every word) and "structural" (hidden states: distances in the tree); all unless given.
    ranks
        Ranks of the structural probe; layers are compared at the highest.
    epochs
        Most passes over the training sentences.
    least
        Fewest instances in training for which a relation is probed.
    seeds
        Training runs per probe, each with a different tenth of the sentences to stop by, different initial weights and
        a different control task; numbers are means, and intervals include the spread. Also draws of random weights.
    **options
        limit, sample, seed, output, strict, resume, restart, keep and control as for other studies, but random and
        shuffled weights are probed unless control is False; `report` is called with the current step, how much is
        done and how much there is (None if it is not counted).
    """
    from regard.corpus.readers.reading import check
    from regard.studies.probe.study import PROBES, Probe

    other = None if test is None else trees(test, options)
    if other is not None:
        check(other)
    study = Probe(
        test=other,
        probes=tuple(probes or PROBES),
        ranks=tuple(ranks),
        epochs=epochs,
        least=least,
        seeds=seeds,
        seed=options.get("seed", 0),
        report=options.get("report"),
    )
    changed = {"control": options.get("control", True), "control_seeds": seeds, "long": "skip", "report": None}
    return run_over(study, model, trees(treebank, options), {**options, **changed})


@STUDIES.add(TEXTS, asks=("Where does attention park when it has nothing to do?", "闲着的注意力停在哪里？"))
def sinks(
    model: Named,
    corpus: Corpus,
    *,
    cut: Annotated[int, Flag("Texts on which looks at sinks are cut; 0: none.", least=0, metavar="N")] = 16,
    **options: Unpack[Options],
) -> Result:
    """Attention sinks: which tokens, in which heads and layers, how long their keys and values are, what cutting does.

    For a causal language model, looks at resting places are cut on `cut` texts, one of each of the first documents,
    layer by layer, and the loss is compared with that after cutting random other links of the same weight.
    """
    from regard.studies.sinks.study import Sinks

    return run_over(Sinks(seed=options.get("seed", 0), cut=cut), model, texts(corpus, options), options)


@STUDIES.add(TEXTS, asks=("Which heads fetch a sentence from a long text?", "哪些头能从长文本中取回一句话？"))
def retrieval(
    model: Named,
    corpus: Corpus,
    *,
    lengths: Annotated[Sequence[int], Flag("Lengths of haystacks in tokens.", metavar="N,N,...")] = (128, 512, 1024),
    depths: Annotated[int, Flag("Depths at which needles are planted.", least=1)] = 10,
    **options: Unpack[Options],
) -> Result:
    """Which heads of a causal language model fetch a planted sentence, and whether it can answer without them.

    As in Wu et al. (2024): texts of the corpus are joined to haystacks, in each of which a sentence is planted, at one
    of `depths` places, once for each of `lengths`. A head's score is the share of the needle's tokens for which its
    strongest key is the token to copy. Then the best ten heads are replaced by their means, and as many random heads of
    the same layers.
    """
    from regard.studies.retrieval.study import Retrieval

    source = texts(corpus, options)
    if source.once:
        raise UserError("this study reads its corpus twice; name a file in place of standard input or a pipe")
    study = Retrieval(lengths=tuple(lengths), depths=depths, seed=options.get("seed", 0))
    return run_over(study, model, source, options)


@STUDIES.add(TEXTS, asks=("What is each head worth for a task?", "每个头对任务有多大价值？"))
def ablation(
    model: Named,
    corpus: Corpus,
    *,
    task: Annotated[
        str | None,
        Flag("classification, masked-lm, causal-lm or sts.", shown="what the model is made for", metavar="TASK"),
    ] = None,
    label: Annotated[
        str | None, Flag("Column with labels or scores.", shown="label; score for sts", metavar="COL")
    ] = None,
    modes: Annotated[
        Sequence[str],
        Flag("zero, uniform or mean; can be repeated.", name="--mode", shown="all three", metavar="MODE"),
    ] = ("zero", "uniform", "mean"),
    reference: Annotated[
        Corpus | None, Flag("Corpus for the mean outputs.", shown="the first examples", metavar="FILE")
    ] = None,
    curve: Annotated[
        bool, Flag("Also remove heads together: by importance, ablation, pattern, and at random.")
    ] = False,
    share: bool = True,
    **options: Unpack[TaskOptions],
) -> Result:
    """What each head is worth for a task: the score with each head, and each layer, switched off.

    `task` is classification, masked-lm, causal-lm or sts (what the model is made for unless given), `label` the column
    of labels or scores. `modes` are ways to switch heads off: "zero", "uniform", "mean" (over `reference`, the first
    examples of the corpus unless given). `curve` also removes heads together, by importance, by ablation, at random and
    by pattern. `share=False` computes every run in full, which gives the same numbers and takes longer.
    """
    from regard.ablation.tasks import task_for
    from regard.studies.ablation.study import AblationMap

    ready, source = loaded(model), texts(corpus, options)
    if source.once:
        raise UserError("an ablation study reads its corpus twice; name a file in place of standard input or a pipe")
    chosen = task_for(ready, task, label)
    source = replace(source, keep=(chosen.label,) if chosen.label else ())
    how: dict[str, Any] = {"task": chosen.name, "label": chosen.label, "modes": modes, "curve": curve, "share": share}
    other = None if reference is None else texts(reference, {})
    study = AblationMap(source=source, reference=other, seed=options.get("seed", 0), **how)
    study.prepared(ready)  # labels that make no sense are reported before anything runs
    return run_over(study, ready, source, options)
