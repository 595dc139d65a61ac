"""A model's maps brought into the shape of regard's sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from regard.trace.site import Site


class MismatchError(AssertionError):
    """A family that does not pass, with the reason in one line."""


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)


def part_of(maps: torch.Tensor, site: Site, example: int, examples: int, parts: int) -> np.ndarray:
    """(heads, queries, keys) of one site: windows lie in the batch dimension, other parts side by side as heads."""
    rows = maps.shape[0]
    if rows == examples * parts:
        return maps[example * parts + site.part].float().numpy()
    if rows == examples and maps.shape[1] == parts * site.heads:
        return maps[example, site.part * site.heads : (site.part + 1) * site.heads].float().numpy()
    if rows == examples and maps.shape[1] == site.heads:
        return maps[example].float().numpy()
    raise MismatchError(f"{site.path}: {parts} parts of {examples} examples, but maps of shape {tuple(maps.shape)}")


def spread_bands(bands: torch.Tensor) -> torch.Tensor:
    """Longformer's weights of the keys around each query, put where those keys are."""
    queries, width = bands.shape[-2:]
    if width == queries:
        return bands
    maps = torch.zeros(*bands.shape[:3], queries)
    for query in range(queries):
        for column in range(width):
            key = query + column - width // 2
            if 0 <= key < queries:
                maps[:, :, query, key] = bands[:, :, query, column]
    return maps


def declared_maps(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors under output fields named ...attentions, with regard's names for them."""
    if not isinstance(value, Mapping):
        return
    for name, item in value.items():
        if name.endswith("attentions"):
            for number, tensor in enumerate(tensors_in(item)):
                yield f"{path}{name}.{number}", tensor
        else:
            yield from declared_maps(item, f"{path}{name}.")


def is_map(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or value.ndim != 4 or not value.is_floating_point():
        return False
    return bool(value.min() >= 0) and bool((value.sum(-1) <= 1.001).all()) and bool(value.sum() > 0)


def cut_padding(maps: np.ndarray, site: Site, example: int, inputs: Mapping[str, Any]) -> np.ndarray:
    """A reference map without its padded rows and columns."""
    for axis, side in ((1, site.query_side), (2, site.key_side)):
        mask = inputs.get("decoder_attention_mask" if side == "decoder" else "attention_mask")
        if side in ("text", "encoder", "decoder") and mask is not None and mask.shape[1] == maps.shape[axis]:
            maps = np.compress(mask[example].numpy().astype(bool), maps, axis=axis)
    return maps
