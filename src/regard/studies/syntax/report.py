"""From the sums of `syntax` to its tables, figures and examples.

Enters: sums over a treebank. Leaves: a `Result`: a row per head, direction and relation; the best head of each relation
next to the best fixed offset and the control; figures; sentences with the heads' arcs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Sums, ratio
from regard.measures.intervals import between, interval, resampled
from regard.studies.base import StudyContext
from regard.studies.chart import MOST, Bar, Chart
from regard.studies.result import Result
from regard.studies.syntax.counts import ALL, Best, Counted, Counts, DirectedHead, offset_of
from regard.studies.syntax.examples import examples_part
from regard.studies.syntax.figures import Controlled, gain_picture, relation_picture
from regard.studies.syntax.stanford import stanford, with_stanford

if TYPE_CHECKING:
    import pandas as pd

TREE = "undirected tree"
_SHOWN = 6  # relations whose head is shown on an example sentence


def syntax_result(sums: Sums, context: StudyContext, least: int) -> Result:
    """Tables, figures and examples of the heads that find syntactic heads."""
    counted = Counted(sums)
    others = {} if context.controls is None else {name: Counted(s) for name, s in context.controls.named.items()}
    names = counted.frequent(least)
    bests = [counted.best(name) for name in names]
    beaten = sorted((best for best in bests if best.beats and best.relation != ALL), key=lambda best: -best.gain[0])
    controls = {name: [other.best(name) for other in others.values()] for name in names} if others else {}
    tables = {
        "Best head of each relation": best_table(bests, controls),
        "Undirected trees": _tree_table({"model": counted, **others}),
        "UD relations and Stanford names": _names_table(counted),
    }
    chosen = [(best.relation, best.place) for best in beaten[:_SHOWN]]
    return Result(
        study="syntax",
        title=f"Which heads of {context.model.name} know grammar",
        table=head_table(counted, names),
        meta=context.meta(),
        drawers=_drawers(counted, bests, controls, "documents" if context.tally.documented else "sentences"),
        findings=_findings(counted, bests, beaten, controls, others, least, context),
        chart=_chart(beaten),
        cautions=[*context.cautions(), *_cautions(sums)],
        tables=tables,
        sections={"Example sentences": examples_part(context, chosen)},
    )


def _chart(beaten: list[Best]) -> Chart | None:
    """The relations that heads find better than a fixed offset, clearest first."""
    bars = [
        Bar(with_stanford(best.relation), best.head.value, best.offset.value, best.place.name) for best in beaten[:MOST]
    ]
    about = "How often the best head finds the other word, on held-out sentences"
    return Chart(about, bars, top=1.0, tick="the best fixed distance") if bars else None


# -- tables --------------------------------------------------------------------------------------------------


def head_table(counted: Counted, names: list[str]) -> pd.DataFrame:
    """A row per relation, head and direction: accuracy over all sentences with its interval, and over each half."""
    import pandas as pd

    parts = []
    for name in names:
        counts = counted.relations[name]
        best = counted.best(name)
        offset = ratio(counts.offsets[..., best.offset.best].sum(), counts.instances.sum())
        parts.append(_accuracies(name, counted.places, counts, float(offset)))
    chain = ratio(counted.trees.offsets.sum(), counted.trees.instances.sum())
    places = [DirectedHead(*head, None) for head in counted.heads]
    parts.append(_accuracies(TREE, places, counted.trees, float(chain)))
    return pd.concat(parts, ignore_index=True)


def _accuracies(name: str, places: list[DirectedHead], counts: Counts, baseline: float) -> pd.DataFrame:
    import pandas as pd

    hits, instances = (resampled(array.sum(axis=1)) for array in (counts.hits, counts.instances))
    values = ratio(hits, instances[:, None])  # (1 + draws, places)
    low, high = interval(values, counts.clusters)
    halves = ratio(counts.hits.sum(axis=0), counts.instances.sum(axis=0)[:, None])  # (2, places)
    table = pd.DataFrame(places, columns=DirectedHead._fields).assign(
        relation=name,
        stanford="" if name in (ALL, TREE) else stanford(name),
        instances=counts.total,
        value=values[0],
        low=low,
        high=high,
        baseline=baseline,
        even=halves[0],
        odd=halves[1],
    )
    table["direction"] = table["direction"].fillna("both")
    return table.sort_values("value", ascending=False, kind="stable", ignore_index=True)


def best_table(bests: list[Best], controls: Controlled) -> pd.DataFrame:
    """Like Clark's Table 1, in per cent; all accuracies are held out."""
    import pandas as pd

    rows = []
    for best in bests:
        low, high = (100 * limit for limit in best.head.limits)
        gain_low, gain_high = (100 * limit for limit in best.gain_limits)
        row: dict[str, Any] = {
            "relation": best.relation,
            "Stanford": "" if best.relation == ALL else stanford(best.relation),
            "instances": best.instances,
            "head": best.place.name,
            "halves agree": "yes" if best.head.agree else "no",
            "accuracy": 100 * best.head.value,
            "low": low,
            "high": high,
            "offset": f"{offset_of(best.offset):+d}",
            "baseline": 100 * best.offset.value,
            "gain": 100 * float(best.gain[0]),
            "gain low": gain_low,
            "gain high": gain_high,
            "beats it": "yes" if best.beats else "no",
        }
        if best.relation in controls:
            *random, shuffled = controls[best.relation]
            values = [100 * other.head.value for other in random]
            row |= {
                "control": float(np.mean(values)),
                "control lowest": min(values),
                "control highest": max(values),
                "control gain high": max(100 * other.gain_limits[1] for other in random),
                "shuffled": 100 * shuffled.head.value,
                "shuffled gain high": 100 * shuffled.gain_limits[1],
            }
        rows.append(row)
    return pd.DataFrame(rows)


def _tree_table(every: dict[str, Counted]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for name, one in every.items():
        best = one.best_tree()
        low, high = (100 * limit for limit in best.head.limits)
        rows.append(
            {
                "of": name,
                "head": best.place.name,
                "UUAS": 100 * best.head.value,
                "low": low,
                "high": high,
                "chain of neighbours": 100 * best.offset.value,
                "edges": best.instances,
            }
        )
    return pd.DataFrame(rows)


def _names_table(counted: Counted) -> pd.DataFrame:
    import pandas as pd

    rows = [(name, stanford(name), one.total) for name, one in counted.relations.items() if name != ALL]
    return pd.DataFrame(rows, columns=["UD", "Stanford", "instances"])


# -- figures and sentences -----------------------------------------------------------------------------------


def _drawers(counted: Counted, bests: list[Best], controls: Controlled, drawn: str) -> dict[str, Any]:
    drawers: dict[str, Any] = {
        "relations": (
            f"Held-out accuracy of the best head of each relation (95% over {drawn}), the best fixed offset, and the "
            "best head of random weights (mean and range over draws) and of shuffled ones where controls were run.",
            lambda: gain_picture(bests, controls),
        )
    }
    for kind in dict.fromkeys(kind for kind, _, _ in counted.heads):
        drawers[f"{kind}-heads"] = (
            f"{kind}: accuracy of every head for each relation, the better of both directions.",
            lambda kind=kind: relation_picture(counted, bests, kind),
        )
    return drawers


def _findings(
    counted: Counted,
    bests: list[Best],
    beaten: list[Best],
    controls: Controlled,
    others: dict[str, Counted],
    least: int,
    context: StudyContext,
) -> list[str]:
    relations = [best for best in bests if best.relation != ALL]
    every, tree = bests[-1], counted.best_tree()
    sentences = [
        f"{len(beaten)} of {len(relations)} relations have a head that beats the best fixed offset by more than the "
        "interval." + _unsure(relations),
        *(_sentence(best) for best in beaten),
        f"{context.tally.inputs:,} sentences, {every.instances:,} words; {len(relations)} relations have at least "
        f"{least:,} instances. Heads and offsets were chosen on one half of the sentences and scored on the other.",
        f"All relations, roots and punctuation included: {_sentence(every)}",
        f"Undirected trees without punctuation: the spanning tree of head {tree.place.name} has "
        f"{_percent(tree.head)} of the true edges, joining neighbours {100 * tree.offset.value:.1f}%.",
    ]
    for n, (of, other) in enumerate(others.items()):
        better = [name for name, bests in controls.items() if bests[n].beats and name != ALL]
        sentences.append(
            f"Control, {of}: {len(better)} of {len(relations)} relations have a head that beats the best "
            f"fixed offset{': ' + ', '.join(better) if better else ''}; all relations "
            f"{_percent(controls[ALL][n].head)}, trees {_percent(other.best_tree().head)}."
        )
    return sentences


def _unsure(relations: list[Best]) -> str:
    """How many relations have no interval, because too few documents contain them."""
    unsure = sum(np.isnan(best.gain_limits[0]) for best in relations)
    return f" {unsure} have no interval: too few documents contain them." if unsure else ""


def _sentence(best: Best) -> str:
    low, high = (100 * limit for limit in best.gain_limits)
    called = "" if best.relation == ALL else f"{with_stanford(best.relation)}: "
    return (
        f"{called}head {best.place.name} {_percent(best.head)}, offset {offset_of(best.offset):+d} "
        f"{100 * best.offset.value:.1f}%, gain {100 * float(best.gain[0]):.1f}{between(low, high, '.1f')} points"
        f"{'' if best.head.agree else '; the halves chose different heads'}."
    )


def _percent(choice: Any) -> str:
    low, high = (100 * limit for limit in choice.limits)
    return f"{100 * choice.value:.1f}%{between(low, high, '.1f')}"


def _cautions(sums: Sums) -> list[str]:
    words, without, headless = (int(number) for number in np.asarray(sums["words"]))
    cautions = [
        "dep → head: the word a dependent attends to most; dep ← head: the word that attends to the dependent most. "
        "Relations keep their subtypes, as the treebank writes them.",
        "Word order confounds syntax with position: a head is interesting as far as it beats the best fixed offset.",
    ]
    if without:
        cautions.append(
            f"{without:,} of {words:,} words have no piece of their own (characters the tokenizer drops, or a piece "
            f"shared with the word before) and are left out, and so are {headless:,} whose head has none."
        )
    return cautions
