"""Handwritten digits in models that learned to read them, for the gallery. Enters: nothing. Leaves: traces.

python docs/gallery/pictures.py    # learns, and writes both models and pictures into docs/gallery/.trained
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from digits import picture, sheet, split
from learning import KEPT, digit_reader, question, sheet_reader

import regard
from regard.ablation.saying import said_of
from regard.trace.trace import Trace

DIGIT = 268  # which of the digits held out is shown alone: a five
SHEET = (28, 0, 60, 4)  # which stand on the sheet: 4 6 3 5
PLACE = 3  # of the one that is asked about
_ANSWER = 1  # token: a digit


def digit() -> Any:
    """A digit that no model has seen."""
    return picture(split()[1].values[DIGIT])


def four() -> Any:
    """A sheet of digits that no model has seen."""
    return sheet(split()[1].values[list(SHEET)])


def looked_at() -> Trace:
    """The digit in the ViT: 10 x 10 patches and [CLS]."""
    model = regard.load(digit_reader())
    return _said(model, model.trace(image=digit()), image=digit())


def asked_about() -> Trace:
    """The sheet and a question in the LLaVA, and what it answers."""
    model = regard.load(sheet_reader())
    trace = model.trace(question(PLACE), image=four(), generate=_ANSWER)
    return _said(model, trace, text=question(PLACE), image=four())


def _said(model: Any, trace: Trace, **given: Any) -> Trace:
    """A trace that knows what the model says, and what without each head of its last kind of attention."""
    without = {}
    for site in trace.sites:
        if site.kind != trace.kinds[-1]:
            continue
        for head in site.head_ids:
            rows = said_of(model, **given, heads=(site.kind, site.layer, head)).rows
            after = [(row.name, row.after["zero"]) for row in rows]
            without[f"{site.kind} {site.layer}.{head}"] = sorted(after, key=lambda one: -one[1])
    labels = [(row.name, row.before) for row in rows]
    facts = {"labels": sorted(labels, key=lambda one: -one[1]), "labels without": without}
    return replace(trace, facts={**trace.facts, **facts})


def main() -> None:
    """Leave models and pictures where the command line finds them."""
    print(digit_reader(), sheet_reader(), sep="\n")
    for made, name in ((digit(), "digit.png"), (four(), "sheet.png")):
        made.save(KEPT / name)
        print(KEPT / name)


if __name__ == "__main__":
    main()
