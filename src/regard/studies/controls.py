"""Controls: the same study on the same shape with untrained weights, drawn at random or shuffled, or permuted queries.

Enters: a model. Leaves: models of its shape; tables that compare the model with them.

Random weights show what structure alone gives; they are drawn several times because draws vary. Shuffled weights keep
every number of every trained tensor, but not its place: the scale that training brings is there, what it learned is
not. Where a study can, it also runs on the trained weights with the queries of each input permuted: what heads do
whatever the query is stays (`regard.studies.atlas.permuting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from regard.base.errors import UserError
from regard.corpus.sums import Sums
from regard.models.making import making

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

SEEDS = 3  # draws of random weights
MODEL, RANDOM, SHUFFLED, PERMUTED = "model", "random weights", "shuffled weights", "permuted queries"
CONTROL = "Control: the same shape with random and shuffled weights, by layer"


@dataclass(frozen=True)
class Weights:
    """Whose weights a pass runs on: the model's own, a draw of random ones, or shuffled ones.

    Permuted queries are asked of the model's own.
    """

    kind: str = MODEL
    draw: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.draw}" if self.kind == RANDOM else self.kind

    @property
    def file(self) -> str:
        """The beginning of a checkpoint's file name."""
        names = {
            RANDOM: f"control-random-{self.draw}-",
            SHUFFLED: "control-shuffled-",
            PERMUTED: "control-permuted-",
        }
        return names.get(self.kind, "")


@dataclass(eq=False)
class Controls:
    """The sums of a study on random weights, one per draw, on shuffled ones, and perhaps with permuted queries."""

    random: list[Sums]
    shuffled: Sums
    permuted: Sums | None = None

    @property
    def named(self) -> dict[str, Sums]:
        """The sums under the name of their weights."""
        return {f"{RANDOM} {seed}": sums for seed, sums in enumerate(self.random)} | {SHUFFLED: self.shuffled}

    def values(self, make: Callable[[Sums], float]) -> Ranged:
        """One number for every control."""
        return Ranged([make(sums) for sums in self.random], make(self.shuffled))

    def table(self, model: pd.DataFrame, make: Callable[[Sums], pd.DataFrame], keys: Sequence[str]) -> pd.DataFrame:
        """The model's rows, matched by keys: the model's value, and the `Ranged` values of the controls."""
        found = model.set_index(list(keys))["value"]
        parts = [make(sums).set_index(list(keys))["value"].reindex(found.index) for sums in self.named.values()]
        rows = [Ranged(random, shuffled).row for *random, shuffled in zip(*parts, strict=True)]
        table = found.rename("model").reset_index()
        return table.assign(**{name: [row[name] for row in rows] for name in Ranged.COLUMNS})


@dataclass(frozen=True)
class Ranged:
    """A number on random weights, one per draw, and on shuffled ones."""

    random: Sequence[float]
    shuffled: float

    COLUMNS: ClassVar = (RANDOM, "lowest", "highest", SHUFFLED)

    @property
    def mean(self) -> float:
        return float(np.mean(self.random))

    @property
    def row(self) -> dict[str, float]:
        """The mean over draws, their range, and the number on shuffled weights, by column."""
        return dict(zip(self.COLUMNS, (self.mean, min(self.random), max(self.random), self.shuffled), strict=True))

    def said(self, form: str = "{:.3f}") -> str:
        """In words; `form` formats a number."""
        mean, low, high, shuffled = (form.format(value) for value in self.row.values())
        draws = f" ({low} to {high} over {len(self.random)} draws)" if len(self.random) > 1 else ""
        return f"{RANDOM} {mean}{draws}, {SHUFFLED} {shuffled}"


def control_models(model: Model, seeds: Sequence[int]) -> Iterator[tuple[Weights, Callable[[], Model]]]:
    """The controls and functions that make them, so that only one is in memory at a time; the shuffled one is last."""
    if not seeds:
        raise UserError("a control needs at least one draw of random weights: control seeds must be 1 or more")
    for draw, seed in enumerate(seeds):
        yield Weights(RANDOM, draw), partial(random_model, model, seed)
    yield Weights(SHUFFLED), partial(shuffled_model, model, seeds[0])


def random_model(model: Model, seed: int = 0) -> Model:
    """The same shape with freshly drawn weights, and the same tokenizer: what structure alone gives."""
    from regard.models.model import Model

    control = Model(_drawn(model, seed).eval(), _prepares(model), name=f"{model.name}, {RANDOM} {seed}")
    control._engine.origin = _origin(random_model, model, seed)
    return control


def shuffled_model(model: Model, seed: int = 0) -> Model:
    """The same shape and the same weights, the entries of each tensor in random order; the same tokenizer."""
    from regard.models.model import Model

    module = _drawn(model, seed)
    module.load_state_dict(model.module.state_dict())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    control = Model(module.eval(), _prepares(model), name=f"{model.name}, {SHUFFLED} {seed}")
    control._engine.origin = _origin(shuffled_model, model, seed)
    return control


def _prepares(model: Model) -> Any:
    """What prepares inputs: the processor of pictures or sounds, or the tokenizer."""
    return model.tokenizer if model._engine.processor is None else model._engine.processor


def _origin(make: Callable[[Model, int], Model], model: Model, seed: int) -> Callable[[], Model] | None:
    """How to make a control again elsewhere: how the model is loaded, and the seed, but not the weights."""
    return None if model._engine.origin is None else partial(_again, make, model._engine.origin, seed)


def _again(make: Callable[[Model, int], Model], origin: Callable[[], Model], seed: int) -> Model:
    return make(origin(), seed)


def _drawn(model: Model, seed: int) -> torch.nn.Module:
    """A new module of the same shape, on the same device."""
    with making, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = type(model.module)(deepcopy(model.config))
    parameter = next(model.module.parameters())
    drawn: torch.nn.Module = module.to(parameter.device, parameter.dtype)
    return drawn
