"""The scripts that lie beside the pages they write."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType


def script(folder: Path, name: str) -> Iterator[ModuleType]:
    """A script of a folder as a module, which may import others of that folder as long as it is in use."""
    sys.path.insert(0, str(folder))
    try:
        yield import_module(name)
    finally:
        sys.path.remove(str(folder))
