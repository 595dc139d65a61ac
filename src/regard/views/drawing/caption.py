"""What is written above and below a figure: what it shows; model, input and selection.

Enters: what is shown. Leaves: text in the figure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.patterns.entries import RESTING_PLACES, does_of
from regard.trace.lettering import plain
from regard.trace.medium import SOUND
from regard.trace.tokens import Side, subscript, text_of
from regard.views.drawing.common import INK, QUIET, label_of, labels_of, listed, quoted, scored_as
from regard.views.drawing.depicted import Depicted
from regard.views.drawing.heard import heard_in, resting_told, told
from regard.views.drawing.overlay import depicts_picture, headline
from regard.views.frames import counted_names, told_names
from regard.views.report import report_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INPUT = 90  # letters of the input in a caption
_EDGE = 0.08  # inches left of what is written


def write_caption(drawn: Figure, job: Depicted, view: str, title: str | None) -> None:
    """What is shown above it, at the left; below, in small print, model, input and selection."""
    size = 8 if drawn.get_figwidth() < 4 else 9
    edge = {"x": _EDGE / drawn.get_figwidth(), "ha": "left"}
    drawn.suptitle(plain(title or _title(job, view)), size=size, color=INK, weight="bold", wrap=True, **edge)
    facts = job.trace.facts
    parts = [str(facts.get("model", "attention maps")), _input(job)]
    if view == "atlas":
        parts += [f"{job.site.kind} layers", "in each map rows look at columns"]
        if job.shown != "worth" and counted_names(job.trace, job.site.kind)[0]:
            parts.append("each head counted by its most specific name")
    else:
        parts.append(f"{job.site.kind} layer {job.layer} {_which(job, view)}")
    if view == "sound":
        parts += [*heard_in(job).silence(), *resting_told(job)]
    if view == "neurons":
        parts.append(f"query {_asking(job)}")
    if job.shown == "contributions" and view != "neurons":
        parts.append("contributions ||αf(x)||")
    if job.shown == "worth":
        parts += [job.quantity, _agreement(job.judged)]
    if "regard" in facts:
        parts.append(f"regard {facts['regard']}")
    lines = _wrapped([plain(part) for part in parts], drawn.get_figwidth())
    drawn.supxlabel("\n".join(lines), size=6, color=QUIET, **edge)


def _which(job: Depicted, view: str) -> str:
    """The heads that are drawn."""
    if view == "sound" and len(job.heads) > 1:
        return f"mean of heads {', '.join(map(str, job.heads))}"
    return f"heads {len(job.heads)}" if view == "heads" and len(job.heads) > 1 else f"head {job.heads[0]}"


def _agreement(judged: Mapping[str, Any]) -> str:
    """How far estimated worth agrees with exact cuts."""
    check = judged["check"]
    if check is None or check["spearman"] is None:
        return "estimate, not compared with exact cuts"
    doubtful = any(one["code"] == "worth_unreliable" for one in judged["coded"])
    doubt = ": not reliable here" if doubtful else ""
    return f"estimate; agrees with exact cuts: {check['spearman']:.2f} ({check['edges']} lines){doubt}"


def _title(job: Depicted, view: str) -> str:
    first = f"{job.layer}.{job.heads[0]}"
    if view == "atlas":
        return "What the lines of every head are worth" if job.shown == "worth" else _atlas_title(job)
    if job.shown == "worth":
        many = view == "heads" and len(job.heads) > 1
        return (
            f"What the lines of {f'{len(job.heads)} heads of layer {job.layer}' if many else f'head {first}'} are worth"
        )
    if view == "sound":
        return told(job)
    if view == "neurons":
        return _neurons_title(job, first)
    if view == "heads" and depicts_picture(job):
        return headline(job)
    if view == "heads" and len(job.heads) > 1:
        return f"Where {len(job.heads)} heads of layer {job.layer} look"
    if job.shown == "contributions":
        return f"What arrives through head {first}"
    does = _does(job)
    return f"Head {first} {does}" if does else f"Where head {first} looks"


def _atlas_title(job: Depicted) -> str:
    """How many heads there are, and what those with the most specific names do."""
    told = told_names(job.trace, job.site.kind)
    _, whole = counted_names(job.trace, job.site.kind)
    return f"What each of the {whole} heads looks at" + (f": {'; '.join(told)}" if told else "")


def _asking(job: Depicted) -> str:
    """The query, with its position where it stands there twice."""
    tokens = job.trace.side(job.site.query_side).tokens
    return labels_of(tokens, range(len(tokens)))[job.asking]


def _neurons_title(job: Depicted, first: str) -> str:
    """Which key the query looks at most, and how far its score is above the others."""
    asked = job.asked
    asking = listed(label_of(job.trace.side(job.site.query_side).tokens[job.asking])) + subscript(job.asking)
    looked = labels_of(job.key_tokens, job.columns)[asked.best]
    score = float(asked.scores[asked.best])
    written = scored_as(asked.scores)
    above = f"its score, {written(score)}, is {written(score - asked.average)} above the row's average"
    whole, of = float(asked.rise.sum()), f"{len(asked.counting)} of {asked.q.size} neurons"
    add = float(asked.rise[asked.counting].sum())
    make = (
        f"{of} make {written(add)} of it" if 0 < add <= whole else f"the {of} that move it most come to {written(add)}"
    )
    return f"Head {first}: {quoted(asking)} looks most at {quoted(looked)}: {above}; {make}"


def _does(job: Depicted) -> str | None:
    """What a head that is shown whole does, where that has a name; one that always rests is better looked at."""
    if (len(job.rows), len(job.columns)) != (job.site.queries, job.site.keys):
        return None
    layer = job.trace.select(layers=[job.layer])
    report = report_of(layer)
    site = layer.site(job.layer, kind=job.kind)
    found = report.of(site)[site.index(job.heads[0])]["patterns"] if report else []
    names = [one["name"] for one in found if one["name"] not in RESTING_PLACES]
    return does_of(names[0]) if names else None


def _input(job: Depicted) -> str:
    """What was read, side by side: a text, cut where it is long, a sound, a picture."""
    names = dict.fromkeys((job.site.query_side, job.site.key_side))
    sides = [job.trace.side(name) for name in names]
    return " | ".join(map(_read, sides))


def _read(side: Side) -> str:
    """A side in words, or as the text it is."""
    if side.medium is not None and side.medium.kind == SOUND:
        return f"recording, {side.medium.size[0]:.1f} s"
    patches = sum(token.row is not None for token in side.tokens)
    if patches and all(token.row is not None or token.special for token in side.tokens):
        return f"a picture of {patches} patches"
    text = text_of(side)
    return f"“{text if len(text) <= _INPUT else text[: _INPUT - 1] + '…'}”"


def _wrapped(parts: Sequence[str], width: float) -> list[str]:
    """Parts of a caption in lines of a width; a part stays whole where it fits a line."""
    most = int(width * 20)
    lines = [""]
    for part in parts:
        for piece in textwrap.wrap(part, most) or [""]:
            joined = f"{lines[-1]} · {piece}" if lines[-1] else piece
            if len(joined) <= most:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines
