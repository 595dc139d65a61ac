"""What is written above and below a figure: what it shows; model, input and selection.

Enters: what is shown. Leaves: text in the figure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.patterns.entries import RESTING_PLACES, does_of
from regard.trace.lettering import plain, readable
from regard.trace.tokens import subscript
from regard.views.drawing.common import INK, QUIET, label_of, labels_of
from regard.views.drawing.depicted import Depicted
from regard.views.drawing.overlay import depicts_picture, headline
from regard.views.frames import counted_names
from regard.views.report import report_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INPUT = 90  # letters of the input in a caption


def write_caption(drawn: Figure, job: Depicted, view: str, title: str | None) -> None:
    """What is shown above it; below, in small print, model, input and selection."""
    drawn.suptitle(plain(title or _title(job, view)), size=8 if drawn.get_figwidth() < 4 else 9, color=INK)
    facts = job.trace.facts
    parts = [str(facts.get("model", "attention maps")), _input(job)]
    if view == "atlas":
        parts.append(f"{job.site.kind} layers")
    else:
        which = f"head {job.heads[0]}" if len(job.heads) == 1 or view != "heads" else f"heads {len(job.heads)}"
        parts.append(f"{job.site.kind} layer {job.layer} {which}")
    if view == "neurons":
        token = job.trace.side(job.site.query_side).tokens[job.asking]
        parts.append(f"query {readable(token.text)}")
    if job.shown == "contributions" and view != "neurons":
        parts.append("contributions ||αf(x)||")
    if job.shown == "worth":
        parts += [job.quantity, _agreement(job.judged)]
    if "regard" in facts:
        parts.append(f"regard {facts['regard']}")
    lines = _wrapped([plain(part) for part in parts], drawn.get_figwidth())
    drawn.supxlabel("\n".join(lines), size=6, color=QUIET)


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
    """How many heads there are, and how many of them have a name."""
    named, whole = counted_names(job.trace, job.site.kind)
    return f"What each of the {whole} heads looks at" + _having(sum(named.values()))


def _having(count: int) -> str:
    return f": {count} {'has' if count == 1 else 'have'} a name" if count else ""


def _neurons_title(job: Depicted, first: str) -> str:
    """Which key the query looks at most; its q and k agree best."""
    weights = job.trace.attention(job.layer, job.heads[0], kind=job.kind, queries=job.asking, keys=job.columns)[0]
    most = int(weights.argmax())
    asking = label_of(job.trace.side(job.site.query_side).tokens[job.asking]) + subscript(job.asking)
    looked = labels_of(job.key_tokens, job.columns)[most]
    q, k = (vectors(job.layer, job.heads[0], kind=job.kind) for vectors in (job.trace.q, job.trace.k))
    best = most == int((k[job.columns].astype("f4") @ q[job.asking].astype("f4")).argmax())  # biases may say otherwise
    return f"In head {first}, “{asking}” looks most at “{looked}”" + (": their q and k agree best" if best else "")


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
    """The tokens that were read, as text; cut where it is long."""
    names = dict.fromkeys((job.site.query_side, job.site.key_side))
    if all(token.row is not None or token.special for name in names for token in job.trace.side(name).tokens):
        side = job.trace.side(job.site.key_side)
        return f"a picture of {sum(token.row is not None for token in side.tokens)} patches"
    texts = [" ".join(readable(token.text) for token in job.trace.side(name).tokens) for name in names]
    text = " | ".join(texts)
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
