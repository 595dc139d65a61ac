"""How much grammar can be read from a model: probes of the default model on English EWT."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from blocks import Blocks, table

PAGE = "how-to/probe-for-syntax.md"
TUTORIAL = "tutorials/what-does-bert-look-at.md"
EXPLANATION = "explanation/what-attention-tells.md"
SENTENCES = 2000
MEASURES = {
    "dependency": "is there a dependency",
    "relation": "which relation",
    "UAS": "head of every word, UAS",
    "UUAS": "structural, UUAS",
    "DSpr": "structural, Spearman",
}
STARS = ("UUAS", "DSpr")  # their control task needs no memory


class Numbers:
    """What was measured, read as per cents."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found
        self.values, self.above = (
            pd.DataFrame(found[name]).set_index(["measure", "of"]) for name in ("scores", "differences")
        )

    def short(self, measure: str, of: str) -> str:
        """A score alone; nothing where there is none."""
        return f"{100 * self.values.value[measure, of]:.1f}" if (measure, of) in self.values.index else ""

    def whole(self, measure: str, of: str) -> str:
        """A score, or a difference of scores, with its interval."""
        row = (self.values if (measure, of) in self.values.index else self.above).loc[(measure, of)]
        return f"{100 * row['value']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"

    def gain(self, measure: str, of: str) -> str:
        """A difference of scores, in points."""
        return f"{100 * self.above.value[measure, of]:.1f}"

    def remembered(self, measure: str) -> str:
        """What the control task is above what takes no memory, in points."""
        simple = max(self.values.value[measure, f"control task, {of}"] for of in ("majority", "distance"))
        return f"{100 * (self.values.value[measure, 'control task'] - simple):.1f}".replace("-", "−")

    def spread(self, measure: str) -> str:
        """The standard deviation between training runs, in points."""
        return f"{100 * self.values.spread[measure, 'model']:.2f}"


def measure(data: Path) -> dict[str, Any]:
    """The study as published."""
    from regard import study
    from regard.corpus.readers.source import Source

    start = time.process_time()
    places = [data / "ud_english_ewt" / f"en_ewt-ud-{name}.conllu" for name in ("train-first", "dev")]
    result = study.probe(None, *(Source(str(place), sample=SENTENCES) for place in places))
    tables = result.tables
    return {
        "scores": result.table.to_dict("records"),
        "differences": tables["Against baselines and controls"].to_dict("records"),
        "relations": len(tables["Recall by relation"]),
        **{what: tables[f"Structural probe by {what}"].to_dict("records") for what in ("layer", "rank")},
        "sentences": dict(result.meta["sentences"]),
        "tally": dict(result.meta["tally"]),
        "minutes": (time.process_time() - start) / 60,
        "chosen layer": int(result.meta["layer"]),
    }


def scores(numbers: Numbers) -> str:
    """Every score beside its baselines and controls."""
    columns = ("one direction", "distance", "majority", "random weights", "shuffled weights")
    rows = [
        [said, f"**{numbers.whole(m, 'model')}**", numbers.spread(m), *(numbers.short(m, of) for of in columns)]
        for m, said in MEASURES.items()
    ]
    return table(["%", "model", "± runs", *columns], rows)


def selectivity(numbers: Numbers) -> str:
    """The control task beside the task, for the probe and for distance alone."""
    rows = [
        [
            said,
            numbers.short(m, "model"),
            numbers.short(m, "control task"),
            f"**{numbers.whole(m, 'selectivity')}**" if m not in STARS else "n/a",
            numbers.short(m, "distance"),
            numbers.short(m, "control task, distance"),
            numbers.short(m, "control task, majority"),
        ]
        for m, said in MEASURES.items()
    ]
    head = ["%", "task", "control", "selectivity", "distance: task", "distance: control", "majority: control"]
    star = numbers.short("UUAS", "control task, majority")
    return (
        f"{table(head, rows)}\n\nSelectivity of the structural probe is n/a: a star, all words on the first or the last "
        f"one,\nhas {star} % of the edges of its control task (its majority) and remembers nothing."
    )


def papers(numbers: Numbers) -> str:
    """The papers' numbers beside these."""
    relations = numbers.found["relations"]

    def both(measure: str, more: str = "") -> str:
        return f"{numbers.short(measure, 'model')}{more} (one direction {numbers.short(measure, 'one direction')})"

    rows = [
        ["Coenen et al.: is there a dependency", both("dependency"), "85.8"],
        ["Coenen et al.: which relation", both("relation", f" of {relations} relations"), "71.9 of 30"],
        ["Clark et al.: UAS from attention alone", numbers.short("UAS", "model"), "61 (Penn Treebank)"],
        ["Hewitt & Manning: UUAS", numbers.short("UUAS", "model"), "80"],
        ["Hewitt & Manning: Spearman", numbers.short("DSpr", "model"), "85"],
    ]
    return table(["%", "here (6 layers x 12 heads)", "paper (BERT-base)"], rows)


