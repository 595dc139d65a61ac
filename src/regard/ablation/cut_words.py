"""What a cut shows, in words: what was cut, what that does, and what random lines do.

Enters: numbers of a cut and of its control. Leaves: messages with their codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regard.ablation.controls import CutEdges
from regard.models.outcome import TURN
from regard.trace.edges import EdgeBlock
from regard.trace.heads import names_of
from regard.trace.lettering import readable
from regard.trace.sentences import Message, note
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.ablation.cutting import CutChange, CutControl

_SAME = 5e-4  # a change below it, and
_SHARE = 0.01  # below this share of the number, is called none
_LONG = 9  # decimals of a number, at most


def said_of(
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
        way = "keeps" if same(change, difference) else "raises" if difference > 0 else "lowers"
        more = {"name": readable(change.name)} if change.unit == "probability" else {}
        values = {"before": f"{change.before:.3g}"} if way == "keeps" else values
        result = note(f"{way}_{change.unit}", **more, **values)
    if control is None:
        return what, result
    return what, result, _beside(change, control, cut)


def same(change: CutChange, difference: float) -> bool:
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
    if same(change, size) or same(change, control.mean):
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


def notes_of(blocks: Sequence[EdgeBlock], trace: Trace, how: str) -> Iterator[Message]:
    """A caution where the first token of a causal model is hidden: heads rest there."""
    kinds = {head.kind for block in blocks if 0 in block.keys for head in block.heads}
    causal = any(trace.site(trace.layers(kind)[0], kind=kind).mask.causal for kind in kinds if kind == "decoder")
    if how == "mask" and causal:
        yield note("first_cut")
