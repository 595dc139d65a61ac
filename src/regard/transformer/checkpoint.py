"""Models in files: one safetensors file with weights, sizes, tokenizer and, while training, the optimizer's state.

Enters: a model and its tokenizer. Leaves: a file written next to its target and renamed, so that none is ever half
written; reading one runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from regard.base.errors import MissingFileError, UserError
from regard.base.files import write_atomic
from regard.transformer.config import Config
from regard.transformer.model import Bert, Translator
from regard.transformer.tokenizing import tokenizer_of

FORMAT = "regard-transformer"
VERSION = 1
EMBEDDED = Path(__file__).parent / "embedded" / "translator.safetensors"


@dataclass(eq=False)
class Checkpoint:
    """A model, its tokenizer, facts about its training, and the state of training."""

    model: Translator | Bert
    tokenizer: Any
    facts: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    moments: dict[str, Tensor] = field(default_factory=dict)


def save(checkpoint: Checkpoint, path: str | Path, *, half: bool = False) -> Path:
    """Write a checkpoint; `half` stores weights in 16 bits, which is enough for inference."""
    weights = {f"model.{name}": _stored(value, half) for name, value in _weights(checkpoint.model).items()}
    moments = {f"optimizer.{name}": value.contiguous() for name, value in checkpoint.moments.items()}
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "config": json.dumps(asdict(checkpoint.model.config)),
        "tokenizer": checkpoint.tokenizer.backend_tokenizer.to_str(),
        "facts": json.dumps(checkpoint.facts, ensure_ascii=False),
        "state": json.dumps(checkpoint.state),
    }
    target = Path(path)
    write_atomic(target, lambda temporary: save_file(weights | moments, temporary, metadata))
    return target


def load(path: str | Path, *, expected: Config | None = None) -> Checkpoint:
    """Read a checkpoint, checking that it is complete and, if given, has the expected sizes."""
    source = Path(path)
    if not source.is_file():
        raise MissingFileError(f"there is no checkpoint {source}; train one with regard train")
    try:
        with safe_open(str(source), "pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except SafetensorError as error:
        raise UserError(f"{source} is damaged or not a safetensors file ({error}); train it again") from None
    if metadata.get("format") != FORMAT or metadata.get("version") != str(VERSION):
        raise UserError(f"{source} is not a checkpoint that this version of regard can read; train it again")
    try:
        found = _described(metadata)
    except Exception as error:  # a damaged header may contain anything, and tokenizers raises no narrower error
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"{source} is damaged (its header: {reason}); train it again") from None
    if expected is not None:
        _check_same(found.model.config, expected, source)
    _fill(found.model, {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}, source)
    found.moments |= {k.removeprefix("optimizer."): v for k, v in tensors.items() if k.startswith("optimizer.")}
    return found


def _described(metadata: Mapping[str, str]) -> Checkpoint:
    """The checkpoint that a header describes, its weights not yet filled in."""
    config = Config(**json.loads(metadata["config"]))
    model = (Translator if config.is_encoder_decoder else Bert)(config)
    backend = Tokenizer.from_str(metadata["tokenizer"])
    facts, state = dict(json.loads(metadata["facts"])), dict(json.loads(metadata["state"]))
    if isinstance(model, Translator):
        model.capitals = tuple(facts.get("capitals", ()))
    tokenizer = tokenizer_of(backend, length=config.length, bert=not config.is_encoder_decoder)
    return Checkpoint(model.eval(), tokenizer, facts, state)


def load_own(name: str | Path | None) -> Checkpoint | None:
    """The built-in translator by its name, or a checkpoint by its file; None for any other kind of model."""
    if str(name) == EMBEDDED.stem and not Path(str(name)).exists():
        return load(EMBEDDED)
    return load(name) if name is not None and Path(name).suffix == ".safetensors" else None


def _weights(model: torch.nn.Module) -> dict[str, Tensor]:
    """Parameters and tables by name; a tied one appears once."""
    tables = {name: value for name, value in model.named_buffers() if value.numel()}
    return {name: value.detach() for name, value in (*model.named_parameters(), *tables.items())}


def _stored(value: Tensor, half: bool) -> Tensor:
    return (value.half() if half and value.is_floating_point() else value).contiguous().clone()


def _fill(model: torch.nn.Module, tensors: Mapping[str, Tensor], source: Path) -> None:
    own = _weights(model)
    wrong = [name for name in own if name not in tensors or tensors[name].shape != own[name].shape]
    if wrong or set(tensors) - set(own):
        first = wrong[0] if wrong else min(set(tensors) - set(own))
        raise UserError(f"{source} does not fit its own configuration (at {first}); it is damaged, train it again")
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[name])


def _check_same(found: Config, expected: Config, source: Path) -> None:
    mine, theirs = asdict(expected), asdict(found)
    different = [name for name in mine if mine[name] != theirs[name] and name != "name"]
    if different:
        first = different[0]
        raise UserError(
            f"{source} was made with {first} {theirs[first]}, but {first} {mine[first]} was requested; use the "
            "same sizes to continue it, or name another output file to start over"
        )
