"""The vectors of a sample as files of a study's folder, and read from it again.

Enters: vectors, or a folder. Leaves: `vectors/KIND-LAYER.safetensors` and the table of the sample's texts; vectors.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import MissingFileError, OutOfRangeError, UserError
from regard.studies.heads.describing import Place
from regard.studies.heads.vectors import Input, LayerVectors, Vectors
from regard.trace.heads import Layout, parse_heads

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.result import ArrayFile

FOLDER, TABLE = "vectors", "sample"
_ARRAYS = ("q", "k", "keys", "weights")


def array_files(vectors: Vectors) -> dict[str, ArrayFile]:
    """A file of arrays per layer."""
    return {
        f"{FOLDER}/{kind}-{layer}.safetensors": (
            {name: getattr(one, name) for name in _ARRAYS},
            {"scale": repr(one.scale), "still": str(int(one.still)), "sides": " ".join(one.sides)},
        )
        for (kind, layer), one in vectors.layers.items()
    }


def sample_table(vectors: Vectors) -> pd.DataFrame:
    """A row per input of the sample and side, in the order of the arrays."""
    import pandas as pd

    rows = [
        {"example": one.name[0], "part": one.name[1], "side": side, "tokens": list(tokens)}
        for one in vectors.inputs
        for side, tokens in one.sides.items()
    ]
    return pd.DataFrame(rows, columns=["example", "part", "side", "tokens"])


def sample_facts(vectors: Vectors) -> dict[str, Any]:
    """What meta.json says of the sample."""
    return {
        "inputs": len(vectors.inputs),
        "positions": max((len(one.q[0]) for one in vectors.layers.values()), default=0),
        "bytes": vectors.bytes,
        "heads": {f"{kind}/{layer}": len(one.q) for (kind, layer), one in vectors.layers.items()},
        "still": all(one.still for one in vectors.layers.values()),
    }


class Stored:
    """A folder of portraits with vectors."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            meta = json.loads((self.folder / "meta.json").read_text("utf-8"))
            layout: dict[str, int] = meta["vectors"]["heads"]
            self.model, self.corpus = str(meta["model"]), str(meta["corpus"]["name"])
        except (OSError, ValueError, KeyError, TypeError):
            raise MissingFileError(
                f"{folder} holds no portraits with vectors; make them with: regard study heads CORPUS -o {folder}"
            ) from None
        self.layout: Layout = {_place(name): int(count) for name, count in layout.items()}
        if not self.layout:
            raise UserError(f"{self.model} gives no access to q and k, or {folder} was made with --vectors 0")

    def head(self, name: Any) -> Place:
        """One head by its name, such as "0.2"."""
        found = parse_heads(name, self.layout)
        if len(found) != 1:
            raise OutOfRangeError(f"{name} is {len(found)} heads; name one, such as 0.2")
        kind, layer, head = found[0]
        return kind, layer, head

    def inputs(self) -> list[Input]:
        """The inputs of the sample."""
        import pandas as pd

        found: dict[tuple[int, int], dict[str, list[str]]] = {}
        for row in pd.read_parquet(self.folder / f"{TABLE}.parquet").itertuples():
            found.setdefault((int(row.example), int(row.part)), {})[str(row.side)] = list(row.tokens)
        return [Input(name, sides) for name, sides in found.items()]

    def head_vectors(self, place: Place) -> LayerVectors:
        """The vectors of one head, as those of a layer that has only this."""
        from safetensors import SafetensorError, safe_open

        kind, layer, head = place
        path = self.folder / FOLDER / f"{kind}-{layer}.safetensors"
        try:
            with safe_open(path, framework="numpy") as file:
                facts = file.metadata()
                parts = {name: file.get_slice(name) for name in _ARRAYS}
                group = head * parts["k"].get_shape()[0] // parts["q"].get_shape()[0]
                q, keys, weights = (parts[name][head : head + 1] for name in ("q", "keys", "weights"))
                sides = facts["sides"].split(" ")
                still = facts["still"] == "1"
                k = parts["k"][group : group + 1]
                return LayerVectors(q, k, keys, weights, float(facts["scale"]), still, (sides[0], sides[1]))
        except (OSError, SafetensorError, LookupError, ValueError, TypeError) as error:
            raise UserError(f"{path} cannot be read ({error}); make the portraits again") from None


def _place(name: str) -> tuple[str, int]:
    kind, _, layer = name.partition("/")
    return kind, int(layer)
