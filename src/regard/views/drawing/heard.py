"""What a figure of a sound shows: when each word is listened for, or which moments look at which.

Enters: a Trace and what to draw. Leaves: arrays over the frames of the sound, and what they say in words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.base.errors import UserError
from regard.trace.medium import SOUND, Medium
from regard.trace.site import Array
from regard.trace.tokens import Side
from regard.trace.trace import Trace
from regard.views.drawing.common import label_of
from regard.views.drawing.depicted import Depicted

_MOST_WORDS = 200
_FEWEST = 6  # words from which a moment that all of them look at can be told; these are the app's numbers
_RESTED = 0.005  # of a word's attention: less of it is no rest
_ALONE = 3  # so many times as much as any moment further away
_AROUND = 2  # frames that belong to one moment


@dataclass(frozen=True)
class HeardRows:
    """Rows of attention over the frames of a sound, and the row that is pointed at."""

    medium: Medium
    spans: Array  # (frames, 2) seconds of those that are drawn; silence that was added comes after them
    rows: Array  # (rows,) queries
    values: Array  # (rows, frames) mean of the chosen heads
    chosen: int | None  # of the rows
    words: bool  # rows write words; otherwise they are moments themselves
    padded: bool  # the model heard silence after the sound
    beyond: Array  # (rows,) what is on it

    @property
    def extent(self) -> tuple[float, float]:
        """From which second to which it is drawn."""
        return float(self.spans[0, 0]), min(float(self.spans[-1, 1]), self.medium.size[0])

    @property
    def curve(self) -> Array:
        """(frames,) of the row that is pointed at, or of all rows together: the sum of words, the mean of moments."""
        if self.chosen is not None:
            return np.asarray(self.values[self.chosen])
        return np.asarray(self.values.sum(0) if self.words else self.values.mean(0))

    def silence(self) -> list[str]:
        """How much of the attention of what is pointed at is not drawn, for it is on silence that was added."""
        if not self.padded:
            return []
        share = float(self.beyond.mean() if self.chosen is None else self.beyond[self.chosen])
        much = f"{100 * share:.0f}%" if share >= 0.005 else "less than 1%"
        return [f"{much} of the attention falls on the padding after the recording, not drawn"]


def hears(trace: Trace) -> bool:
    """Whether anything in this trace looks at a sound."""
    return any(_is_sound(trace.side(site.key_side)) for site in trace.sites)


def listening(trace: Trace, kind: str | None, layer: int | None) -> tuple[str, int]:
    """The kind of attention and the layer that are drawn: words in the last layer, if words were heard."""
    heard = [site for site in trace.sites if _is_sound(trace.side(site.key_side))]
    if not heard:
        raise UserError("nothing in this trace looks at a sound; trace one with audio=")
    kinds = list(dict.fromkeys(site.kind for site in sorted(heard, key=lambda one: one.query_side == one.key_side)))
    if kind in trace.kinds and kind not in kinds:
        raise UserError(f"heads of the {kind} do not look at the sound; choose {' or '.join(kinds)}")
    chosen = kinds[0] if kind is None else kind
    layers = trace.layers(chosen)
    return chosen, (layers[-1 if chosen == "cross" else 0] if layer is None else layer)


def heard_in(job: Depicted) -> HeardRows:
    """The rows that are drawn: those that write a word, each the row of the token before it, or the moments."""
    side = job.trace.side(job.site.key_side)
    medium, spans = side.medium, side.spans
    assert medium is not None and spans is not None
    count = max(1, int((spans[:, 0] < medium.size[0] - 1e-6).sum()))
    frames = job.columns[job.columns < count]
    if not frames.size or (np.diff(frames) != 1).any():
        raise UserError(f"a sound is drawn in order and without gaps; choose keys= as a slice of its {count} frames")
    words = job.site.query_side != job.site.key_side
    rows = _writing(job) if words else job.rows[job.rows < count]
    if words and len(rows) > _MOST_WORDS:
        raise UserError(f"{len(rows)} words do not fit a figure; choose up to {_MOST_WORDS} with queries=")
    read = job.trace.contributions if job.shown == "contributions" else job.trace.attention
    whole = read(job.layer, job.heads[0], kind=job.kind, queries=rows)
    for head in job.heads[1:]:
        whole = whole + read(job.layer, head, kind=job.kind, queries=rows)
    whole = whole / len(job.heads)
    return HeardRows(
        medium,
        spans[frames],
        rows,
        whole[:, frames],
        _chosen(job, rows),
        words,
        count < job.site.keys,
        whole[:, count:].sum(1) / np.maximum(whole.sum(1), 1e-12),
    )


def _writing(job: Depicted) -> Array:
    """Rows that decide on a word: the token that comes next is one."""
    tokens = job.trace.side(job.site.query_side).tokens
    found = [row for row in job.rows if row + 1 < len(tokens) and not tokens[row + 1].special]
    if not found:
        raise UserError("no word was written in these rows; choose others with queries=")
    return np.array(found)


def _chosen(job: Depicted, rows: Array) -> int | None:
    if job.query is None:
        return None
    at = np.flatnonzero(rows == job.asking)
    if not at.size:
        raise UserError(f"query {job.query} is not drawn; choose from {rows[0]} to {rows[-1]}")
    return int(at[0])


def resting_at(job: Depicted) -> float | None:
    """The second at which the layer rests, whichever word comes next; None unless a row that is drawn shows it.

    It is the moment that most words give some attention, in the mean of all heads, while no other has a third of it.
    """
    heard = heard_in(job)
    if not heard.words:
        return None
    rows = _writing(job)
    frames = len(heard.spans)
    first = int(job.columns[0])
    every = [
        job.trace.attention(job.layer, head, kind=job.kind, queries=rows)[:, first : first + frames]
        for head in job.site.head_ids
    ]
    usual = np.sort(np.mean(every, axis=0), axis=0)[len(rows) // 2]
    at = int(usual.argmax())
    others = usual[np.abs(np.arange(frames) - at) > _AROUND].max(initial=0)
    known = len(rows) >= _FEWEST and usual[at] >= max(_RESTED, _ALONE * others)
    shown = heard.values[:, at] >= heard.values.max(axis=1) / 2
    return float(heard.spans[at].mean()) if known and shown.any() else None


def resting_told(job: Depicted) -> list[str]:
    """What the mark of that second means."""
    second = resting_at(job)
    return [] if second is None else [f"at {second:.2f} s layer {job.layer} rests, whatever word comes next"]


def told(job: Depicted) -> str:
    """What the figure shows of what is pointed at."""
    heard = heard_in(job)
    one = len(job.heads) == 1
    who = f"head {job.layer}.{job.heads[0]}" if one else f"{len(job.heads)} heads of layer {job.layer}"
    who = f"the mean of {who}" if not one and heard.chosen is not None else who
    if heard.chosen is None:
        verb = f"{who} listen{'s' if one else ''} for each word" if heard.words else f"{who} look{'s' if one else ''}"
        return f"When {verb}" if heard.words else f"At which moments {verb}"
    row = int(heard.rows[heard.chosen])
    most = f"{heard.spans[heard.curve.argmax()].mean():.2f} s"
    if not heard.words:
        here = f"{job.trace.side(job.site.query_side).spans[row].mean():.2f} s"  # type: ignore[index]
        return f"From {here}, {who} looks most at {most}"
    tokens = job.trace.side(job.site.query_side).tokens
    word, before = (label_of(tokens[at]) for at in (row + 1, row))
    return f"Before “{word}” is written, after “{before}”, {who} listens most at {most}"


def _is_sound(side: Side) -> bool:
    return side.medium is not None and side.medium.kind == SOUND and side.spans is not None
