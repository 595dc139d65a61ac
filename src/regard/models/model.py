"""Models: load one from anywhere, and trace what it does with a text, a pair, a translation or an image.

Enters: a name, a folder, or a model object; then texts. Leaves: Traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
import transformers

from regard import __version__
from regard.capture import (
    TIERS,
    Ablation,
    Book,
    Layer,
    Means,
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
from regard.errors import UserError, WrongTypeError
from regard.models.ablated import ablated, ablation_facts, head_means
from regard.models.base import Device, Reader
from regard.models.generation import given_book
from regard.models.loading import is_trusted, load_pretrained, resolve
from regard.models.prepare import Encoded
from regard.models.related import Relation, relation_of, with_related
from regard.trace.heads import Heads, Shows, names_patterns
from regard.trace.trace import Trace
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
        the one that comes with regard, or a checkpoint of `regard train`. Without one, the built-in
        all-MiniLM-L6-v2 of the extra `demo`.
    tokenizer
        A tokenizer (or image processor), or the name of one, where the model's own is not the one to use.
    device, dtype
        Where and in which precision to run; as the checkpoint says unless given.
    revision
        Which version of a hub model.
    trust_remote_code
        Run code that comes with the model. Never without being asked.
    allow_pickle
        Read weights that are only there as pickle files. Refused unless asked for.
    offline
        Do not ask the hub: only what is here already is found.

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
        name = str(getattr(getattr(model, "config", None), "_name_or_path", "") or type(model).__name__)
        return Model(model, tokenizer, name=name, device=device)
    own = load_own(model)
    if own is not None:
        return Model(own.model, own.tokenizer, name=own.model.config.name, device=device)
    name, source = resolve(model)
    how = {"dtype": dtype, "revision": revision, "trust_remote_code": trust_remote_code}
    how |= {"allow_pickle": allow_pickle, "offline": offline}
    trusted = allow_pickle or is_trusted(source)
    module, its_tokenizer = load_pretrained(source, tokenizer=tokenizer, **how | {"allow_pickle": trusted})
    made = Model(module, its_tokenizer, name=name, device=device)
    if tokenizer is None or isinstance(tokenizer, str):
        named = {"model": model, "tokenizer": tokenizer, "device": device}
        plain: dict[str, Any] = {key: None if value is None else str(value) for key, value in named.items()}
        made.origin = partial(load, **plain, **how)
    return made


class Model(Reader):
    """A model ready to be traced. `module` is the Hugging Face (or torch) model itself, unchanged.

    Threads may share it, and so may several `Model`s: runs of one module wait for each other. It can be pickled.
    """

    def __init__(self, module: torch.nn.Module, tokenizer: Any = None, *, name: str, device: Device = None) -> None:
        super().__init__(module, tokenizer, name=name, device=device)
        self.origin: Callable[[], Model] | None = None  # makes it again in another process, if that can be done
        self._plan: Plan | None = None
        self._places: dict[str, tuple[Place, ...]] = {}  # where attention runs, as the traces so far have found it
        self._means: dict[tuple[Any, ...], Means] = {}
        self._relation: Relation | None = None

    def __repr__(self) -> str:
        return f"<Model {self.name}: {type(self.module).__name__}, {self.parameters / 1e6:.1f} M parameters>"

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.module.parameters())

    # -- tracing -------------------------------------------------------------------------------------------

    @overload
    def trace(
        self,
        text: str | None = None,
        pair: str | None = None,
        *,
        target: str | None = None,
        generate: int | None = None,
        image: Any = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
    ) -> Trace: ...

    @overload
    def trace(
        self,
        text: list[str],
        pair: list[str] | None = None,
        *,
        target: list[str] | None = None,
        generate: int | None = None,
        image: Any = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
        batch_size: int = 8,
    ) -> list[Trace]: ...

    def trace(
        self,
        text: str | list[str] | None = None,
        pair: str | list[str] | None = None,
        *,
        target: str | list[str] | None = None,
        generate: int | None = None,
        image: Any = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
        batch_size: int = 8,
    ) -> Trace | list[Trace]:
        """Run a text through the model and keep what its attention was made of.

        Parameters
        ----------
        text, pair
            A text, or two sentences; lists of them give a list of traces.
        target
            What an encoder-decoder model is made to say; without it, what it says by itself (greedily).
        generate
            Let a causal model go on for this many tokens: prompt and answer become segments.
        image
            A file, Pillow image or (height, width, 3) array for a vision model; tokens are its patches.
        truncate
            Cut texts that are longer than the model takes, instead of refusing them.
        segment_ids
            False gives both sentences of a pair segment id 0, as Clark et al. (2019) did.
        attribution
            Keep what the first layer's q and k are sums of (word, position, segment embedding), for BERT-type models.
        ablate, mode, means
            Heads to switch off while the text runs, and how; see `Model.ablate`. Names of patterns mean the heads that
            show them on this text.
        batch_size
            How many texts of a list run at once.
        """
        if ablate is not None:
            plain: Callable[[], Any] = partial(
                self.trace, text, pair, target=target, generate=generate, image=image, truncate=truncate,
                segment_ids=segment_ids, attribution=attribution, batch_size=batch_size,
            )  # fmt: skip
            with self.ablate(ablate, mode=mode, means=means, patterns=_findings(plain, ablate)):
                return plain()  # type: ignore[no-any-return]
        if image is not None:
            inputs, book, facts = self.picture(image, text if isinstance(text, str) else None)
            return self._record(inputs, book, [facts])[0]
        if text is None:
            raise UserError("there is nothing to trace; pass a text, or image=... for a vision model")
        texts, pairs, targets = _listed(text, pair, target)
        if generate is not None:
            answered = [self.continued(one, generate, truncate=truncate) for one in texts]
            traces = self._trace_rows(answered, [None] * len(texts))
        else:
            options = {"truncate": truncate, "segment_ids": segment_ids}
            rows = [self.encode(one, other, **options) for one, other in zip(texts, pairs, strict=True)]
            traces = self._trace_rows(rows, targets, attribution=attribution, batch_size=batch_size)
        return traces[0] if isinstance(text, str) else traces

    # -- switching heads off -------------------------------------------------------------------------------

    def ablate(
        self,
        heads: Heads,
        *,
        mode: str = "zero",
        means: Means | None = None,
        patterns: Iterable[Shows] | None = None,
    ) -> AbstractContextManager[Ablation]:
        """Switch heads off until the block ends: this thread's runs of `module` itself, and traces, are without them.

        Blocks may be nested; for a head that is in both, the inner one counts.

        Parameters
        ----------
        heads
            (layer, head), (kind, layer, head), "5.4", "2.*", "cross:1.3", names of patterns, or a list of these.
        mode
            "zero" removes what the head puts out, "uniform" makes its attention 1/L over the keys that may be seen,
            "mean" replaces what it puts out by its mean over a reference corpus.
        means
            Mean outputs for mode "mean", from `head_means`; without them, those over sentences that come with regard.
        patterns
            Where names of patterns are looked up: `trace.patterns()`.

        Examples
        --------
        >>> with model.ablate(["5.4", "2.*"]):  # doctest: +SKIP
        ...     logits = model.module(**inputs).logits
        """
        return ablated(self, heads, mode=mode, means=means, patterns=patterns)

    def head_means(
        self,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None = None,
        *,
        targets: Sequence[str | None] | None = None,
        batch_size: int = 8,
    ) -> Means:
        """(kind, layer) -> (H, e) mean outputs of heads over all positions of some texts; kept for the next time.

        The decoder of an encoder-decoder model reads `targets`; without them what the model says to each text.
        """
        texts_of = (None if some is None else tuple(some) for some in (texts, pairs, targets))
        changes = sum(parameter._version for parameter in self.module.parameters())  # of weights trained since
        key = (*texts_of, changes, str(ablation_facts(self)))
        if key not in self._means:
            self._means[key] = head_means(self, texts, pairs, targets=targets, batch_size=batch_size)
        return self._means[key]

    @property
    def layout(self) -> dict[tuple[str, int], int]:
        """How many heads each (kind, layer) has."""
        return layout_of(self.places)

    @property
    def places(self) -> dict[str, tuple[Place, ...]]:
        """Where attention runs: module path -> what its calls are; found by a first run."""
        if not self._places:
            if self.tokenizer is not None:
                self.trace("a b c d", target="a b" if self.is_encoder_decoder else None)
            elif self.takes("pixel_values"):
                self.trace(image=np.zeros((64, 64, 3), np.uint8))
            else:
                raise UserError(f"the heads of {self.name} are not known yet; call trace_inputs with its inputs first")
        return self._places

    @property
    def relation(self) -> Relation | None:
        """Which words are close in the model's input embedding; None where it has none."""
        self._relation = relation_of(self.module, self.tokenizer, self._relation)
        return self._relation

    @property
    def plan(self) -> Plan:
        """How the model is captured; found by a first run."""
        known = self.places and self._plan
        assert known
        return known

    # -- running -------------------------------------------------------------------------------------------

    def run(self, inputs: Mapping[str, Any]) -> Any:
        """The model's own output for some inputs, without gradients or dropout."""
        with undisturbed(self.module):
            return self.module(**self.ready(inputs))

    def trace_inputs(self, inputs: Mapping[str, Any], *, tokens: Sequence[str] | None = None) -> list[Trace]:
        """Trace any inputs the model's forward takes (ids, features, pixels), one trace per example of the batch.

        A vision model that packs its images into one sequence gives one trace of that sequence.
        """
        book = given_book(inputs, tokens, self.tokenizer, self.is_encoder_decoder)
        return self._record(inputs, book, [{} for _ in book.sides])

    def steady(self) -> AbstractContextManager[None]:
        """Keep memory level while batches of many shapes run; see `capture.steady`."""
        return steady(self.module)

    def stream(self, inputs: Mapping[str, Any], book: Book, take: Callable[[Layer], None]) -> Any:
        """Run the model and hand each layer's attention to `take` as it is computed; nothing is kept."""

        def checked(layer: Layer) -> None:
            require_finite(layer.named, book)
            take(layer)

        ready = self.ready(inputs)
        with alone(self.module):
            if self._plan is None:
                _, self._plan = capture(self.module, ready, None)
            return stream(self.module, ready, self._plan, set(book.keep), checked)

    def _trace_rows(
        self,
        rows: Sequence[Encoded],
        targets: Sequence[str | None],
        *,
        attribution: bool = False,
        batch_size: int = 1,
    ) -> list[Trace]:
        """A trace of each encoded text."""
        traces: list[Trace] = []
        for start in range(0, len(rows), batch_size):
            part = slice(start, start + batch_size)
            inputs, book = self.collate(rows[part], targets[part])
            try:
                traces += self._record(inputs, book, [row.facts for row in rows[part]], attribution)
            except NotFiniteError as error:
                raise error.among(list(range(len(rows)))[part]) if len(rows) > 1 else error from None
        return traces

    def _record(
        self, inputs: Mapping[str, Any], book: Book, facts: list[dict[str, Any]], attribution: bool = False
    ) -> list[Trace]:
        ready = self.ready(inputs)
        with alone(self.module), embedding_parts(self.module) if attribution else nullcontext() as parts:
            operations, plan = capture(self.module, ready, self._plan)
            self._plan = plan
        if parts is not None:
            with torch.no_grad():
                operations[0].parts = parts.of(operations[0])
        traces = Recorder(book, plan.projections).traces(operations, self.facts)
        self._places |= places_of(traces[0].sites)
        relation = self.relation
        return [
            Trace(with_related(trace.sides, relation), trace.sites, {**trace.facts, **own})
            for trace, own in zip(traces, facts, strict=False)  # packed inputs give one trace
        ]

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
            "regard": __version__,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }


def _findings(trace: Callable[[], Any], heads: Heads) -> list[Shows] | None:
    """What the heads do in a plain trace, where some heads are named by a pattern."""
    if not names_patterns(heads):
        return None
    made = trace()
    return [one for single in ([made] if isinstance(made, Trace) else made) for one in single.patterns()]


def _listed(
    text: str | list[str], pair: str | list[str] | None, target: str | list[str] | None
) -> tuple[list[str], list[str | None], list[str | None]]:
    """Texts, pairs and targets as three lists of one length."""
    if isinstance(text, str):
        return [text], [pair], [target]  # type: ignore[list-item]  # what is no string is refused where it is read
    texts = list(text)
    return texts, _matching(pair, len(texts), "pair"), _matching(target, len(texts), "target")


def _matching(value: str | Sequence[str] | None, count: int, name: str) -> list[str | None]:
    if value is None:
        return [None] * count
    if isinstance(value, str) or len(value) != count:
        raise UserError(f"there are {count} texts; pass a list of {count} as {name} too")
    return list(value)
