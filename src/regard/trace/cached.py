"""Traces of what other tools have saved: caches of TransformerLens, trees of HeadVis.

Enters: a mapping of names to arrays, or a folder. Leaves: the parts of a Trace, checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.errors import MissingFileError, UnknownNameError, UserError
from regard.trace.maps import as_array, of_maps
from regard.trace.site import Array, Site
from regard.trace.tokens import Side

_PATTERN = re.compile(
    r"(?:(?P<side>encoder|decoder)\.|blocks\.)(?P<layer>\d+)\.(?P<what>attn|cross_attn)\.hook_pattern"
)
_AGREES = 1e-3  # how near maps made of q and k must come to the maps of the cache
Parts = tuple[dict[str, Side], tuple[Site, ...]]


def of_cache(cache: Any, tokens: Any, tokenizer: Any = None, example: int = 0) -> Parts:
    """Sides and sites of an `ActivationCache`; see `Trace.from_transformer_lens`."""
    found: dict[str, dict[int, tuple[str, Array]]] = {}
    for name in cache.keys():  # noqa: SIM118 (a cache is iterated over its keys only by this method)
        match = _PATTERN.fullmatch(str(name))
        if match is not None:
            kind = "cross" if match["what"] == "cross_attn" else match["side"] or ""
            stem = str(name).removesuffix("hook_pattern")
            found.setdefault(kind, {})[int(match["layer"])] = stem, _row(cache[name], example, 4, str(name))
    if not found:
        raise UserError(
            "the cache has no attention maps (blocks.0.attn.hook_pattern, ...); run_with_cache keeps them unless "
            "names_filter leaves them out"
        )
    if "" in found:
        causal = not any(np.triu(maps, 1).any() for _, maps in found[""].values())
        found["decoder" if causal else "encoder"] = found.pop("")
    maps = {kind: [layers[layer][1] for layer in sorted(layers)] for kind, layers in found.items()}
    given = tokens if isinstance(tokens, Mapping) else {next(iter(found)): tokens}
    sides, sites = of_maps(maps, given, None, next(iter(found)), (), tokenizer)
    numbers = {kind: sorted(layers) for kind, layers in found.items()}
    return sides, tuple(_with_vectors(site, numbers[site.kind][site.layer], found, cache, example) for site in sites)


def _with_vectors(site: Site, layer: int, found: Mapping[str, Any], cache: Any, example: int) -> Site:
    """The site under its own layer's number, with q, k and v in place of maps where these give the same maps."""
    stem, maps = found[site.kind][layer]
    site = replace(site, layer=layer)
    names = set(map(str, cache.keys()))

    def vectors(*choices: str) -> Array | None:
        name = next((stem + choice for choice in choices if stem + choice in names), None)
        return None if name is None else _row(cache[name], example, 4, name).transpose(1, 0, 2)  # (H, positions, d)

    q, k, v = vectors("hook_rot_q", "hook_q"), vectors("hook_rot_k", "hook_k"), vectors("hook_v")
    if q is None or k is None or len(q) % len(k):
        return replace(site, v=v)
    whole = replace(site, q=q, k=k, v=v, maps=None, scale=float(q.shape[-1] ** -0.5))
    made = np.stack([whole.attention(index) for index in range(whole.heads)])
    return whole if np.abs(made - maps).max() < _AGREES else replace(site, v=v)


def _row(value: Any, example: int, dimensions: int, name: str) -> Array:
    """One example of a batch; a cache may have lost its batch dimension."""
    array = as_array(value)
    if array.ndim == dimensions - 1:
        return array
    if array.ndim != dimensions or not 0 <= example < len(array):
        raise UserError(f"{name} has shape {array.shape}; there is no example {example} in it")
    return np.asarray(array[example])


def of_headvis(folder: str | Path, sequence: int | None) -> Parts:
    """Sides and sites of one sequence of a HeadVis tree; see `Trace.from_headvis`."""
    place = Path(folder)
    heads: dict[tuple[int, int], dict[int, Any]] = {}
    for layer, head in _json(place / "config.json")["heads"]:
        record = _json(place / "heads" / f"L{layer}H{head}.json")
        heads[layer, head] = {int(one["sequence_id"]): one for one in record["sequences"]}
    counts: dict[int, int] = {}
    for one in heads.values():
        for number in one:
            counts[number] = counts.get(number, 0) + 1
    if not counts:
        raise UserError(f"{folder} has no sequences")
    chosen = max(counts, key=lambda number: (counts[number], -number)) if sequence is None else sequence
    if chosen not in counts:
        raise UnknownNameError(f"no head of {folder} has sequence {chosen}; there are {_some(sorted(counts))}")
    mine = {head: one[chosen] for head, one in heads.items() if chosen in one}
    return _tree_sites(mine)


def _tree_sites(mine: Mapping[tuple[int, int], Any]) -> Parts:
    tokens = [str(token) for token in next(iter(mine.values()))["tokens"]]
    layers = sorted({layer for layer, _ in mine})
    by_layer = {layer: sorted(head for at, head in mine if at == layer) for layer in layers}
    maps = [np.stack([_dense(mine[layer, head], len(tokens)) for head in by_layer[layer]]) for layer in layers]
    ahead = any(np.triu(array, 1).any() for array in maps)
    kind = "encoder" if ahead else "decoder"
    sides, sites = of_maps({kind: maps}, {kind: tokens}, None, kind, ())
    named = zip(sites, layers, strict=True)
    return sides, tuple(replace(one, layer=layer, head_ids=tuple(by_layer[layer])) for one, layer in named)


def _dense(one: Any, length: int) -> Array:
    """(length, length) weights; those that the tree leaves out are 0."""
    if one["seq_len"] != length:
        raise UserError(
            f"sequence {one['sequence_id']} has {length} tokens in one head and {one['seq_len']} in another"
        )
    flat = np.zeros(length * length, np.float32)
    flat[np.asarray(one["attention_indices"], np.int64)] = np.asarray(one["attention_values"], np.float32)
    return flat.reshape(length, length)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise MissingFileError(f"{path.parent} is no HeadVis tree: {path.name} is missing") from None
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error})") from None


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:10]))
    return f"{shown}, ..." if len(numbers) > 10 else shown
