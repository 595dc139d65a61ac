"""How much memory a run would need, before it runs.

Enters: a model and a number of tokens. Leaves: nothing, or a Problem that says how much it needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from regard.app.problems import large
from regard.models.packaged import resolve
from regard.trace.pool import POOL
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from regard.models.model import Model

_SHARE = 0.8  # of the free memory; the rest is a margin for what the estimate leaves out
_MAP = 24  # bytes for each cell of a map, while its cut rows are computed once more
_LINE = 100  # bytes for each line that a random one is drawn from
_WEIGHTS = ("*.safetensors", "*.gguf", "*.bin")


def available() -> int:
    """Bytes that can be used without swapping."""
    return int(psutil.virtual_memory().available)


def estimate(model: Model, tokens: int, *, backward: bool = False, maps: bool = False, cut: bool = False) -> int:
    """Bytes for a run of this many tokens: what is kept (q, k, v), the widest step, predictions at every position.

    A backward pass keeps the steps of all layers; where scores are split, the maps of all layers too. Cut lines take a
    mask for each head of a layer and some maps at a time, random lines beside them a list of those there are.
    """
    from regard.models.cutting import KEEP  # with torch, which is there once a model is

    config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
    width = _first(config, "hidden_size", "d_model", "n_embd", "width")
    heads = _first(config, "num_attention_heads", "encoder_attention_heads", "n_head", "num_heads", "heads")
    words = _first(config, "vocab_size") if model.can_generate else 0
    layers = len(model.layout())
    vectors = 3 * width * layers
    every = backward or cut or not model._engine.takes(KEEP)  # whether predictions are made at every position
    transient = 12 * width + (words if every else 0)  # the feed-forward layer's inside, and a number for each word
    if backward:
        vectors += 24 * width * layers
    kept = layers * heads * tokens if maps or model._engine.plan().tier == "maps" else 0
    lines = tokens * tokens * (heads + _MAP) + _LINE * min(POOL, layers * heads * tokens * tokens) if cut else 0
    return 4 * tokens * (vectors + transient + kept) + lines


def check_run(model: Model, tokens: int, **kinds: bool) -> None:
    """Refuse a run that does not fit into free memory; `kinds` as for `estimate`."""
    need, free = estimate(model, tokens, **kinds), available()
    if need > _SHARE * free:
        raise large(
            f"{tokens:,} tokens would need about {need / 1e9:.1f} GB in {model.name}, and {free / 1e9:.1f} GB are "
            "free; use a shorter text or a smaller model",
            "long_memory",
            tokens=tokens,
            need=f"{need / 1e9:.1f}",
            free=f"{free / 1e9:.1f}",
        )


def check_model(name: str) -> None:
    """Refuse a model whose files are larger than free memory; the size of a model not yet downloaded is unknown."""
    path = Path(resolve(name)[1])
    if not path.exists():
        return
    files = [path] if path.is_file() else [file for pattern in _WEIGHTS for file in path.glob(pattern)]
    # GGUF holds four to eight bits per number, which become 32 when it is read
    need = sum(file.stat().st_size * (8 if file.suffix == ".gguf" else 1) for file in files)
    free = available()
    if need > _SHARE * free:
        raise large(refusal("no_memory", name=name, need=f"{need / 1e9:.1f}", free=f"{free / 1e9:.1f}"))


def _first(config: object, *names: str) -> int:
    found = (getattr(config, name, None) for name in names)
    return next((int(value) for value in found if isinstance(value, int)), 0)
