"""Pictures of a corpus: each as one sequence of patches, and several of one shape as a batch.

Enters: a model that reads pictures alone, and files. Leaves: `Encoded` pictures; inputs and the `Book` of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture import Book
from regard.models.images import read_picture
from regard.models.lines import LineProcessor, padded_side
from regard.models.prepare import Encoded
from regard.trace.tiles import Sighting, picture_side

if TYPE_CHECKING:
    from regard.models.engine import Engine

SIDE = "image"
_Shapes = tuple[tuple[str, tuple[int, ...]], ...]


def encode_picture(engine: Engine, image: Any) -> Encoded:
    """A picture as the model reads it: its inputs, and a side of patches."""
    if not engine.takes("pixel_values") or engine.is_encoder_decoder or engine.takes("input_ids"):
        raise UserError(
            f"{engine.name} does not read pictures alone, as studies of images need; name a vision model such as ViT, "
            "or its vision part, such as CLIPVisionModel"
        )
    inputs, seen = engine.eyes.see(read_picture(image))
    inputs = {name: value for name, value in inputs.items() if engine.takes(name)}
    length = _length(engine, inputs, seen)
    side = picture_side(seen, None, length, 0)
    assert side is not None
    if isinstance(engine.processor, LineProcessor):
        side = padded_side(side)
    return Encoded([0] * length, None, side, inputs=inputs)


def _length(engine: Engine, inputs: Mapping[str, Any], seen: list[Sighting]) -> int:
    """How many positions pictures of this shape have; found by a first run."""
    known: dict[_Shapes, int] = engine.eyes.lengths
    shapes = shapes_of(inputs)
    if shapes not in known:
        (trace,) = engine.record(inputs, Book([{}], {}, [seen], []), [{}])
        sides = {name for site in trace.sites for name in (site.query_side, site.key_side)}
        if sides != {SIDE} or any(site.part for site in trace.sites):
            raise UserError(
                f"{engine.name} does not read a picture as one sequence of patches ({', '.join(sorted(sides))}), so "
                "its heads cannot be studied over a folder; trace its pictures one by one"
            )
        known[shapes] = len(trace.side(SIDE))
    return known[shapes]


def shapes_of(inputs: Mapping[str, Any]) -> _Shapes:
    """Names and shapes of inputs: pictures with the same can be run together."""
    return tuple((name, tuple(value.shape)) for name, value in inputs.items() if isinstance(value, torch.Tensor))


def collate_pictures(rows: Sequence[Encoded]) -> tuple[dict[str, Any], Book]:
    """Inputs of some pictures of one shape, and the patches behind them."""
    parts = [row.inputs for row in rows if row.inputs is not None]
    inputs = {
        name: torch.cat([part[name] for part in parts]) if isinstance(value, torch.Tensor) else value
        for name, value in parts[0].items()
    }
    keep = {SIDE: np.ones((len(rows), len(rows[0].side)), bool)}
    return inputs, Book([{SIDE: row.side} for row in rows], keep)
