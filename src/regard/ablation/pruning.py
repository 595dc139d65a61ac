"""Smaller models: heads taken out of the weights of BERT-type and GPT-2-type models, saved and loaded again.

Enters: a `Model` and the heads to remove. Leaves: a `Model` with narrower q, k, v and output projections, whose layers
may have different numbers of heads; a folder with safetensors, config, tokenizer and `regard_pruned.json` (what was
kept), which `regard.load` reads. What it computes is what the model computes with these heads at zero.
"""

from __future__ import annotations

import json
import shutil
import statistics
import time
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard.capture.families import FUSED_PROJECTION, HEAD_COUNTS, HEAD_WIDTHS, PROJECTIONS
from regard.trace.heads import Heads, parse_heads, refuse_all

if TYPE_CHECKING:
    from regard.models.model import Model

RECORD = "regard_pruned.json"
WEIGHTS = "model.safetensors"
_VERSION = 1
_MARK = "_regard_pruned"  # where a module keeps its record


def prune(model: Model, heads: Heads) -> Model:
    """A copy of a model without some heads; the model itself stays as it is.

    Parameters
    ----------
    heads
        What to remove, as `Model.ablate` reads it; heads of the result count from 0 in every layer again.
    """
    from regard.models.model import load

    layout = model.layout
    chosen = set(parse_heads(heads, layout))
    refuse_all(chosen, layout)
    cuts = [_cut(model, path, chosen) for path in model.places]
    module = deepcopy(model.module)
    known = dict(getattr(module, _MARK, {}))
    for cut in cuts:
        _narrow(module, cut)
        known[cut["path"]] = _after(known.get(cut["path"]), cut)
    setattr(module, _MARK, known)
    made = load((module, model.tokenizer))
    made.name = model.name
    difference = distance(model, made, heads)
    if difference > (1e-4 if next(module.parameters()).dtype == torch.float32 else 0.05):
        raise ValueError(
            f"{type(module).__name__} does not compute the same with the heads taken out (off by {difference:.1g}), so "
            "its family cannot be pruned this way; switch the heads off with model.ablate instead"
        )
    return made


def distance(model: Model, pruned: Model, heads: Heads, text: str = "a b c d e f g") -> float:
    """The largest difference between a pruned model's output and that of the whole one with the heads at zero."""
    inputs, _ = model.collate([model.encode(text)])
    with model.ablate(heads):
        expected = model.run(inputs)[0]
    return float((pruned.run(inputs)[0] - expected).abs().max())


def speed(model: Model, pruned: Model, *, runs: int = 9, batch: int = 8, length: int = 64) -> tuple[float, float]:
    """Median seconds of a run of each model over random tokens, one after the other in turn."""
    length = min(length, model.limit or length)
    ids = torch.randint(0, int(model.config.vocab_size), (batch, length), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs + 1):
        for one, found in zip((model, pruned), times, strict=True):
            start = time.perf_counter()
            one.run(inputs)
            found.append(time.perf_counter() - start)
    return statistics.median(times[0][1:]), statistics.median(times[1][1:])  # the first runs warm up


def _cut(model: Model, path: str, removed: set[Any]) -> dict[str, Any]:
    """What becomes of one attention module: the heads kept and its output projection; checked before any copying."""
    places = model.places[path]
    kind, layer, count = places[0]
    kept = [head for head in range(count) if (kind, layer, head) not in removed]
    module, projection = model.module.get_submodule(path), model.plan.projections.get(path)
    if len(places) > 1:
        raise ValueError(f"the layers of {model.name} share their weights, so heads of single layers cannot be pruned")
    fused = isinstance(getattr(module, FUSED_PROJECTION, None), torch.nn.Module)
    if not isinstance(projection, torch.nn.Module) or not (fused or _names(module)):
        raise ValueError(
            f"heads are pruned from BERT-type and GPT-2-type models; {type(module).__name__} of {model.name} is "
            "neither; switch its heads off with model.ablate instead"
        )
    if not kept:
        raise ValueError(f"{kind} layer {layer} would have no head left; keep at least one in every layer")
    output = next(name for name, one in model.module.named_modules() if one is projection)
    return {"path": path, "output": output, "kept": kept, "of": count}


def _names(module: torch.nn.Module) -> tuple[str, ...] | None:
    return next((names for names in PROJECTIONS if all(hasattr(module, name) for name in names)), None)


