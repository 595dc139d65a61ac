"""Where the corpus of a study lies on this machine.

Enters: the folder of a study and its source. Leaves: the paths of its corpus, later.

A study's folder is made to be passed on, so it has the names of files but no paths. The paths are kept apart, in the
user's own cache, one small file per folder.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from regard.base.files import own_cache, write_atomic
from regard.corpus.readers.source import Source

_MOST = 100_000  # bytes of such a file


def remember(folder: Path, source: Source) -> None:
    """Note where the corpus of a study was read; a cache that cannot be written is no reason to fail."""
    if source.format == "dataset" or source.once:
        return
    paths = [str(Path(place).resolve()) for place in (source.place, *source.more)]
    with suppress(OSError):
        write_atomic(_note(folder), lambda path: Path(path).write_text(json.dumps(paths), "utf-8"))


def remembered(folder: Path, name: str) -> Path | None:
    """The file of this name that a study was made from, if it is still there."""
    note = _note(folder)
    try:
        if note.stat().st_size > _MOST:
            return None
        paths = json.loads(note.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    known = [Path(one) for one in paths if isinstance(one, str)] if isinstance(paths, list) else []
    return next((path for path in known if path.name == name and path.is_file()), None)


def _note(folder: Path) -> Path:
    return own_cache() / "studies" / f"{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]}.json"
