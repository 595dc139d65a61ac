"""What a causal model looks at while it writes each token of an answer, read from its own run.

Enters: an engine and a prompt. Leaves: for each token, of the row that chose it (attention of the last third of the
layers, mean over heads), where all of it went, and the strongest looks outside the resting places (special tokens, the
first key that is seen) and what nobody said (a chat template's own words).

The row is computed from the q and k that the run has anyway; nothing is run again. It is the row of the position before
the token: that is where the model stood when it chose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import torch

from regard.capture.operation import from_call
from regard.capture.rebuild import last_row
from regard.capture.tap import Call, tap
from regard.capture.tiers import model_type

if TYPE_CHECKING:
    from regard.models.engine import Engine
    from regard.models.prepare import Encoded

Look = tuple[int, float]  # a position and its share of the attention


class Division(NamedTuple):
    """Where the attention of a row went; they add up to 1, less what a learned sink takes."""

    prompt: float  # the words before the answer
    answer: float  # the answer's own words so far
    first: float  # the first key that is seen
    template: float  # special tokens, and what a chat template wrote


class Glance(NamedTuple):
    """What a token was chosen with: where all the attention went, and the strongest looks at words, strongest first."""

    shares: Division
    looks: tuple[Look, ...]


_SHARE = 3  # the last layers are one in so many
_FAINT = 0.005  # of the attention; less is not worth a name


class Glances:
    """Looks of an answer as it grows; it is a consumer of the tap."""

    def __init__(self, engine: Engine, prompt: Encoded, aside: Sequence[bool] | None = None) -> None:
        self.possible = engine.plan().tier == "tap"  # elsewhere the rows are not seen while it runs
        self._paths = _last_paths(engine) if self.possible else {}
        self._family = model_type(engine.module)
        self._special = set(engine.tokenizer.all_special_ids)
        borders = [token.border for token in prompt.side.tokens]
        self._aside = [one or other for one, other in zip(borders, aside or borders, strict=True)]
        self._prompt = len(self._aside)
        self._rows: list[torch.Tensor] = []
        self._first: list[torch.Tensor] = []  # of each row, what the first key got

    @contextmanager
    def watching(self) -> Iterator[None]:
        """See the runs of the model until the block ends."""
        if not self.possible:
            yield
            return
        with tap(self):
            yield

    def wants(self, module: torch.nn.Module) -> bool:
        return id(module) in self._paths

    def after(self, call: Call) -> None:
        row = last_row(from_call(call, self._paths[id(call.module)], self._family))[0].mean(0)  # (K,)
        first = (row > 0).int().argmax()  # the first key that it sees
        self._first.append(row[first].clone())
        row[first] = 0
        self._rows.append(row)

    def at(self, token: int, count: int = 12) -> Glance | None:
        """The row that chose a token, None if it was not seen; call it once for each token."""
        if not self.possible:
            return None
        total, rows, first = len(self._aside), self._rows, sum(float(one) for one in self._first) / len(self._rows)
        self._rows, self._first = [], []
        mean = torch.zeros(total)
        for row in rows:  # of a window, there are rows of the last keys alone
            mean[total - len(row) :] += row.cpu() / len(rows)
        aside = torch.tensor(self._aside)
        template = float(mean[aside].sum())
        mean[aside] = 0
        self._aside.append(token in self._special)
        weights, places = mean.topk(min(count, total))
        strong = [(int(at), float(weight)) for at, weight in zip(places, weights, strict=True) if weight >= _FAINT]
        prompt, answer = float(mean[: self._prompt].sum()), float(mean[self._prompt :].sum())
        return Glance(Division(prompt, answer, first, template), tuple(strong))


def _last_paths(engine: Engine) -> dict[int, str]:
    """The paths of the last layers' attention modules, by the modules' identity."""
    paths = {path: place.layer for path, (place, *_) in engine.places().items() if place.kind == "decoder"}
    layers = sorted(set(paths.values()))
    last = set(layers[-max(1, len(layers) // _SHARE) :])
    modules = dict(engine.module.named_modules())
    return {id(modules[path]): path for path, layer in paths.items() if layer in last}
