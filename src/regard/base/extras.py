"""Packages that are not always installed.

Enters: a package's name. Leaves: the package, or a sentence that says how to get it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from regard.base.errors import MissingPackageError

EXTRAS = {"pandas": "studies", "polars": "data", "duckdb": "data", "xarray": "data"}


def require(package: str, what: str) -> ModuleType:
    """A package that is loaded only when asked for; `what` needs it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(f"{what} need {package}; run: pip install 'regard[{EXTRAS[package]}]'") from None
