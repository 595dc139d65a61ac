"""A head's portrait as one JSON file, for other programs. docs/reference/portraits.md describes it.

Enters: the tables of all heads. Leaves: text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.studies.base import StudyContext
from regard.studies.heads.describing import Place

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1
_PLACE = ("kind", "layer", "head")


def head_record(
    place: Place, index: pd.DataFrame, tables: Mapping[str, pd.DataFrame], context: StudyContext
) -> dict[str, Any]:
    """Everything that the tables have of one head; None in place of NaN."""
    (said,) = _rows(index, place)
    return {
        "format": "regard head",
        "version": VERSION,
        "model": context.model.name,
        "corpus": context.source.name,
        "inputs": context.tally.inputs,
        **dict(zip(_PLACE, place, strict=True)),
        "said": said,
        **{name: _rows(table, place) for name, table in tables.items()},
    }


def head_json(place: Place, index: pd.DataFrame, tables: Mapping[str, pd.DataFrame], context: StudyContext) -> str:
    """The same as text."""
    return json.dumps(head_record(place, index, tables, context), ensure_ascii=False, allow_nan=False) + "\n"


def _rows(table: pd.DataFrame, place: Place) -> list[dict[str, Any]]:
    """The rows of one head, without its name."""
    if table.empty:
        return []
    mine = (table["kind"] == place[0]) & (table["layer"] == place[1]) & (table["head"] == place[2])
    rows = table.loc[mine].drop(columns=list(_PLACE)).to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
