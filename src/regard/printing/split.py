"""Splits of scores and of logits for a terminal.

Enters: a `Why` or `Writes`. Leaves: rich renderables.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from regard.printing.tables import visible_text

if TYPE_CHECKING:
    from regard.models.splitting import Agreement, Component, SplitSide
    from regard.models.why import Why
    from regard.models.writes import Writes, WrittenFrom, WrittenWord

SHOWN = 8  # components of a side
_AGAINST = "against the row"  # the column that components are ordered by
_MOVED = 0.005  # in the logits: less is printed as 0.00
_HEAVY = 0.1  # weight that a reader wonders about, whatever it writes
_PARTS = 4  # that raise a word most, and that lower it most


def why_report(why: Why, count: int = SHOWN) -> Iterator[Table | Text]:
    """Where the head looks, the components of key and query, and how well they add up."""
    query, key = why.query, why.key
    yield Text.assemble(
        (why.model, "bold"),
        (f"  {why.name} looks from {_at(query)} to {_at(key)} with weight {why.weight:.3f}", ""),
    )
    score = f"score {why.score:.3f}"
    if why.visible == 1:
        yield Text(f"{score}; it may see this token alone, so all its attention goes there whatever made the score")
    else:
        yield Text(f"{score}, {why.centred:+.3f} against the mean of the {why.visible} keys it may see", style="dim")
    if why.visible > 1 and why.centred <= 0:
        yield Text(
            f"Nothing draws {why.name} from {_at(query)} to {_at(key)}: its score is below the mean of the row, and "
            "the shares say what speaks for and against it."
        )
    yield _side_table(f"what made the key {_at(key)}", key, count)
    yield _side_table(f"what made the query {_at(query)}", query, count)
    total = sum(one.score for one in key.components)
    yield Text(
        f"sum of the {len(key.components)} shares {total:.4f}, score {why.score:.4f}; largest difference over the row "
        f"{why.error:.1e} of the largest score",
        style="dim",
    )
    for name, side, column in (("key", key, "share"), ("query", query, _AGAINST)):
        if side.agreement is not None:
            yield Text(f"{name}: {_removed(side.agreement, column)}", style="dim")


def _removed(agreement: Agreement, column: str) -> str:
    """What removing components for real says about a column of shares."""
    most = (
        f"; the score falls most without {agreement.first.name}, by {agreement.fall:.3f}" if agreement.fall > 0 else ""
    )
    alike = isnan(agreement.spearman)
    rank = "changes alike" if alike else f'rank correlation with the column "{column}" {agreement.spearman:.2f}'
    order = "" if alike else " (1: the same order)"
    return f"each of {agreement.parts} components was removed for real; {rank}{order}{most}"


def writes_report(writes: Writes, count: int = SHOWN) -> Iterator[Table | Text]:
    """The words that a head promotes and demotes, in all and by the token it read, and how well all parts add up."""
    at = f"{visible_text(writes.token)}@{writes.position}"
    yield Text.assemble((writes.model, "bold"), (f"  what {writes.name} writes at {at}", ""))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("read from", "weight", "promotes", "demotes"):
        table.add_column(name, justify="right" if name == "weight" else "left")
    table.add_row("all it read", "", _words(writes.promoted[:count]), _words(writes.demoted[:count]))
    read = [one for one in writes.sources if _is_read(one)]
    for one in read:
        source = Text(f"{visible_text(one.token)}@{one.position}")
        few = max(3, count // 2)
        table.add_row(source, f"{one.weight:.3f}", _words(one.promoted[:few]), _words(one.demoted[:few]))
    yield table
    if len(read) < len(writes.sources):
        rest = sum(one.weight for one in writes.sources) - sum(one.weight for one in read)
        others = len(writes.sources) - len(read)
        many = "other token moves" if others == 1 else "other tokens move"
        yield Text(f"{others} {many} no word by 0.01; weight {rest:.3f}", style="dim")
    yield Text(_made_by(writes))
    yield Text(f"sum of all parts and the logits differ by {writes.error:.1e} of the largest logit", style="dim")


def _is_read(one: WrittenFrom) -> bool:
    """Whether a token moves a word by what two decimals show, or has much weight and moves none."""
    moved = max((abs(word.logit) for word in (*one.promoted[:1], *one.demoted[:1])), default=0.0)
    return moved >= _MOVED or one.weight >= _HEAVY


def _made_by(writes: Writes) -> str:
    """The model's first word, the parts that raise and lower it most, and the rest."""
    first, logit = visible_text(writes.predicted.token), writes.predicted.logit
    raised = sorted((one for one in writes.components if one[1] > 0), key=lambda one: -one[1])[:_PARTS]
    lowered = sorted((one for one in writes.components if one[1] < 0), key=lambda one: one[1])[:_PARTS]
    said = [f"the model's first word here is {first} ({logit:+.2f} against the mean)"]
    for way, parts in (("raised", raised), ("lowered", lowered)):
        if parts:
            said.append(f"{way} most by {', '.join(f'{name} {share:+.2f}' for name, share in parts)}")
    rest = len(writes.components) - len(raised) - len(lowered)
    if rest:
        left = sum(share for _, share in writes.components) - sum(share for _, share in (*raised, *lowered))
        said.append(f"the other {rest} parts {left:+.2f}")
    return "; ".join(said)


def _words(words: tuple[WrittenWord, ...]) -> Text:
    return Text(", ".join(f"{visible_text(one.token)} {one.logit:+.2f}" for one in words))


def _side_table(title: str, side: SplitSide, count: int) -> Table:
    table = Table(title=title, title_justify="left", title_style="", box=None, pad_edge=False, header_style="dim")
    table.add_column("component")
    table.add_column(_AGAINST, justify="right")
    table.add_column("share", justify="right")
    table.add_column("brought from")
    for one in side.components[:count]:
        table.add_row(Text(one.name), f"{one.centred:+.3f}", f"{one.score:+.3f}", Text(_sources(one), style="dim"))
    rest = side.components[count:]
    if rest:
        sums = [f"{sum(getattr(one, name) for one in rest):+.3f}" for name in ("centred", "score")]
        table.add_row(Text(f"{len(rest)} others", style="dim"), *sums)
    return table


def _sources(one: Component) -> str:
    return ", ".join(f"{visible_text(s.token)}@{s.position} {s.score:+.2f}" for s in one.sources[:2])


def _at(side: SplitSide) -> str:
    return f"{visible_text(side.token)}@{side.position}"
