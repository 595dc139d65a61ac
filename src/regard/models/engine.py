"""A model that runs: inputs through its forward, and what its attention was made of, as traces or layer by layer.

Enters: encoded texts, inputs. Leaves: Traces, layers, outputs. `Model` is what people use; the rest of regard uses
the engine inside it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

from regard import __version__
from regard.base.errors import UserError
from regard.capture import (
    TIERS,
    Book,
    Layer,
    Place,
    Plan,
    Recorder,
    capture,
    embedding_parts,
    layout_of,
    model_type,
    places_of,
    stream,
)
from regard.capture.alone import alone
from regard.capture.finite import NotFiniteError, require_finite
from regard.capture.steady import steady
from regard.capture.tiers import undisturbed
from regard.models.ablated import ablation_facts
from regard.models.base import Device, Reader, Target
from regard.models.cutting import KEEP, cut_facts
from regard.models.hearing import heard_input, sound_inputs
from regard.models.labels import heard_labels
from regard.models.predicting import with_gains
from regard.models.prepare import Encoded
from regard.models.related import Relation, relation_of, with_related
from regard.models.sight import needs_picture, picture_inputs
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.models.model import Model


class Engine(Reader):
    """A module, how to feed it, and how its attention is captured."""

    def __init__(self, module: torch.nn.Module, tokenizer: Any = None, *, name: str, device: Device = None) -> None:
        super().__init__(module, tokenizer, name=name, device=device)
        self.origin: Callable[[], Model] | None = None  # loads the model again in another process, if possible
        self._plan: Plan | None = None
        self._places: dict[str, tuple[Place, ...]] = {}  # where attention runs, as found by the traces so far
        self._relation: Relation | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled; a hook that cannot be, such as a lambda, is named."""
        asking = sys._getframe(1).f_globals.get("__name__", "")
        if asking.rpartition(".")[2] not in ("copy", "cloudpickle"):  # these take any hook
            self._refuse_hooks()
        return self.__dict__

    def _refuse_hooks(self) -> None:
        for path, part in self.module.named_modules():
            try:
                pickle.dumps([held for name, held in vars(part).items() if name.endswith("_hooks")])
            except Exception as error:  # whatever pickle makes of it
                raise UserError(
                    f"{self.name} cannot be pickled while {path or type(part).__name__} has a hook that cannot "
                    f"({error}); remove it, or define it as a function of a module"
                ) from None

    def maker(self) -> Callable[[], Model]:
        """What makes the model again in another process, where that is the same model."""
        if self.origin is None:
            raise UserError(f"Ray workers load {self.name} themselves: name it by hub name or folder, not as an object")
        if ablation_facts(self):
            raise UserError(
                f"heads of {self.name} are switched off in this process, and Ray workers would run it whole; use the "
                "local engine, or name a folder that `regard prune` made"
            )
        return self.origin

    # -- what is known of the model ------------------------------------------------------------------------

    def layout(self) -> dict[tuple[str, int], int]:
        """How many heads each (kind, layer) has; found by a first run."""
        return layout_of(self.places())

    def places(self) -> dict[str, tuple[Place, ...]]:
        """Where attention runs: module path -> what its calls are; found by a first run."""
        if not self._places:
            if heard_input(self.module) is not None:
                written = [0] if self.is_encoder_decoder else None
                inputs, book, facts = sound_inputs(self, (np.zeros(16_000, np.float32), 16_000), written)
                self.record(inputs, book, [facts])
            elif needs_picture(self):
                text = "a b c d" if self.tokenizer is not None and self.takes("input_ids") else None
                said = "a b" if self.is_encoder_decoder else None
                inputs, book, facts = picture_inputs(self, np.zeros((64, 64, 3), np.uint8), text, said)
                self.record(inputs, book, [facts])
            elif self.tokenizer is not None:
                self.trace_rows([self.encode("a b c d")], ["a b" if self.is_encoder_decoder else None])
            else:
                raise UserError(f"the heads of {self.name} are not known yet; first call trace_inputs with its inputs")
        return self._places

    def plan(self) -> Plan:
        """How the model is captured; found by a first run."""
        known = self.places() and self._plan
        assert known
        return known

    def relation(self) -> Relation | None:
        """Which words are close in the model's input embedding; None if it has none."""
        self._relation = relation_of(self.module, self.tokenizer, self._relation)
        return self._relation

    @property
    def facts(self) -> dict[str, Any]:
        """What belongs to every result of this model."""
        parameter = next(self.module.parameters(), None)
        plan = self._plan
        missed = list(plan.missed) if plan is not None else []
        return {
            "model": self.name,
            "model_type": model_type(self.module),
            "class": type(self.module).__name__,
            "revision": getattr(self.config, "_commit_hash", None),
            "dtype": str(parameter.dtype).removeprefix("torch.") if parameter is not None else None,
            "device": str(self.device),
            "kernel": getattr(self.config, "_attn_implementation", None),
            "tier": None if plan is None else plan.tier,
            "captured": None if plan is None else TIERS[plan.tier],
            **({"missed": missed} if missed else {}),
            **ablation_facts(self),
            **cut_facts(self),
            "regard": __version__,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    # -- running -------------------------------------------------------------------------------------------

    def run(self, inputs: Mapping[str, Any]) -> Any:
        """The model's own output for some inputs, without gradients or dropout."""
        with undisturbed(self.module):
            return self.module(**self.ready(inputs))

    def steady(self) -> AbstractContextManager[None]:
        """Keep memory level while batches of many shapes run; see `capture.steady`."""
        return steady(self.module)

    def stream(
        self,
        inputs: Mapping[str, Any],
        book: Book,
        take: Callable[[Layer], None],
        *,
        output: bool = False,
        maps: bool = False,
    ) -> Any:
        """Run the model and pass each layer's attention to `take` as it is computed; nothing is kept.

        Returns the model's output if asked; otherwise what follows the last attention need not run. `maps` says that
        `take` asks for every map.
        """

        def checked(layer: Layer) -> None:
            require_finite(layer.named, book)
            take(layer)

        ready = self.ready(inputs)
        with alone(self.module):
            if self._plan is None:
                _, self._plan = capture(self.module, ready, None)
            return stream(self.module, ready, self._plan, set(book.keep), checked, output=output, maps=maps)

    def trace_rows(
        self,
        rows: Sequence[Encoded],
        targets: Sequence[Target],
        *,
        attribution: bool = False,
        predictive: bool = False,
        batch_size: int = 1,
    ) -> list[Trace]:
        """A trace of each encoded text; `predictive` ones have gains."""
        traces: list[Trace] = []
        for start in range(0, len(rows), batch_size):
            part = slice(start, start + batch_size)
            inputs, book = self.collate(rows[part], targets[part])
            try:
                traces += self.record(inputs, book, [row.facts for row in rows[part]], attribution)
            except NotFiniteError as error:
                raise error.among(list(range(len(rows)))[part]) if len(rows) > 1 else error from None
        if predictive:
            return [with_gains(self, row, trace) for row, trace in zip(rows, traces, strict=True)]
        return traces

    def record(
        self, inputs: Mapping[str, Any], book: Book, facts: list[dict[str, Any]], attribution: bool = False
    ) -> list[Trace]:
        """Traces of a batch of inputs; `facts` are each example's own."""
        ready = self._without_predictions(self.ready(inputs))
        with (
            alone(self.module),
            heard_labels(self) as labels,
            embedding_parts(self.module) if attribution else nullcontext() as parts,
        ):
            operations, plan = capture(self.module, ready, self._plan)
            self._plan = plan
        if parts is not None:
            with torch.no_grad():
                operations[0].parts = parts.of(operations[0])
        if len(labels) == len(facts):
            facts = [{**own, **said} for own, said in zip(facts, labels, strict=True)]
        return self.finished(Recorder(book, plan.projections).traces(operations, self.facts), facts)

    def _without_predictions(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Inputs of a run whose output nobody reads: at 8,192 tokens a language model's are 1.6 GB."""
        if "labels" in inputs or not self.takes(KEEP):  # a loss needs the predictions of all positions
            return inputs
        return {KEEP: 1, **inputs}

    def finished(self, traces: Sequence[Trace], facts: Sequence[dict[str, Any]]) -> list[Trace]:
        """Recorded traces with related words and each example's own facts."""
        self._places |= places_of(traces[0].sites)
        relation = self.relation()
        return [
            Trace(with_related(trace.sides, relation), trace.sites, {**trace.facts, **own})
            for trace, own in zip(traces, facts, strict=False)  # packed inputs give one trace
        ]
