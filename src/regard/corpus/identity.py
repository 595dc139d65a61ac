"""The identity of a run: only a run with the same study, model, corpus and options resumes from a checkpoint.

Enters: a study, a model and a source. Leaves: a dictionary of plain values by which two runs can be compared; contents
appear as fingerprints. Paths and devices do not count.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.models.fingerprint import (
    config_digest,
    file_digest,
    folder_digest,
    processor_digest,
    tokenizer_digest,
    weights_digest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from regard.corpus.readers.source import Source
    from regard.models.model import Model

_PLACES = ("place", "more")  # of a source: its content counts, not its path


def source_identity(source: Source) -> dict[str, Any]:
    """How a corpus is read, and the fingerprint of each of its files; None for anything that is not a local file."""
    options = {name: value for name, value in asdict(source).items() if name not in _PLACES}
    return {"content": [_content(place) for place in (source.place, *source.more)], **options}


def _content(place: str) -> str | None:
    path = Path(place)
    return file_digest(path) if path.is_file() else folder_digest(path) if path.is_dir() else None


def model_identity(model: Model) -> dict[str, Any]:
    """The fingerprints of a model: weights, configuration, tokenizer, processor; type, precision, limit; heads switched
    off."""
    facts = model.facts
    return {
        "class": facts["class"],
        "dtype": facts["dtype"],
        "weights": weights_digest(model.module),
        "configuration": config_digest(model.config),
        "tokenizer": tokenizer_digest(model.tokenizer),
        "processor": processor_digest(model._engine.processor),
        "limit": model.limit,
        "ablated": facts.get("ablated"),
    }


def differences(stored: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> list[str]:
    """How two identities differ, in words."""
    found: list[str] = []
    for name in dict.fromkeys((*stored, *now)):
        one, other, what = stored.get(name), now.get(name), f"{of} {name}".strip()
        if isinstance(one, dict) and isinstance(other, dict):
            found += differences(one, other, what)
        elif one != other:
            found.append(f"{what} was {_short(one)} and is now {_short(other)}")
    return found


def _short(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
