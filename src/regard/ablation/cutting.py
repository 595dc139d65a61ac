"""What a line is worth on one text: the model's predictions before and after it is cut, and random lines beside it.

Enters: a `Model`, a text and edges. Leaves: a `Cut`: predictions at a position, labels or hidden states before and
after, the one number that the line is judged by, and how far random lines of the same weight change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.ablation.comparing import Row, compare, predict
from regard.ablation.controls import edges_of, like
from regard.models.cutting import cutting, outcomes_without, require_cuttable
from regard.models.outcome import (
    ABOUT,
    TURN,
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
from regard.trace.edges import EdgeBlock, Edges, block_name, parse_edges
from regard.trace.heads import names_of
from regard.trace.pool import pool_of
from regard.trace.sentences import Message, note
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.model import Model

CONTROLS = 16  # random sets of lines that a cut is compared with
_SAME = 5e-4  # a change that is called none


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
    """What cutting random lines of the same weight does to the same number.

    `mean` and `sd` are of the size of the `changes` of `count` random sets of lines, `larger` how many of them are at
    least as large as that of the cut.
    """

    count: int
    mean: float
    sd: float
    larger: int
    changes: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Cut:
    """What cutting some edges changes on one text.

    `edges` names them, `lines` counts them, `weight` is their mean weight. `rows`, `kl` and `kls` are as in `Effect`,
    with `how` in place of a mode. `change` is the one number that they are judged by, `control` the same for random
    lines of the same weight, `said` what both say in words.
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
        How many random sets of lines of the same weight to cut for comparison; 0 for none.
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
    (trace,) = engine.record(inputs, book, [{}])
    blocks = parse_edges(edges, trace)
    before = predict(model, inputs, about)
    outcome = outcome_of(engine, about, side, place, before, token) or turn_of(before)
    names = tuple(block_name(block, trace) for block in blocks)
    with cutting(engine, [blocks], how, names):
        after = predict(model, inputs, about)
    change = _change(outcome, float(outcome.of(before[None])[0]), float(outcome.of(after[None])[0]))
    control = None
    if controls:
        sets = like(blocks, trace, pool_of(trace, place, rests_of), controls)
        control = (
            _control(change, outcome, outcomes_without(engine, inputs, about, outcome, sets, how)) if sets else None
        )
    actual = actual_of(about, side.tokens, place)
    weights = [weight for *_, weight in edges_of(blocks, trace)]
    return Cut(
        model=model.name,
        edges=names,
        lines=len(weights),
        weight=float(np.mean(weights)),
        how=how,
        about=about,
        tokens=tuple(token.text for token in side.tokens),
        position=place,
        change=change,
        control=control,
        said=_said(blocks, trace, change, control),
        actual=None if actual is None else actual.text,
        notes=(*told, *_notes(blocks, trace, how)),
        facts=model.facts,
        **compare(model, about, side.tokens, place, before, {how: after}, top),
    )


def _change(outcome: Outcome, before: float, after: float) -> CutChange:
    if outcome.is_probability:
        return CutChange("probability", outcome.name, float(np.exp(before)), float(np.exp(after)))
    return CutChange(outcome.about, outcome.name, before, after)


def _control(change: CutChange, outcome: Outcome, found: np.ndarray[Any, Any]) -> CutControl:
    values = np.exp(found) if outcome.is_probability else found
    changes = values - change.before
    sizes = np.abs(changes)
    larger = int((sizes >= abs(change.after - change.before)).sum())
    return CutControl(len(sizes), float(sizes.mean()), float(sizes.std()), larger, tuple(changes.tolist()))


def _said(
    blocks: Sequence[EdgeBlock], trace: Trace, change: CutChange, control: CutControl | None
) -> tuple[Message, ...]:
    """What was cut, what that does, and what random lines do."""
    heads = list(dict.fromkeys(head for block in blocks for head in block.heads))
    layout = {(site.kind, site.layer): site.heads for site in trace.sites}
    lines = ", ".join(dict.fromkeys(block.label for block in blocks))
    what = note("cut_head" if len(heads) == 1 else "cut_heads", lines=lines, heads=", ".join(names_of(heads, layout)))
    difference = change.after - change.before
    values = {"before": _figure(change.before, difference), "after": _figure(change.after, difference)}
    values["difference"] = ("−" if difference < 0 else "+") + _figure(abs(difference), difference)
    if change.unit == TURN:
        result = note("turns", after=values["after"])
    else:
        way = "keeps" if abs(difference) < _SAME else "raises" if difference > 0 else "lowers"
        more = {"name": change.name.strip() or change.name} if change.unit == "probability" else {}
        values = {"before": f"{change.before:.3f}"} if way == "keeps" else values
        result = note(f"{way}_{change.unit}", **more, **values)
    if control is None:
        return what, result
    return what, result, _beside(control, abs(difference), single=len(blocks) == 1 and blocks[0].single)


def _beside(control: CutControl, size: float, *, single: bool) -> Message:
    """What random lines do; where both change something, how many times that the cut changes."""
    values: dict[str, int | str] = {"mean": _brief(control.mean), "sd": _brief(control.sd)}
    values |= {"count": control.count, "larger": control.larger}
    if size < _SAME or control.mean < _SAME:
        return note("cut_control" if single else "cut_controls", **values)
    times = size / control.mean
    shown = f"{times:.1f}" if times < 10 else f"{times:.0f}"
    return note("cut_times" if single else "cut_times_many", times=shown, **values)


def _figure(value: float, difference: float) -> str:
    """A number with as many decimals as the difference needs, from two to four."""
    digits = 2 if abs(difference) >= 0.02 else 3 if abs(difference) >= 0.002 else 4
    return f"{value:.{digits}f}"


def _brief(value: float) -> str:
    """A small number with two digits that count, and at most four decimals."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" if value >= 0.001 else f"{value:.4f}"


def _notes(blocks: Sequence[EdgeBlock], trace: Trace, how: str) -> Iterator[Message]:
    """A caution where the first token of a causal model is hidden: heads rest there."""
    kinds = {head.kind for block in blocks if 0 in block.keys for head in block.heads}
    causal = any(trace.site(trace.layers(kind)[0], kind=kind).mask.causal for kind in kinds if kind == "decoder")
    if how == "mask" and causal:
        yield note("first_cut")
