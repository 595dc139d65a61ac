"""What a line is worth on one text: the model's predictions before and after it is cut, and random lines beside it.

Enters: a `Model`, a text and edges. Leaves: a `Cut`: predictions at a position, labels or hidden states before and
after, the one number that the line is judged by, and how far random lines of the nearest weights change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.ablation.comparing import Row, compare, predict, predict_traced, row_columns
from regard.ablation.controls import CutEdges, Partners, like
from regard.ablation.cut_words import notes_of, said_of
from regard.models.cutting import cutting, outcomes_without, require_cuttable
from regard.models.outcome import (
    ABOUT,
    Answering,
    Outcome,
    about_of,
    actual_of,
    encode_text,
    hide,
    outcome_of,
    position_of,
    side_of,
    turn_of,
)
from regard.patterns.resting import rests_of
from regard.trace.edges import Edges, block_name, parse_edges
from regard.trace.pool import pool_of
from regard.trace.records import Tabular
from regard.trace.sentences import Message

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.model import Model

CONTROLS = 16  # random sets of lines that a cut is compared with


@dataclass(frozen=True)
class CutChange:
    """The number that lines are judged by, before and after a cut.

    `unit` is "probability" (of `name`), "score", "similarity" (of two sentences) or "turn" (cosine of the mean last
    hidden state with itself before).
    """

    unit: str
    name: str
    before: float
    after: float


@dataclass(frozen=True)
class CutControl:
    """What cutting random lines of the nearest weights does to the same number.

    `mean` and `sd` are of the size of the `changes` of `count` random sets of lines, `larger` how many of them are at
    least as large as that of the cut; `lines` is how many lines each set has (at most 256), `weight` their mean weight.
    """

    count: int
    mean: float
    sd: float
    larger: int
    changes: tuple[float, ...]
    lines: int
    weight: float


@dataclass(frozen=True, eq=False)
class Cut(Tabular):
    """What cutting some edges changes on one text.

    `edges` names them, `lines` counts them, `weight` is their mean weight. `rows`, `kl` and `kls` are as in `Effect`,
    with `how` in place of a mode. `change` is the one number that they are judged by, `control` the same for random
    lines of the nearest weights, `said` what both say in words.
    """

    model: str
    edges: tuple[str, ...]
    lines: int
    weight: float
    how: str
    about: str
    tokens: tuple[str, ...]
    position: int | None
    rows: tuple[Row, ...]
    change: CutChange
    control: CutControl | None
    said: tuple[Message, ...]
    kl: dict[str, float] = field(default_factory=dict)
    kls: dict[str, tuple[float, ...]] = field(default_factory=dict)
    actual: str | None = None
    notes: tuple[Message, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def modes(self) -> tuple[str, ...]:
        """The one way in which the edges were cut, as rows name it."""
        return (self.how,)

    @property
    def sentence(self) -> str:
        """What the cut shows, in one sentence."""
        what, result, *rest = self.said
        return f"{what} {result}" + "".join(f"; {one}" for one in rest) + "."

    def as_record(self) -> dict[str, Any]:
        """The cut as plain lists and dictionaries, for JSON; codes and values of what is said, and of each note."""
        return {
            **asdict(self),
            "modes": list(self.modes),
            "meaning": ABOUT[self.about],
            "sentence": self.sentence,
            "said": [one.record for one in self.said],
            "coded": [one.record for one in self.notes],
        }

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return row_columns(self.rows)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from regard.printing.tables import cut_report

        yield from cut_report(self)


def cut(  # long because of its arguments and their descriptions
    model: Model,
    text: Text,
    pair: str | None = None,
    *,
    edges: Edges,
    how: str = "mask",
    target: Target = None,
    generate: int | None = None,
    position: int | None = None,
    token: str | int | None = None,
    controls: int = CONTROLS,
    top: int = 5,
    truncate: bool = False,
) -> Cut:
    """Compare a model's predictions on a text before and after some edges are cut.

    Parameters
    ----------
    edges
        "5.4:it→animal", (layer, head, query, key), or a list of these; `regard.trace.edges.parse_edges` has all ways.
    how
        "mask" hides the key from the query, so that the row's other weights grow; "zero" takes out what the key adds
        and leaves the rest as it is.
    target
        What the decoder of an encoder-decoder model reads; without it, what the model generates.
    generate
        Let a causal model continue for this many tokens first, as in a trace.
    position
        The token whose prediction is compared, as in `effect`; with `generate`, the end of the
        prompt unless given.
    token
        The token or label whose probability is judged; without it, the token that the text has there, or the likeliest.
    controls
        How many random sets of lines of the nearest weights to cut for comparison; 0 for none.
    top
        How many predictions to list per run.

    Examples
    --------
    >>> cut(model, "The animal was tired because it", edges="5.4:it→animal").sentence  # doctest: +SKIP
    """
    engine = model._engine
    require_cuttable(engine)
    row, beside = encode_text(engine, text, pair, target, Answering(generate), truncate=truncate)
    inputs, book = engine.collate([row], [beside])
    about, told = about_of(engine)
    side = side_of(engine, book)
    place = position_of(engine, about, side, position)
    hide(engine, about, inputs, place)
    before, trace = predict_traced(model, inputs, book, about)
    blocks = parse_edges(edges, trace)
    outcome = outcome_of(engine, about, side, place, before, token) or turn_of(before)
    names = tuple(block_name(block, trace) for block in blocks)
    with cutting(engine, [blocks], how, names):
        after = predict(model, inputs, about)
    change = _change(outcome, float(outcome.of(before[None])[0]), float(outcome.of(after[None])[0]))
    lines = CutEdges(blocks, trace)
    partners = like(lines, pool_of(trace, place, rests_of), controls) if controls else None
    control = None
    if partners is not None:
        without = outcomes_without(engine, inputs, about, outcome, partners.sets, how)
        control = _control(change, outcome, partners, without)
    actual = actual_of(about, side.tokens, place)
    return Cut(
        model=model.name,
        edges=names,
        lines=lines.count,
        weight=lines.weight,
        how=how,
        about=about,
        tokens=tuple(token.text for token in side.tokens),
        position=place,
        change=change,
        control=control,
        said=said_of(blocks, trace, change, control, lines),
        actual=None if actual is None else actual.text,
        notes=(*told, *notes_of(blocks, trace, how)),
        facts=model.facts,
        **compare(model, about, side.tokens, place, before, {how: after}, top),
    )


def _change(outcome: Outcome, before: float, after: float) -> CutChange:
    if outcome.is_probability:
        return CutChange("probability", outcome.name, float(np.exp(before)), float(np.exp(after)))
    return CutChange(outcome.about, outcome.name, before, after)


def _control(change: CutChange, outcome: Outcome, partners: Partners, found: np.ndarray[Any, Any]) -> CutControl:
    values = np.exp(found) if outcome.is_probability else found
    changes = values - change.before
    sizes = np.abs(changes)
    larger = int((sizes >= abs(change.after - change.before)).sum())
    return CutControl(
        count=len(sizes),
        mean=float(sizes.mean()),
        sd=float(sizes.std()),
        larger=larger,
        changes=tuple(changes.tolist()),
        lines=partners.lines,
        weight=partners.weight,
    )
