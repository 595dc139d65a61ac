"""Progress: one line on standard error that says what is going on, including the progress of other libraries.

Enters: a sentence; the tqdm bars that transformers, the hub and others open meanwhile. Leaves: a line if standard
error is a terminal, nothing if it is a file.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.markup import escape

err = Console(stderr=True, highlight=False)
_lock = threading.Lock()
_open: list[Callable[[str], Any]] = []  # what shows the progress of each `working`, the innermost last
_restore: list[Callable[[], None]] = []  # restores tqdm's own methods


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show what is going on during the block; inside another `working` or a thread, no second line is opened."""
    if err.is_jupyter:  # bars are widgets there
        yield
        return
    first = not _open and err.is_terminal and threading.current_thread() is threading.main_thread()
    with err.status(f"{what} ...") if first else nullcontext() as line:

        def tell(progress: str) -> None:
            if line is not None:
                line.update(f"{what}: {escape(progress)} ...")

        shown = tell if first or not _open else _open[-1]
        _enter(shown)
        try:
            yield
        finally:
            _leave(shown)


def _enter(shown: Callable[[str], Any]) -> None:
    with _lock:
        _open.append(shown)
        if len(_open) == 1:
            _restore.append(_redirect_tqdm())


def _leave(shown: Callable[[str], Any]) -> None:
    with _lock:
        _open.remove(shown)
        if not _open:
            _restore.pop()()


def _redirect_tqdm() -> Callable[[], None]:
    """Make tqdm's bars report their progress instead of drawing themselves, until the returned function is called."""
    from tqdm.std import tqdm

    own = tqdm.__init__, tqdm.display

    def begin(bar: Any, *args: Any, **options: Any) -> None:
        own[0](bar, *args, **options)
        bar.fp = io.StringIO()  # where it would draw itself

    def display(bar: Any, *_: Any, **__: Any) -> None:
        done = f"{bar.n / bar.total:.0%}" if bar.total else f"{bar.n:,}"
        for shown in _open[-1:]:
            shown(f"{(bar.desc or '').strip(' .:')} {done}".strip())

    def restore() -> None:
        tqdm.__init__, tqdm.display = own

    tqdm.__init__, tqdm.display = begin, display
    return restore
