"""Portraits as the static tree that the HeadVis front end opens (config, scatter_data, a file per head).

Enters: the folder of a study of heads. Leaves: a folder to serve as HeadVis's `data/`.

HeadVis shows attention within one text; a head's sequences are the looks of its page, each with the one row that was
kept, outside the resting places. Deciles are its activation intervals, the strongest looks are in the last one. Its
front end takes a metric for one if the first row of scatter_data has a number for it, and never counts the first
position, neither as a query nor as a key.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import MissingFileError, UserError
from regard.base.files import write_atomic
from regard.trace.tokens import Token, is_special

if TYPE_CHECKING:
    import pandas as pd

INTERVALS = 10
TOKENS = 50  # of each list, as in HeadVis
METRICS = {
    "rests": "Share of the attention on special tokens, or on the first one.",
    "correlation": "Correlation of the description with where the head looks, on text it was not chosen on.",
    "self_attention_score": "Share of the awake attention on the token itself.",
    "prev_token_score": "Share of the awake attention on the previous token.",
    "qk_distance": "Mean |query - key| of the awake attention; 33 stands for more than 32.",
}
_PERCENT = "Percent of the awake attention."  # the front end shows two decimals
_TABLES = ("result", "examples", "tokens", "distances")


def export_headvis(folder: Path, output: Path, kind: str | None = None) -> Path:
    """Write the tree of a folder of portraits; `kind` of attention is its first unless given."""
    tables, meta = _read(folder)
    kinds = list(dict.fromkeys(tables["result"]["kind"]))
    chosen = kinds[0] if kind is None else kind
    if chosen not in kinds:
        raise UserError(f"{folder} has no {chosen} attention; it has {', '.join(kinds)}")
    if chosen == "cross":
        raise UserError("HeadVis shows attention within one text; cross attention is in the JSON of each head")
    mine = {name: table[table["kind"] == chosen] for name, table in tables.items()}
    heads = [(int(row.layer), int(row.head)) for row in mine["result"].itertuples()]
    parts = {name: dict(list(table.groupby(["layer", "head"]))) for name, table in mine.items()}
    _write(output / "server_config.json", {})  # no server: files alone
    _write(output / "attributions" / "manifest.json", {})
    _write(output / "scatter_data.json", _scatter([_metrics(place, parts) for place in heads]))
    for place in heads:
        _write(output / "heads" / f"L{place[0]}H{place[1]}.json", _head(place, parts))
    _write(output / "config.json", _config(meta, heads))
    return output


def _read(folder: Path) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    import pandas as pd

    try:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        tables = {name: pd.read_parquet(folder / f"{name}.parquet") for name in _TABLES}
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{folder} is no folder of portraits ({Path(str(error.filename)).name} is missing); make one with: "
            "regard study heads CORPUS -o FOLDER"
        ) from None
    return tables, meta


def _config(meta: dict[str, Any], heads: list[tuple[int, int]]) -> dict[str, Any]:
    layers, numbers = (sorted({place[n] for place in heads}) for n in (0, 1))
    corpus, inputs = str(meta["corpus"]["name"]), int(meta["tally"]["inputs"])
    return {
        "model_name": str(meta["model"]),
        "dataset_name": corpus,
        "heads": [list(place) for place in heads],
        "n_layers": layers[-1] + 1,
        "n_heads": numbers[-1] + 1,
        "n_intervals": INTERVALS,
        "metrics": list(METRICS),
        "metric_descriptions": METRICS,
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "scatter": {"default_x": "layer", "default_y": "head", "default_color": "correlation"},
        "custom_plots": [
            {"key": "qk_distance_histogram", "label": "Distance", "description": "Shares of the awake attention."}
        ],
        "custom_tables": [
            {"key": "top_query_tokens", "label": "Tokens that look", "description": _PERCENT},
            {"key": "top_key_tokens", "label": "Tokens looked at", "description": _PERCENT},
        ],
        "statistics_display": {"n_samples": {"label": "Looks kept", "format": "integer"}},
        "pipeline_config": {"made_by": f"regard {meta['regard']}", "n_sequences": inputs},
    }


def _scatter(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of all heads; one that has every number, if there is one, comes first."""
    return sorted(rows, key=lambda row: sum(value is None for value in row.values()) > 0)


