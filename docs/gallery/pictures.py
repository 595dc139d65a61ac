"""Handwritten digits in models that learned to read them, for the gallery. Enters: nothing. Leaves: traces.

python docs/gallery/pictures.py    # learns, and writes both models and pictures into docs/gallery/.trained
"""

from __future__ import annotations

from typing import Any

from digits import picture, sheet, split
from learning import KEPT, digit_reader, question, sheet_reader

import regard
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
    return regard.load(digit_reader()).trace(image=digit())


def asked_about() -> Trace:
    """The sheet and a question in the LLaVA, and what it answers."""
    return regard.load(sheet_reader()).trace(question(PLACE), image=four(), generate=_ANSWER)


def main() -> None:
    """Leave models and pictures where the command line finds them."""
    print(digit_reader(), sheet_reader(), sep="\n")
    for made, name in ((digit(), "digit.png"), (four(), "sheet.png")):
        made.save(KEPT / name)
        print(KEPT / name)


if __name__ == "__main__":
    main()
