"""Where the scores of the first layer come from: q and k as exact sums over word, position and segment embedding.

Enters: a BERT-type model while it runs. Leaves: the parts of the first site's q and k.

The embedding is e = w + p + s and the first layer reads x = gamma * (e - mean e) / sigma + beta. Centring is linear, so
with the realised sigma frozen x is a sum of one term per part and a constant one, and so are q = x W_Q + b_Q and k.
Not counterfactual: without a part, sigma would be different.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from regard.capture.offloaded import held
from regard.capture.operation import Operation

# nn.Embedding tables by their names in BERT-type families, and the part each makes; then those of regard's own models.
TABLES = {"word_embeddings": "word", "position_embeddings": "position", "token_type_embeddings": "segment"}
OWN = {"word": "word", "segment": "segment"}
ORDER = ("word", "position", "segment")
_WIDEN = ("embeddings_project", "embedding_hidden_mapping_in")  # where tables are narrower than the layers
CONSTANT = "constant"
_PROJECTIONS = (("query", "key"), ("q_lin", "k_lin"), ("q_proj", "k_proj"))


@dataclass(eq=False)
class EmbeddingParts:
    """Embeddings seen in one pass, and the layer norm that joined them."""

    seen: dict[str, torch.Tensor] = field(default_factory=dict)
    norm: torch.nn.LayerNorm | None = None
    widen: torch.nn.Linear | None = None

    def of(self, operation: Operation) -> tuple[Any, ...] | None:
        """(names, q parts, k parts), each (P, B, H, T, d); None if they do not add up to q and k."""
        linear, q, k = _linear(operation.module), operation.q, operation.k
        if self.norm is None or linear is None or q is None or k is None or not self.seen:
            return None
        if q.shape[2] != next(iter(self.seen.values())).shape[1]:
            return None
        self.seen = {name: self.seen[name] for name in ORDER if name in self.seen}
        names = (*self.seen, CONSTANT)
        terms = self._terms()
        found = [_project(terms, layer, vectors) for layer, vectors in zip(linear, (q, k), strict=True)]
        for parts, vectors in zip(found, (q, k), strict=True):
            if parts is None or (parts.sum(0) - vectors).abs().max() > 1e-3 * vectors.abs().max().clamp(min=1):
                return None
        return names, found[0], found[1]

    def _terms(self) -> torch.Tensor:
        """(P, B, T, d_model): what each part adds to the first layer's input, the constant last."""
        assert self.norm is not None
        batch = max(part.shape[0] for part in self.seen.values())
        parts = torch.stack([part.expand(batch, -1, -1) for part in self.seen.values()])  # (P, B, T, d)
        total = parts.sum(0)
        sigma = (total.var(-1, unbiased=False, keepdim=True) + self.norm.eps).sqrt()  # (B, T, 1)
        scaled = held(self.norm) * (parts - parts.mean(-1, keepdim=True)) / sigma
        terms = torch.cat([scaled, held(self.norm, "bias").expand_as(total)[None]])
        if self.widen is not None:
            terms = terms @ held(self.widen).T
            terms[-1] += held(self.widen, "bias")
        return terms


def _linear(module: torch.nn.Module | None) -> tuple[torch.nn.Linear, torch.nn.Linear] | None:
    """The linear maps that make q and k, under the names that families use."""
    for names in _PROJECTIONS:
        pair = [getattr(module, name, None) for name in names]
        if isinstance(pair[0], torch.nn.Linear) and isinstance(pair[1], torch.nn.Linear):
            return pair[0], pair[1]
    return None


def _project(terms: torch.Tensor, layer: torch.nn.Linear, vectors: torch.Tensor) -> torch.Tensor | None:
    """(P, B, H, T, d) images of the terms; the bias belongs to the constant."""
    batch, heads, length, width = vectors.shape
    if terms.shape[1] != batch or layer.out_features != heads * width or layer.in_features != terms.shape[-1]:
        return None
    images = terms @ held(layer).T  # (P, B, T, d_model) @ (d_model, H d) -> (P, B, T, H d)
    if layer.bias is not None:
        images[-1] += held(layer, "bias")
    return images.reshape(len(terms), batch, length, heads, width).transpose(2, 3)


@contextmanager
def embedding_parts(model: torch.nn.Module) -> Iterator[EmbeddingParts]:
    """Record the output of a BERT-type model's embedding tables while it runs; nothing for other models."""
    parts = EmbeddingParts()
    home, tables = _home(model)
    norm = getattr(home, "LayerNorm", getattr(home, "norm", None))
    with ExitStack() as stack:
        if home is not None and isinstance(norm, torch.nn.LayerNorm):
            parts.norm, parts.widen = norm, _widen(model, home)
            for name, part in tables.items():
                table = getattr(home, name, None)
                if isinstance(table, torch.nn.Embedding):
                    stack.callback(table.register_forward_hook(_note(parts, part)).remove)
            places = getattr(home, "position", None)  # regard's own table of positions is a plain parameter
            if isinstance(places, torch.Tensor):
                stack.callback(home.word.register_forward_hook(_note_places(parts, places)).remove)  # type: ignore[union-attr]
        yield parts


def _home(model: torch.nn.Module) -> tuple[torch.nn.Module | None, dict[str, str]]:
    """The module that holds the embedding tables, and what they are called there."""
    for tables in (TABLES, OWN):
        for module in model.modules():
            if isinstance(getattr(module, next(iter(tables)), None), torch.nn.Embedding):
                return module, tables
    return None, {}


def _widen(model: torch.nn.Module, home: torch.nn.Module) -> torch.nn.Linear | None:
    """The linear map from narrow tables to the layers, where there is one."""
    found = [module for name, module in model.named_modules() if name.rpartition(".")[2] in _WIDEN]
    found.append(getattr(home, "widen", torch.nn.Identity()))
    return next((module for module in found if isinstance(module, torch.nn.Linear)), None)


def _note(parts: EmbeddingParts, name: str) -> Any:
    def note(_module: torch.nn.Module, _args: Any, output: torch.Tensor) -> None:
        parts.seen.setdefault(name, output if output.ndim == 3 else output[None])

    return note


def _note_places(parts: EmbeddingParts, table: torch.Tensor) -> Any:
    def note(_module: torch.nn.Module, _args: Any, output: torch.Tensor) -> None:
        parts.seen.setdefault("position", table[None, : output.shape[1]])

    return note