def _metrics(place: tuple[int, int], parts: dict[str, dict[Any, pd.DataFrame]]) -> dict[str, Any]:
    row, far = parts["result"][place].iloc[0], parts["distances"][place]
    share = dict(zip(far["distance"], far["share"], strict=True))
    numbers = {
        "rests": row["rests"],
        "correlation": row["value"],
        "self_attention_score": share.get(0, 0.0),
        "prev_token_score": share.get(-1, 0.0),
        "qk_distance": sum(abs(distance) * part for distance, part in share.items()),
    }
    return {"layer": place[0], "head": place[1], **{name: _number(value) for name, value in numbers.items()}}


def _head(place: tuple[int, int], parts: dict[str, dict[Any, pd.DataFrame]]) -> dict[str, Any]:
    nothing = parts["examples"].get(place)
    looks = [] if nothing is None else [_sequence(row) for row in nothing.to_dict("records") if _is_shown(row)]
    far = parts["distances"][place]
    return {
        "sequences": looks,
        "qk_distance_histogram": _histogram(far["distance"].to_numpy(), far["share"].to_numpy()),
        "top_query_tokens": _tokens(parts["tokens"].get(place), "looking"),
        "top_key_tokens": _tokens(parts["tokens"].get(place), "looked at"),
        "statistics": {"n_samples": len(looks)},
    }


def _is_shown(row: dict[str, Any]) -> bool:
    """Whether a look was chosen by its weight, and not from or to the first position, which HeadVis leaves out.

    Those chosen by what arrives have no weights of the same scale.
    """
    return "arrives" not in str(row["group"]) and min(row["query"], row["key"]) > 0


def _sequence(row: dict[str, Any]) -> dict[str, Any]:
    """A look as a sequence with one row of attention: places are query x length + key."""
    tokens = [str(token) for token in row["tokens"]]
    looks = [one for one in zip(row["keys"], row["weights"], strict=True) if not _rests(row, tokens, *one)]
    quantile = row["quantile"]
    ordinary = quantile is not None and quantile == quantile
    return {
        "sequence_id": int(row["example"]),
        "interval": int(quantile * INTERVALS) + 1 if ordinary else INTERVALS,
        "tokens": tokens,
        "attention_indices": [int(row["query"]) * len(tokens) + int(key) for key, _ in looks],
        "attention_values": [_number(weight) for _, weight in looks],
        "seq_len": len(tokens),
        "max_activation": _number(row["weight"]),
    }


def _rests(row: dict[str, Any], tokens: list[str], key: int, weight: float) -> bool:
    """Whether a key is a resting place: a delimiter, or stronger than the strongest look outside those."""
    delimiter = Token(tokens[key], special=is_special(tokens[key])).border
    return bool(key != row["key"] and (delimiter or weight > row["weight"]))


def _histogram(distances: np.ndarray[Any, Any], shares: np.ndarray[Any, Any]) -> dict[str, list[float]]:
    """Shares by |query - key|, one bin for each."""
    count = int(np.abs(distances).max(initial=0)) + 1
    values = np.bincount(np.abs(distances).astype(int), shares, count)
    return {"bin_edges": list(range(count + 1)), "bin_values": [round(float(value), 6) for value in values]}


def _tokens(table: pd.DataFrame | None, side: str) -> list[dict[str, Any]]:
    if table is None:
        return []
    mine = table[table["side"] == side].sort_values("share", ascending=False).head(TOKENS)
    return [{"token": row.token, "weight": round(100 * float(row.share), 2)} for row in mine.itertuples()]


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)


def _write(path: Path, record: Any) -> None:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    write_atomic(path, lambda place: Path(place).write_text(text + "\n", "utf-8"))
