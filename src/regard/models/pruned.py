"""Pruned models: attention modules made narrower, and folders that hold such models.

Enters: a module and the heads it keeps; a folder. Leaves: a folder with safetensors, config, tokenizer and
`regard_pruned.json` (what was kept), which `regard.load` reads; the module of such a folder.
"""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import FileThereError, UserError
from regard.capture.families import FUSED_PROJECTION, HEAD_COUNTS, HEAD_WIDTHS, PROJECTIONS
from regard.models.making import making

if TYPE_CHECKING:
    from regard.models.model import Model

RECORD = "regard_pruned.json"
WEIGHTS = "model.safetensors"
MARK = "_regard_pruned"  # where a module keeps its record
_VERSION = 1


def projection_names(module: torch.nn.Module) -> tuple[str, ...] | None:
    """The names of an attention module's q, k and v projections; None if they are one, or unknown."""
    return next((names for names in PROJECTIONS if all(hasattr(module, name) for name in names)), None)


# -- the weights ---------------------------------------------------------------------------------------------------


def narrow(model: torch.nn.Module, cut: dict[str, Any]) -> None:
    """Remove the heads that are not kept from one attention module and its output projection."""
    attention, output = model.get_submodule(cut["path"]), model.get_submodule(cut["output"])
    width = _inputs(output) // cut["of"]
    places = torch.cat([torch.arange(head * width, (head + 1) * width) for head in cut["kept"]])
    names = projection_names(attention)
    if names is not None:
        for name in names:
            _keep_outputs(getattr(attention, name), places)
    else:
        whole = cut["of"] * width  # q, k and v lie one after another
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
    """Write a pruned model as a folder that `regard.load` reads; `made` records how that was done."""
    from safetensors.torch import save_model

    target = Path(folder)
    if target.exists() and (target.is_file() or any(target.iterdir())):
        raise FileThereError(f"{target} already exists; name a new folder")
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
            "attention": getattr(module, MARK, {}),
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

    record = _record(Path(folder))
    config = transformers.AutoConfig.from_pretrained(folder)
    with making, torch.random.fork_rng(devices=[]):  # building a model must not change the caller's random state
        module = getattr(transformers, record["class"])(config)
    for path, entry in record["attention"].items():
        narrow(module, {"path": path, **entry})
    wanted = record["dtype"] if dtype in (None, "auto") else dtype
    module = module.to(getattr(torch, wanted) if isinstance(wanted, str) else wanted)
    load_model(module, str(Path(folder) / WEIGHTS))
    setattr(module, MARK, record["attention"])
    return module.eval()


def _record(folder: Path) -> dict[str, Any]:
    """What was kept, as the folder tells it."""
    try:
        found = json.loads((folder / RECORD).read_text())
        version, _ = found["version"], (found["class"], found["dtype"], found["attention"])
    except (ValueError, KeyError, TypeError):
        raise UserError(f"the file {RECORD} in {folder} is damaged; prune the model again") from None
    if version != _VERSION:
        raise UserError(f"{folder} was pruned by another version of regard ({version}); prune it again")
    return dict(found)
