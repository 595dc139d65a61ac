"""The example that the app shows while its model is being loaded: the first example's trace, as a payload.

Enters: nothing. Leaves: the bytes of `static/example.bin`, which `make example` writes with the built-in model.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from regard.app.examples import EXAMPLES
from regard.base.files import write_atomic

PLACE = Path(__file__).parent.parent / "static" / "example.bin"


@cache
def saved_example() -> bytes:
    """The payload; empty where the package comes without it."""
    try:
        return PLACE.read_bytes()
    except OSError:
        return b""


def made_example() -> bytes:
    """The same, from the model."""
    from regard.models.load import load
    from regard.views.wire import encode

    first = EXAMPLES[0]
    start = {name: first["open"][name] for name in ("kind", "layer", "heads")}
    trace = load(first["model"]).trace(first["text"], first["pair"])
    facts = {**trace.facts, "text": " · ".join(filter(None, (first["text"], first["pair"])))}
    return encode(replace(trace, facts=facts), view="heads", **start, packed=True)


if __name__ == "__main__":
    write_atomic(PLACE, lambda path: Path(path).write_bytes(made_example()))
