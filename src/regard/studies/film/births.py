"""When heads were born: from which step on they have a name.

Enters: frames. Leaves: records, and the sentences of lists of studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.measures.intervals import between
from regard.patterns.entries import DOES, RESTING_PLACES, rank_of
from regard.studies.film.frames import Frame
from regard.studies.head_names import head_name


def births_of(frames: Sequence[Frame]) -> list[dict[str, Any]]:
    """A record per head and name that it has in the last frame: the step from which it kept it. Most specific first.

    A name that a head has in the first frame was not born: `step` is None there.
    """
    if not frames:
        return []
    found = []
    for number, head in enumerate(frames[-1].heads):
        for name in head["names"]:
            first = _kept_since(frames, number, name)
            lift = head["lifts"].get(name, [None, None, None])
            place = {key: head[key] for key in ("kind", "layer", "head")}
            step = None if first == 0 else frames[first].step
            found.append({**place, "name": name, "step": step, "lift": lift})
    return sorted(found, key=lambda one: (rank_of(one["name"]), -(one["lift"][0] or 0)))


def _kept_since(frames: Sequence[Frame], number: int, name: str) -> int:
    """The first of the last frames without a gap in which a head has a name."""
    for place in range(len(frames) - 1, -1, -1):
        if name not in frames[place].heads[number]["names"]:
            return place + 1
    return 0


def sentences_of(births: Sequence[dict[str, Any]]) -> list[str]:
    """What was born, one sentence for a name: the head that does it most."""
    told: dict[str, str] = {}
    for one in births:
        name, (value, low, high) = one["name"], one["lift"]
        if one["step"] is None or name in told or name in RESTING_PLACES or value is None:
            continue
        ends = "" if low is None or high is None else between(low, high)
        place = head_name(one["layer"], one["head"])
        told[name] = (
            f"Head {place} {DOES.get(name, name)} ({name}) from step {one['step']:,} on: lift {value:.2f}{ends}."
        )
    return list(told.values())
