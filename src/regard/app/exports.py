"""Files of a trace: the trace itself, a figure, a page; in the worker's thread.

Enters: traces that the server keeps. Leaves: files that go when nobody needs them.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.app.problems import bad
from regard.app.queries import Drawing
from regard.app.questions import Open
from regard.app.shelf import KeptTrace
from regard.app.work import measure
from regard.app.worker import Job
from regard.views.html import save_html


class File:
    """A file that exists as long as this object, or until it is removed."""

    def __init__(self, suffix: str) -> None:
        descriptor, name = tempfile.mkstemp(prefix="regard-", suffix=suffix)
        os.close(descriptor)
        self.path = Path(name)
        self.remove = weakref.finalize(self, self.path.unlink, missing_ok=True)


def trace_file(entry: KeptTrace) -> File:
    """The trace as a trace file."""
    return _write(".safetensors", entry.trace.save)


def figure(entry: KeptTrace, asked: Drawing) -> File:
    """A figure of a trace, as `Trace.figure` draws it."""
    first = asked.open
    picture = entry.trace.figure(
        first.view,
        kind=first.kind,
        layer=first.layer,
        heads=None if first.heads is None else list(first.heads),
        query=asked.query,
        contributions=asked.contributions and first.view in ("heads", "matrix"),
        worth=first.worth and first.view not in ("neurons", "sound"),
        threshold=asked.threshold,
        width=asked.width,
    )
    return _write(f".{asked.format}", picture.save)


def page(job: Job, entry: KeptTrace, first: Open) -> File:
    """The saved page as a file."""
    if first.view == "walk" and entry.walk is None:
        raise bad("this trace has no walk")
    measure(entry)
    job.check()
    options = {**vars(first), "report": entry.report or False, "walk": entry.walk}
    return _write(".html", lambda path: save_html(entry.trace, path, **options))


def _write(suffix: str, write: Callable[[Path], Any]) -> File:
    file = File(suffix)
    write(file.path)
    return file