def by(numbers: Numbers, what: str) -> str:
    """The structural probe by layer or rank, as a wide table."""
    wide = pd.DataFrame(numbers.found[what]).pivot(index="measure", columns=what, values="value")
    rows = [[measure, *(f"{100 * value:.1f}" for value in wide.loc[measure])] for measure in ("UUAS", "DSpr")]
    return table([what, *map(str, wide.columns)], rows)


def read(numbers: Numbers) -> str:
    """What was read and left out."""
    told, tally = numbers.found["sentences"], numbers.found["tally"]
    drawn = "documents" if tally["documented"] else "sentences"
    return (
        f"Learned from {told['training']:,} sentences, stopped by {told['development']:,} more of the same file\n"
        f"(in the first run; the others by others), tested on {told['test']:,} of the other file; 95 % intervals over\n"
        f"{drawn} and training runs in brackets. {told['short']:,} of {tally['examples']:,} sentences have fewer\n"
        f"than two words, {told['lost']:,} of {told['words']:,} words no piece; both are left out. Layer\n"
        f"{numbers.found['chosen layer']} was chosen for the structural probe."
    )


def says(numbers: Numbers) -> str:
    """What the scores say."""
    short, gain = numbers.short, numbers.gain
    return (
        "- **Attention knows which words depend on each other**, beyond where they stand: "
        f"{gain('dependency', 'above distance')} points above\n  distance alone, "
        f"{gain('dependency', 'above random weights')} above random weights, "
        f"{gain('dependency', 'above shuffled weights')} above shuffled ones. Most of the\n  "
        f"{short('dependency', 'model')} % is distance, though: random pairs are far apart, dependencies are not.\n"
        f"- **It knows the relation even better**: distance tells {short('relation', 'distance')} % of them, attention "
        f"{short('relation', 'model')} %.\n"
        "- **How much may be remembered words**: on the control task it is right in "
        f"{short('dependency', 'control task')}, {short('relation', 'control task')} and\n  "
        f"{short('UAS', 'control task')} %, where always saying the same gives "
        f"{short('dependency', 'control task, majority')}, {short('relation', 'control task, majority')} and "
        f"{short('UAS', 'control task, majority')} %\n  and distance alone "
        f"{short('dependency', 'control task, distance')}, {short('relation', 'control task, distance')} and "
        f"{short('UAS', 'control task, distance')} %: {numbers.remembered('dependency')}, "
        f"{numbers.remembered('relation')} and {numbers.remembered('UAS')} points\n  more than the better of the two."
    )


def cost(numbers: Numbers) -> str:
    """How long it took."""
    return f"The run above takes {numbers.found['minutes']:.0f} minutes of one core."


def tutorial(numbers: Numbers) -> str:
    """The two attention probes, with the papers' numbers."""
    columns = ("distance", "random weights", "shuffled weights", "control task", "control task, distance")
    rows = [
        [said, numbers.whole(m, "model"), *(numbers.short(m, of) for of in columns), paper]
        for m, said, paper in (
            ("UAS", "head of every word from attention (UAS)", "61"),
            ("dependency", "is there a dependency", "85.8 (Coenen et al.)"),
        )
    ]
    head = [
        "%",
        "model",
        "distance alone",
        "random weights",
        "shuffled weights",
        "control task",
        "its distance",
        "paper",
    ]
    return table(head, rows)


def explanation(numbers: Numbers) -> str:
    """What a probe remembers."""
    model, control, same = (numbers.short("UAS", of) for of in ("model", "control task", "control task, majority"))
    return (
        f"From all heads a linear probe finds {model} % of syntactic heads. On a control task in which every word\n"
        f"type has a random answer, which can only be remembered, the same probe finds {control} % (always saying the\n"
        f"same gives {same} %)."
    )


PARTS: dict[tuple[str, str], Callable[[Numbers], str]] = {
    (PAGE, "probe-read"): read,
    (PAGE, "probe-scores"): scores,
    (PAGE, "probe-selectivity"): selectivity,
    (PAGE, "probe-papers"): papers,
    (PAGE, "probe-says"): says,
    (PAGE, "probe-layers"): lambda numbers: by(numbers, "layer"),
    (PAGE, "probe-ranks"): lambda numbers: by(numbers, "rank"),
    (PAGE, "probe-cost"): cost,
    (TUTORIAL, "probe"): tutorial,
    (EXPLANATION, "probe"): explanation,
}


def blocks(found: dict[str, Any]) -> Blocks:
    """The tables of the page, and what other pages quote."""
    numbers = Numbers(found)
    made: Blocks = {}
    for (page, name), make in PARTS.items():
        made.setdefault(page, {})[name] = make(numbers)
    return made
