"""A model from anywhere: a name, a folder, a file, or a torch module.

Enters: what a user has. Leaves: a `Model`.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import torch

from regard.base.errors import WrongTypeError
from regard.models.loading import load_pretrained
from regard.models.model import Model
from regard.models.packaged import is_trusted, resolve
from regard.transformer.checkpoint import load_own


def load(
    model: str | Path | torch.nn.Module | tuple[torch.nn.Module, Any] | None = None,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    dtype: Any = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    offline: bool = False,
) -> Model:
    """Load a model to trace.

    Parameters
    ----------
    model
        A Hugging Face hub name, a folder, a .gguf file, a torch module, or a (module, tokenizer) pair; "translator",
        which comes with regard, or a checkpoint of `regard train`. Without a model, the built-in
        all-MiniLM-L6-v2 of the extra `demo`.
    tokenizer
        A tokenizer (or image processor), or the name of one, to use instead of the model's own.
    device, dtype
        Where and in which precision to run; the precision is the checkpoint's unless given.
    revision
        Which version of a hub model.
    trust_remote_code
        Run code from the model's repository. Never by default.
    allow_pickle
        Read weights that exist only as pickle files. Refused by default.
    offline
        Do not contact the hub: only local files are found.

    Examples
    --------
    >>> model = load()  # doctest: +SKIP
    >>> model.trace("The cat sat on the mat.").attention(0, 2)  # doctest: +SKIP
    """
    if isinstance(model, tuple):
        if len(model) != 2 or not isinstance(model[0], torch.nn.Module):
            raise WrongTypeError("pass a (model, tokenizer) pair, a torch module, a name or a folder")
        model, tokenizer = model
    if isinstance(model, torch.nn.Module):
        return Model(model, tokenizer, name=_called(model), device=device)
    own = load_own(model)
    if own is not None:
        return Model(own.model, own.tokenizer, name=own.model.config.name, device=device)
    name, source = resolve(model)
    how = {"dtype": dtype, "revision": revision, "trust_remote_code": trust_remote_code}
    how |= {"allow_pickle": allow_pickle, "offline": offline}
    trusted = allow_pickle or is_trusted(source)
    module, its_tokenizer = load_pretrained(source, tokenizer=tokenizer, **how | {"allow_pickle": trusted})
    loaded = Model(module, its_tokenizer, name=name, device=device)
    if tokenizer is None or isinstance(tokenizer, str):
        named = {"model": model, "tokenizer": tokenizer, "device": device}
        plain: dict[str, Any] = {key: None if value is None else str(value) for key, value in named.items()}
        loaded._engine.origin = partial(load, **plain, **how)
    return loaded


def _called(module: torch.nn.Module) -> str:
    """What a module is called: what its config says, or its class without the parts that name no family."""
    config = getattr(module, "config", None)
    named = str(getattr(config, "_name_or_path", "") or "")
    kind = type(module).__name__
    if named or not isinstance(getattr(config, "model_type", None), str):
        return named or kind
    family = re.sub(r"(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|PreTrainedModel|Model)$", "", kind)
    return f"{family or kind} without a name"
