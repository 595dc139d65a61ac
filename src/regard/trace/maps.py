"""Traces of attention maps that were made elsewhere.

Enters: tensors of any library, or nested lists, and token texts. Leaves: the parts of a Trace, checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.base.errors import UserError, WrongTypeError
from regard.trace.mask import Mask
from regard.trace.pieces import side_of_ids, side_of_texts
from regard.trace.sentences import reason
from regard.trace.site import KINDS, Array, Site
from regard.trace.tokens import Segment, Side

# What models of transformers, and BertViz, call their maps.
_OUTPUTS = {
    "attentions": None,  # the one kind that the model has
    "attention": None,
    **{f"{kind}_attention{ending}": kind for kind in KINDS for ending in ("", "s")},
}
_SIDES = {"encoder": ("encoder", "encoder"), "decoder": ("decoder", "decoder"), "cross": ("decoder", "encoder")}


def of_maps(
    maps: Any,
    tokens: Sequence[str] | Mapping[str, Sequence[str]],
    key_tokens: Sequence[str] | None,
    kind: str,
    segments: tuple[Segment, ...],
    tokenizer: Any = None,
    causal: bool | None = None,
) -> tuple[dict[str, Side], tuple[Site, ...]]:
    """Sides and sites of maps; see `Trace.from_maps`."""
    by_kind = _by_kind(maps, kind)
    unknown = set(by_kind) - set(KINDS)
    if unknown:
        raise UserError(f"unknown kind {sorted(unknown)[0]!r}; choose from {', '.join(KINDS)}")
    sides = _sides(tokens, key_tokens, kind, segments, tokenizer)
    checked = "decoder" if "decoder" in by_kind else "encoder"  # whose causality may be given
    sites = [
        site
        for name in KINDS
        if name in by_kind
        for site in _sites(name, by_kind[name], sides, causal if name == checked else None)
    ]
    if not sites:
        raise UserError(
            "there are no attention maps; the model may have returned an empty tuple because its "
            "fast kernel returns no weights: trace it with regard.load(model).trace(text) instead"
        )
    return sides, tuple(sites)


def _by_kind(maps: Any, kind: str) -> dict[str, Any]:
    """Maps by kind of attention; the outputs of a model of transformers call them by other names."""
    if not isinstance(maps, Mapping):
        return {kind: maps}
    named = {str(name): value for name, value in maps.items() if value is not None}
    if not set(named) & set(_OUTPUTS):
        return named
    return {_OUTPUTS[name] or kind: value for name, value in named.items() if name in _OUTPUTS and len(value)}


def _sides(
    tokens: Sequence[str] | Mapping[str, Sequence[str]],
    key_tokens: Sequence[str] | None,
    kind: str,
    segments: tuple[Segment, ...],
    tokenizer: Any,
) -> dict[str, Side]:
    def side_of(texts: Sequence[str], name: str) -> Side:
        return side_of_texts(texts, name) if tokenizer is None else side_of_ids(tokenizer, texts, name)

    if isinstance(tokens, str):
        raise WrongTypeError("tokens must be a list of token texts, one per position, not one string")
    if isinstance(tokens, Mapping):
        return {name: side_of(texts, name) for name, texts in tokens.items()}
    query_side, key_side = _SIDES[kind]
    first = side_of(tokens, query_side)
    segments = segments or (segments_of(first) if query_side == "encoder" else ())
    if segments:
        first = Side(first.name, _segmented(first, segments), segments)
    if key_tokens is None and query_side == key_side:
        return {query_side: first}
    if key_tokens is None:
        raise UserError("cross attention needs key_tokens: the tokens of the side that is attended to")
    if query_side == key_side:
        key_side = "keys"
    return {key_side: side_of(key_tokens, key_side), query_side: first}


def segments_of(side: Side) -> tuple[Segment, ...]:
    """Two sentences, where [SEP], or a pair of </s>, says where the first ends; otherwise none are known."""
    texts, last = side.texts, len(side) - 1
    ends = [i for i, text in enumerate(texts) if text == "[SEP]"]
    if len(ends) == 2 and ends[1] == last and ends[0] + 1 < last:
        return Segment("A", 0, ends[0] + 1), Segment("B", ends[0] + 1, last + 1)
    ends = [i for i, text in enumerate(texts) if text == "</s>"]
    if len(ends) == 3 and ends[1] == ends[0] + 1 and ends[2] == last and ends[1] + 1 < last:
        return Segment("A", 0, ends[1]), Segment("B", ends[1], last + 1)
    return ()


def _segmented(side: Side, segments: tuple[Segment, ...]) -> tuple[Any, ...]:
    from dataclasses import replace

    number = {i: n for n, s in enumerate(segments) for i in range(s.start, s.end)}
    return tuple(replace(token, segment=number.get(i, 0)) for i, token in enumerate(side.tokens))


def _sites(kind: str, maps: Any, sides: Mapping[str, Side], causal: bool | None) -> list[Site]:
    query_side, key_side = _SIDES[kind]
    if "keys" in sides:
        key_side = "keys"
    for side in (query_side, key_side):
        if side not in sides:
            raise UserError(f"{kind} attention needs the tokens of the {side}; pass tokens={{'{side}': [...]}}")
    arrays = _layers(maps, kind)
    for layer, array in enumerate(arrays):
        _check(array, kind, layer, sides[query_side], sides[key_side])
    mask = Mask(None, 0) if query_side == key_side and _are_causal(arrays, kind, causal) else Mask()
    sites = []
    for layer, array in enumerate(arrays):
        sites.append(
            Site(
                kind=kind,
                layer=layer,
                query_side=query_side,
                key_side=key_side,
                head_ids=tuple(range(array.shape[0])),
                maps=array,
                mask=mask,
                no_norms=reason("foreign_maps"),
            )
        )
    return sites


def _are_causal(arrays: list[Array], kind: str, given: bool | None) -> bool:
    """Whether maps come from a causal model: as given, or judged from all maps together.

    It is not enough that no head looks ahead: an encoder's heads may all rest on [CLS]. A softmax gives some weight to
    every visible key, so in a causal model some head looks at each earlier key.
    """
    if given is False or not arrays:
        return False
    looked = np.any([array.any(axis=0) for array in arrays], axis=0)  # (queries, keys)
    ahead = bool(np.triu(looked, 1).any())
    if given and ahead:
        raise UserError("the maps attend to later tokens, so they are not from a causal model; pass causal=False")
    if given is None and (ahead or len(looked) < 2):
        return False
    return bool(given or kind == "decoder" or looked[np.tri(len(looked), dtype=bool)].all())


def _layers(maps: Any, kind: str) -> list[Array]:
    """(heads, queries, keys) arrays, one per layer."""
    arrays = [_maps_in(layer) for layer in maps]
    for number, array in enumerate(arrays):
        if array.ndim == 4 and array.shape[0] == 1:
            arrays[number] = array[0]
        elif array.ndim == 4:
            raise UserError(
                f"{kind} layer {number} contains a batch of {array.shape[0]} examples; make one trace per example"
            )
        elif array.ndim != 3:
            raise UserError(f"{kind} layer {number} has shape {array.shape}; expected (heads, queries, keys) per layer")
    return arrays


def _maps_in(layer: Any) -> Array:
    """The maps of a layer; of a saved module output, such as nnsight's (output, maps), the part that is maps."""
    if not isinstance(layer, tuple | list) or not layer or not hasattr(layer[0], "shape"):
        return as_array(layer)
    parts = [as_array(part) for part in layer if getattr(part, "ndim", 0) in (3, 4)]
    found = [part for part in parts if part.ndim == 4 and part.min() >= 0 and part.max() <= 1 + 1e-3]
    if len(found) == 1:
        return found[0]
    return np.stack([as_array(part) for part in layer])  # of each head


def as_array(value: Any) -> Array:
    """A float32 numpy array of a tensor of any library, or of nested lists."""
    value = getattr(value, "value", value) if type(value).__module__.startswith("nnsight") else value  # its proxies
    for step in ("detach", "float", "cpu"):  # torch: off the graph, out of bfloat16, off the accelerator
        if hasattr(value, step) and not isinstance(value, np.ndarray):
            value = getattr(value, step)()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = np.from_dlpack(value)
    return np.asarray(value, dtype=np.float32)


def _check(array: Array, kind: str, layer: int, query: Side, key: Side) -> None:
    expected = (len(query), len(key))
    if array.shape[1:] != expected:
        raise UserError(
            f"{kind} layer {layer} has maps of {array.shape[1]} queries by {array.shape[2]} keys but there are "
            f"{expected[0]} and {expected[1]} tokens; pass the tokens the model saw, special tokens included"
        )
    if not np.isfinite(array).all():
        raise UserError(
            f"{kind} layer {layer} contains NaN or infinite attention; check the model's precision and its masks"
        )
    if array.min(initial=0) < -1e-6 or array.max(initial=0) > 1 + 1e-3:
        raise UserError(f"{kind} layer {layer} has values outside [0, 1]; pass attention after softmax, not scores")
