"""Smaller models: heads removed from the weights of BERT-type and GPT-2-type models.

Enters: a `Model` and the heads to remove. Leaves: a `Model` with narrower q, k, v and output projections, whose layers
may have different numbers of heads (`regard.models.pruned` saves and loads it). It computes what the
original model computes with these heads at zero.
"""

from __future__ import annotations

import statistics
import time
from copy import deepcopy
from typing import Any

import torch

from regard.base.errors import UserError
from regard.capture.families import FUSED_PROJECTION
from regard.capture.finite import require_finite_output
from regard.models.model import Model
from regard.models.pruned import MARK, narrow, projection_names
from regard.trace.heads import Heads, parse_heads, refuse_all


def prune(model: Model, heads: Heads) -> Model:
    """A copy of a model without some heads; the model itself does not change.

    Parameters
    ----------
    heads
        Heads to remove, as `Model.ablate` reads them; the result numbers its heads from 0 in every layer.
    """
    layout = model.layout()
    chosen = set(parse_heads(heads, layout))
    refuse_all(chosen, layout)
    cuts = [_cut(model, path, chosen) for path in model._engine.places()]
    module = deepcopy(model.module)
    known = dict(getattr(module, MARK, {}))
    for cut in cuts:
        narrow(module, cut)
        known[cut["path"]] = _after(known.get(cut["path"]), cut)
    setattr(module, MARK, known)
    pruned = Model(module, model.tokenizer, name=model.name)
    difference = distance(model, pruned, heads)
    if difference > (1e-4 if next(module.parameters()).dtype == torch.float32 else 0.05):
        raise UserError(
            f"{type(module).__name__} does not compute the same with the heads removed (off by {difference:.1g}), so "
            "its family cannot be pruned this way; switch the heads off with model.ablate instead"
        )
    return pruned


def distance(model: Model, pruned: Model, heads: Heads, text: str = "a b c d e f g") -> float:
    """The largest difference between a pruned model's output and that of the whole one with the heads at zero."""
    inputs, _ = model._engine.collate([model._engine.encode(text)])
    with model.ablate(heads):
        expected = model._engine.run(inputs)[0]
    require_finite_output(expected)
    return float((pruned._engine.run(inputs)[0] - expected).abs().max())


def speed(model: Model, pruned: Model, *, runs: int = 9, batch: int = 8, length: int = 64) -> tuple[float, float]:
    """Median seconds per run of each model over random tokens, the two taking turns."""
    length = min(length, model.limit or length)
    ids = torch.randint(0, int(model.config.vocab_size), (batch, length), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs + 1):
        for one, found in zip((model, pruned), times, strict=True):
            start = time.perf_counter()
            one._engine.run(inputs)
            found.append(time.perf_counter() - start)
    return statistics.median(times[0][1:]), statistics.median(times[1][1:])  # the first runs warm up


def _cut(model: Model, path: str, removed: set[Any]) -> dict[str, Any]:
    """How one attention module is cut: the heads it keeps and its output projection; checked before any copying."""
    places = model._engine.places()[path]
    kind, layer, count = places[0]
    kept = [head for head in range(count) if (kind, layer, head) not in removed]
    module, projection = model.module.get_submodule(path), model._engine.plan().projections.get(path)
    if len(places) > 1:
        raise UserError(f"the layers of {model.name} share their weights, so heads cannot be pruned from single layers")
    fused = isinstance(getattr(module, FUSED_PROJECTION, None), torch.nn.Module)
    if not isinstance(projection, torch.nn.Module) or not (fused or projection_names(module)):
        raise UserError(
            f"only BERT-type and GPT-2-type models can be pruned; {type(module).__name__} of {model.name} is neither; "
            "switch its heads off with model.ablate instead"
        )
    if not kept:
        raise UserError(f"{kind} layer {layer} would have no head left; keep at least one in every layer")
    output = next(name for name, one in model.module.named_modules() if one is projection)
    return {"path": path, "output": output, "kept": kept, "of": count}


def _after(before: dict[str, Any] | None, cut: dict[str, Any]) -> dict[str, Any]:
    """The record of a module that was pruned, perhaps again: its heads by their numbers in the first model."""
    if before is None:
        return {"output": cut["output"], "kept": cut["kept"], "of": cut["of"]}
    return {**before, "kept": [before["kept"][head] for head in cut["kept"]]}
