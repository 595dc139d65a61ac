"""regard shows what a Transformer looks at, how it computes that, and what its heads do over a corpus."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Site, Trace

if TYPE_CHECKING:
    from regard.models.load import load
    from regard.models.model import Model
    from regard.studies import registry as study
    from regard.studies.find.asking import find
    from regard.studies.heads.nearest import nearest

__version__ = "0.2.0"
__all__ = ["Model", "Segment", "Side", "Site", "Token", "Trace", "find", "load", "nearest", "study"]


def __getattr__(name: str) -> Any:
    """`load` and `Model` need torch, `study`, `find` and `nearest` more: imported when they are first used."""
    if name == "callbacks":
        return import_module("regard.callbacks")
    if name == "study":
        return import_module("regard.studies.registry")
    if name == "find":
        return import_module("regard.studies.find.asking").find
    if name == "nearest":
        return import_module("regard.studies.heads.nearest").nearest
    if name == "load":
        return import_module("regard.models.load").load
    if name == "Model":
        return import_module("regard.models.model").Model
    raise AttributeError(f"module 'regard' has no attribute {name!r}")
