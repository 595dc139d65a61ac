"""Assertions about heads, for the tests of people who train models.

Enters: a model, a head, what it should do, and texts. Leaves: what was measured; an AssertionError with the interval if
the head does not do it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.measures.intervals import FEWEST, between
from regard.patterns.definitions import THRESHOLDS, USUAL
from regard.patterns.naming import FLOOR
from regard.patterns.rules import parse_rule
from regard.studies.entry import loaded
from regard.studies.find.asking import find
from regard.studies.registry import atlas
from regard.trace.heads import Head, Heads, names_of, parse_heads

if TYPE_CHECKING:
    from regard.models.model import Model


@dataclass(frozen=True)
class MeasuredHead:
    """How far a head does something over texts: `lift` with its 95 % interval from `low` to `high`.

    `share` is the part of its awake attention that goes there, `chance` that of even attention, over `rows` rows.
    """

    model: str
    head: str
    does: str
    lift: float
    low: float
    high: float
    share: float
    chance: float
    rows: int

    def __str__(self) -> str:
        return (
            f"head {self.head} of {self.model}, {self.does}: a lift of {self.lift:.2f}"
            f"{between(self.low, self.high, '.2f')}, {self.share:.2f} of its awake attention where chance is "
            f"{self.chance:.2f}, in {self.rows} rows"
        )


def assert_head(
    model: Model | str,
    head: Heads,
    does: str,
    texts: Iterable[str] | str | os.PathLike[str],
    *,
    lift: float | None = None,
) -> MeasuredHead:
    """Fail unless a head does something over texts.

    It does if its lift reaches `lift`, and the interval of the lift stays above 0.1 (or `lift`, if that is less): as a
    study gives heads their names. Texts without the pattern do not count.

    Parameters
    ----------
    model
        A `Model`, or what `regard.load` takes.
    head
        One head: "5.4", (5, 4) or "cross:1.3".
    does
        The name of a pattern, such as "induction" or "previous token", or a rule, such as "offset = -1".
    texts
        At least eight texts, or a file of them as studies read it.
    lift
        The least lift; unless given, that from which heads are named for the pattern (0.3 for most, and for rules).

    Examples
    --------
    >>> assert_head("my-fine-tuned-gpt2", "5.1", "induction", texts)  # doctest: +SKIP
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    ready = loaded(model)
    found = measure_head(ready, head, does, texts)
    least = THRESHOLDS.get(does, USUAL) if lift is None else lift
    floor = min(FLOOR, least)
    if not found.lift >= least or found.low < floor:  # also where the lift is not a number
        raise AssertionError(f"{found}; expected {least:g} or more, surely above {floor:g}")
    return found


def measure_head(model: Model, head: Heads, does: str, texts: Iterable[str] | str | os.PathLike[str]) -> MeasuredHead:
    """How far a head does something over texts; the arguments are those of `assert_head`."""
    chosen = parse_heads(head, model.layout())
    if len(chosen) != 1:
        raise UserError(f"one head is asserted at a time, and {head!r} names {len(chosen)}")
    if isinstance(texts, str | os.PathLike):
        row = _row(model, chosen[0], does, texts)
    else:
        with tempfile.TemporaryDirectory() as folder:
            row = _row(model, chosen[0], does, _written(texts, Path(folder) / "texts.jsonl"))
    name = names_of(chosen, model.layout())[0]
    if row is None:
        raise UserError(f"these texts cannot show whether head {name} does {does!r}: no row has such a key")
    numbers = {name: float(row[name]) for name in ("low", "high", "share", "chance")}
    return MeasuredHead(model.name, name, does, float(row["lift"]), rows=int(row["rows"]), **numbers)


def _written(texts: Iterable[str], path: Path) -> Path:
    kept = list(texts)
    if len(kept) < FEWEST:
        raise UserError(f"{len(kept)} texts have no interval; pass at least {FEWEST}")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in kept), "utf-8")
    return path


def _row(model: Model, head: Head, does: str, corpus: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The head's row of the study that knows what it should do: of names, or of a rule."""
    if does in THRESHOLDS:
        table = atlas(model, corpus).tables["What every head does when awake"].rename(columns={"value": "lift"})
        table = table[(table["measure"] == does) & (table["by"] == "weights")]
    else:
        parse_rule(does)  # its error names the place
        table = find(does, corpus, model).table
    mine = table[(table["kind"] == head.kind) & (table["layer"] == head.layer) & (table["head"] == head.head)]
    return None if mine.empty or not mine.iloc[0]["rows"] else dict(mine.iloc[0])
