"""What a line is worth on one text: the model's predictions before and after it is cut, and random lines beside it.

Enters: a `Model`, a text and edges. Leaves: a `Cut`: predictions at a position, labels or hidden states before and
after, the one number that the line is judged by, and how far random lines of the nearest weights change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.ablation.comparing import Row, compare, predict
from regard.ablation.controls import CutEdges, Partners, like
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
_SAME = 5e-4  # a change below it, and
_SHARE = 0.01  # below this share of the number, is called none
_LONG = 9  # decimals of a number, at most


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
class Cut:
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
    (trace,) = engine.record(inputs, book, [{}])
    blocks = parse_edges(edges, trace)
    before = predict(model, inputs, about)
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
        said=_said(blocks, trace, change, control, lines),
        actual=None if actual is None else actual.text,
        notes=(*told, *_notes(blocks, trace, how)),
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


def _said(
    blocks: Sequence[EdgeBlock], trace: Trace, change: CutChange, control: CutControl | None, cut: CutEdges
) -> tuple[Message, ...]:
    """What was cut, what that does, and what random lines do."""
    heads = list(dict.fromkeys(head for block in blocks for head in block.heads))
    layout = {(site.kind, site.layer): site.heads for site in trace.sites}
    lines = ", ".join(dict.fromkeys(block.label for block in blocks))
    what = note("cut_head" if len(heads) == 1 else "cut_heads", lines=lines, heads=", ".join(names_of(heads, layout)))
    difference = change.after - change.before
    values = _figures(change.before, change.after)
    if change.unit == TURN:
        result = note("turns", after=values["after"])
    else:
        way = "keeps" if _same(change, difference) else "raises" if difference > 0 else "lowers"
        more = {"name": change.name.strip() or change.name} if change.unit == "probability" else {}
        values = {"before": f"{change.before:.3g}"} if way == "keeps" else values
        result = note(f"{way}_{change.unit}", **more, **values)
    if control is None:
        return what, result
    return what, result, _beside(change, control, cut)


def _same(change: CutChange, difference: float) -> bool:
    """Whether a difference is none worth a word."""
    return abs(difference) < min(_SAME, _SHARE * abs(change.before))


def _beside(change: CutChange, control: CutControl, cut: CutEdges) -> Message:
    """What random lines do; where both change something, how many times that the cut changes."""
    values: dict[str, int | str] = {"mean": brief(control.mean), "sd": brief(control.sd)}
    values |= {"count": control.count, "larger": control.larger}
    values |= {"theirs": f"{control.weight:.2f}", "own": f"{cut.weight:.2f}"}
    if cut.count > 1:
        values["size"] = f"{control.lines:,}"
    size = abs(change.after - change.before)
    if _same(change, size) or _same(change, control.mean):
        return note("cut_control" if cut.count == 1 else "cut_controls", **values)
    times = size / control.mean
    shown = f"{times:.1f}" if times < 10 else f"{times:.0f}"
    return note("cut_times" if cut.count == 1 else "cut_times_many", times=shown, **values)


def _figures(before: float, after: float) -> dict[str, str]:
    """Two numbers and their difference, with decimals for two digits of it, and more where they would not add up."""
    difference = after - before
    digits = least = min(_LONG, max(2, 1 - _power(difference)))
    while digits < least + 3 and not _adds_up(before, after, digits):
        digits += 1
    sign = "−" if difference < 0 else "+"
    return {
        "before": f"{before:.{digits}f}",
        "after": f"{after:.{digits}f}",
        "difference": f"{sign}{abs(difference):.{digits}f}",
    }


def _adds_up(before: float, after: float, digits: int) -> bool:
    """Whether the difference of two rounded numbers is their rounded difference."""
    return round(round(after, digits) - round(before, digits), digits) == round(after - before, digits)


def _power(value: float) -> int:
    """The power of ten of a number's first digit; 0 for none."""
    return int(np.floor(np.log10(abs(value)))) if value else 0


def brief(value: float) -> str:
    """A number with two digits that count."""
    if not value:
        return "0"
    return f"{value:.1e}" if value < 1e-4 else f"{value:.{max(2, 1 - _power(value))}f}"


def _notes(blocks: Sequence[EdgeBlock], trace: Trace, how: str) -> Iterator[Message]:
    """A caution where the first token of a causal model is hidden: heads rest there."""
    kinds = {head.kind for block in blocks if 0 in block.keys for head in block.heads}
    causal = any(trace.site(trace.layers(kind)[0], kind=kind).mask.causal for kind in kinds if kind == "decoder")
    if how == "mask" and causal:
        yield note("first_cut")