def _after(before: dict[str, Any] | None, cut: dict[str, Any]) -> dict[str, Any]:
    """The record of a module pruned (again): numbers of the heads in the first model."""
    if before is None:
        return {"output": cut["output"], "kept": cut["kept"], "of": cut["of"]}
    return {**before, "kept": [before["kept"][head] for head in cut["kept"]]}


# -- the weights ---------------------------------------------------------------------------------------------------


def _narrow(model: torch.nn.Module, cut: dict[str, Any]) -> None:
    """Take the heads that are not kept out of one attention module and its output projection."""
    attention, output = model.get_submodule(cut["path"]), model.get_submodule(cut["output"])
    width = _inputs(output) // cut["of"]
    places = torch.cat([torch.arange(head * width, (head + 1) * width) for head in cut["kept"]])
    names = _names(attention)
    if names is not None:
        for name in names:
            _keep_outputs(getattr(attention, name), places)
    else:
        whole = cut["of"] * width  # q, k and v lie behind one another
        _keep_outputs(getattr(attention, FUSED_PROJECTION), torch.cat([places + part * whole for part in range(3)]))
    _keep_inputs(output, places)
    for name in HEAD_COUNTS:
        if hasattr(attention, name):
            setattr(attention, name, len(cut["kept"]))
    for name in HEAD_WIDTHS:
        if hasattr(attention, name):
            setattr(attention, name, len(places))


def _transposed(linear: torch.nn.Module) -> bool:
    """Whether it is GPT-2's Conv1D, whose weight is (inputs, outputs)."""
    return type(linear).__name__ == "Conv1D"


def _inputs(linear: torch.nn.Module) -> int:
    return int(linear.weight.shape[0 if _transposed(linear) else 1])  # type: ignore[index]


def _keep_outputs(linear: torch.nn.Module, places: torch.Tensor) -> None:
    _select(linear, "weight", 1 if _transposed(linear) else 0, places)
    if linear.bias is not None:
        _select(linear, "bias", 0, places)
    setattr(linear, "nf" if _transposed(linear) else "out_features", len(places))


def _keep_inputs(linear: torch.nn.Module, places: torch.Tensor) -> None:
    _select(linear, "weight", 0 if _transposed(linear) else 1, places)
    setattr(linear, "nx" if _transposed(linear) else "in_features", len(places))


def _select(linear: torch.nn.Module, name: str, axis: int, places: torch.Tensor) -> None:
    before: torch.nn.Parameter = getattr(linear, name)
    values = before.detach().index_select(axis, places.to(before.device)).contiguous()
    setattr(linear, name, torch.nn.Parameter(values, requires_grad=before.requires_grad))


# -- files ---------------------------------------------------------------------------------------------------------


def save_pruned(model: Model, folder: str | Path, made: dict[str, Any] | None = None) -> Path:
    """Write a pruned model as a folder that `regard.load` reads; `made` says how it came about."""
    from safetensors.torch import save_model

    target = Path(folder)
    if target.exists() and (target.is_file() or any(target.iterdir())):
        raise FileExistsError(f"{target} is there already; name a new folder")
    module: Any = model.module
    config = deepcopy(module.config)
    config.architectures = [type(module).__name__]
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        config.save_pretrained(part)
        save_model(module, str(part / WEIGHTS), metadata={"format": "pt"})
        if model.tokenizer is not None:
            model.tokenizer.save_pretrained(part)
        record = {
            "version": _VERSION,
            "class": type(module).__name__,
            "dtype": str(next(module.parameters()).dtype).removeprefix("torch."),
            "attention": getattr(module, _MARK, {}),
            "made": made or {},
        }
        (part / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        if target.exists():
            target.rmdir()
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def load_pruned(folder: str | Path, dtype: Any = None) -> Any:
    """The module of a folder that `save_pruned` wrote."""
    import transformers
    from safetensors.torch import load_model

    record = json.loads((Path(folder) / RECORD).read_text())
    if record.get("version") != _VERSION:
        raise ValueError(f"{folder} was pruned by another version of regard ({record.get('version')})")
    config = transformers.AutoConfig.from_pretrained(folder)
    with torch.random.fork_rng(devices=[]):  # building a model must not move the caller's random state
        module = getattr(transformers, record["class"])(config)
    for path, entry in record["attention"].items():
        _narrow(module, {"path": path, **entry})
    wanted = record["dtype"] if dtype in (None, "auto") else dtype
    module = module.to(getattr(torch, wanted) if isinstance(wanted, str) else wanted)
    load_model(module, str(Path(folder) / WEIGHTS))
    setattr(module, _MARK, record["attention"])
    return module.eval()
