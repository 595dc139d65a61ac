"""regard shows what a Transformer looks at, how it computes that, and what its heads do over a corpus."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.tokens import Segment, Side, Token
from regard.trace import Site, Trace

if TYPE_CHECKING:
    from regard import studies
    from regard.model import Model, load

__version__ = "0.1.0"
__all__ = ["Model", "Segment", "Side", "Site", "Token", "Trace", "load", "studies"]


def __getattr__(name: str) -> Any:
    """`load` and `Model` need torch, `studies` more: imported when they are first used."""
    if name == "studies":
        return import_module("regard.studies")
    if name in ("load", "Model"):
        from regard import model

        return getattr(model, name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")
