"""Models: load one from anywhere, and trace what it does with a text, a pair, a translation or an image.

Enters: a name, a folder, or a model object; then texts. Leaves: Traces.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
import transformers

from regard import __version__
from regard.ablation import ablated, ablation_facts, head_means
from regard.answers import answer_side, generated, given_book
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
from regard.capture.tiers import undisturbed
from regard.heads import Heads, Shows, names_patterns
from regard.inputs import Encoded, encode, image_inputs, pad, shift_right
from regard.loading import PACKAGED, load_pretrained, resolve
from regard.tokens import Segment, Side
from regard.trace import Trace
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

    Examples
    --------
    >>> model = load()  # doctest: +SKIP
    >>> model.trace("The cat sat on the mat.").attention(0, 2)  # doctest: +SKIP
    """
    if isinstance(model, tuple):
        if len(model) != 2 or not isinstance(model[0], torch.nn.Module):
            raise TypeError("pass a (model, tokenizer) pair, a torch module, a name or a folder")
        model, tokenizer = model
    if isinstance(model, torch.nn.Module):
        name = str(getattr(getattr(model, "config", None), "_name_or_path", "") or type(model).__name__)
        return Model(model if device is None else model.to(device), tokenizer, name=name)
    own = load_own(model)
    if own is not None:
        return Model(own.model if device is None else own.model.to(device), own.tokenizer, name=own.model.config.name)
    name, source = resolve(model)
    packaged = PACKAGED.get(name)
    module, reader = load_pretrained(
        source,
        tokenizer=tokenizer,
        revision=revision,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle or (packaged is not None and packaged.pickle),
    )
    made = Model(module if device is None else module.to(device), reader, name=name)
    if tokenizer is None or isinstance(tokenizer, str):
        made.source = {
            "model": str(model) if model is not None else None,
            "tokenizer": tokenizer,
            "device": None if device is None else str(device),
            "dtype": dtype,
            "revision": revision,
            "trust_remote_code": trust_remote_code,
            "allow_pickle": allow_pickle,
        }
    return made


class Model:
    """A model ready to be traced. `module` is the Hugging Face (or torch) model itself, unchanged."""

    def __init__(self, module: torch.nn.Module, tokenizer: Any = None, *, name: str) -> None:
        self.module = module
        self.name = name
        is_tokenizer = tokenizer is None or hasattr(tokenizer, "convert_ids_to_tokens")
        self.tokenizer: Any = tokenizer if is_tokenizer else getattr(tokenizer, "tokenizer", None)
        self.processor: Any = None if is_tokenizer else getattr(tokenizer, "image_processor", tokenizer)
        self.source: dict[str, Any] | None = None  # how `load` made it, for workers that load it again
        self._plan: Plan | None = None
        self._places: dict[str, tuple[Place, ...]] = {}  # where attention runs, as the traces so far have found it
        self._means: dict[tuple[Any, ...], Means] = {}
        self._lock = threading.Lock()  # one capture of a module at a time: hooks and training flags are shared

    def __repr__(self) -> str:
        return f"<Model {self.name}: {type(self.module).__name__}, {self.parameters / 1e6:.1f} M parameters>"

    @property
    def config(self) -> Any:
        return getattr(self.module, "config", None)

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.module.parameters())

    @property
    def is_encoder_decoder(self) -> bool:
        return bool(getattr(self.config, "is_encoder_decoder", False))

    @property
    def can_generate(self) -> bool:
        check = getattr(self.module, "can_generate", None)
        return bool(check()) if callable(check) else False

    @property
    def limit(self) -> int | None:
        """The most tokens one input may have."""
        names = ("max_position_embeddings", "n_positions", "max_sequence_length", "n_ctx")
        found = [getattr(self.config, name, None) for name in names]
        found.append(getattr(self.tokenizer, "model_max_length", None))
        lengths = [int(n) for n in found if isinstance(n, (int, float)) and 0 < n < 10**7]
        return min(lengths, default=None)

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
            return self._trace_image(image, text if isinstance(text, str) else None)
        if text is None:
            raise ValueError("there is nothing to trace; pass a text, or image=... for a vision model")
        self._need_tokenizer()
        options = {"truncate": truncate, "segment_ids": segment_ids}
        if isinstance(text, str):
            if generate is not None:
                return self._trace_answer(text, generate, truncate)
            encoded = self.encode(text, pair, **options)  # type: ignore[arg-type]
            return self._trace_batch([encoded], [target], attribution)[0]  # type: ignore[list-item]
        texts = list(text)
        pairs, targets = _matching(pair, len(texts), "pair"), _matching(target, len(texts), "target")
        if generate is not None:
            return [self._trace_answer(one, generate, truncate) for one in texts]
        rows = [self.encode(one, other, **options) for one, other in zip(texts, pairs, strict=True)]
        traces: list[Trace] = []
        for start in range(0, len(rows), batch_size):
            part = slice(start, start + batch_size)
            traces += self._trace_batch(rows[part], targets[part], attribution)
        return traces

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
            Mean outputs for mode "mean", from `head_means`.
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
        """(kind, layer) -> (H, e) mean outputs of heads over all positions of some texts; kept for the next time."""
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
            elif self._takes("pixel_values"):
                self.trace(image=np.zeros((64, 64, 3), np.uint8))
            else:
                raise ValueError(f"the heads of {self.name} are not known yet; call trace_inputs with its inputs first")
        return self._places

    @property
    def plan(self) -> Plan:
        """How the model is captured; found by a first run."""
        known = self.places and self._plan
        assert known
        return known

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

    def encode(
        self, text: str, pair: str | None = None, *, truncate: bool = False, segment_ids: bool = True
    ) -> Encoded:
        """A text or pair as the model reads it: ids, and the tokens they stand for."""
        self._need_tokenizer()
        side = "encoder" if self.is_encoder_decoder else "text"
        return encode(
            self.tokenizer, text, pair, side=side, limit=self.limit, truncate=truncate, segment_ids=segment_ids
        )

    def _trace_batch(
        self, rows: list[Encoded], targets: Sequence[str | None], attribution: bool = False
    ) -> list[Trace]:
        inputs, book = self.collate(rows, targets)
        return self._record(inputs, book, [_text_facts(row) for row in rows], attribution)

    def collate(
        self, rows: Sequence[Encoded], targets: Sequence[str | None] | None = None
    ) -> tuple[dict[str, Any], Book]:
        """Padded inputs of some encoded texts, and the tokens behind them."""
        targets = [None] * len(rows) if targets is None else targets
        ids, real = pad([row.ids for row in rows], self._pad_id)
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.from_numpy(real).long()}
        types = [row.types for row in rows]
        if all(t is not None for t in types) and self._takes("token_type_ids"):
            inputs["token_type_ids"] = pad([t for t in types if t is not None], 0)[0]
        sides = [{row.side.name: row.side} for row in rows]
        keep = {rows[0].side.name: real}
        if self.is_encoder_decoder:
            answers = [self._target(row, target) for row, target in zip(rows, targets, strict=True)]
            decoder_ids, decoder_real = pad([answer.ids for answer in answers], self._pad_id)
            inputs["decoder_input_ids"] = decoder_ids
            if self._takes("decoder_attention_mask"):
                inputs["decoder_attention_mask"] = torch.from_numpy(decoder_real).long()
            for side, answer in zip(sides, answers, strict=True):
                side["decoder"] = answer.side
            keep["decoder"] = decoder_real
        elif any(target is not None for target in targets):
            raise ValueError(f"{self.name} has no decoder for a target; pass the text alone, or as a pair")
        return inputs, Book(sides, keep)

    def stream(self, inputs: Mapping[str, Any], book: Book, take: Callable[[Layer], None]) -> Any:
        """Run the model and hand each layer's attention to `take` as it is computed; nothing is kept."""
        ready = self.ready(inputs)
        with self._lock:
            if self._plan is None:
                _, self._plan = capture(self.module, ready, None)
            return stream(self.module, ready, self._plan, set(book.keep), take)

    def _target(self, row: Encoded, target: str | None) -> Encoded:
        """What the decoder reads: the given target, or what the model generates greedily."""
        start = getattr(self.config, "decoder_start_token_id", None)
        if start is None:
            start = getattr(self.config, "bos_token_id", None) or self._pad_id
        name = str(self.tokenizer.convert_ids_to_tokens(start))
        end = getattr(self.tokenizer, "eos_token_id", None)
        if target is not None:
            asked = encode(self.tokenizer, target, side="decoder", target=True, limit=self.limit)
            return shift_right(asked, start, name, end)
        if not self.can_generate:
            raise ValueError(
                f"{type(self.module).__name__} cannot generate a target by itself; pass target='...' for its decoder"
            )
        output = generated(self.module, row.ids, self.limit or 128, self._pad_id)
        made = output[1:] if output and output[0] == start else output
        return shift_right(Encoded(made, None, answer_side(self.tokenizer, made, "decoder")), start, name, end)

    def _trace_answer(self, text: str, count: int, truncate: bool) -> Trace:
        """A causal model's own continuation, traced in one pass over prompt and answer."""
        if self.is_encoder_decoder or not self.can_generate:
            raise ValueError(f"{self.name} does not continue a text; generate= needs a causal language model")
        if count < 1:
            raise ValueError(f"generate must be at least 1 token, not {count}")
        room = None if self.limit is None else self.limit - count
        prompt = encode(self.tokenizer, text, limit=room, truncate=truncate)
        made = generated(self.module, prompt.ids, count, self._pad_id)[len(prompt.ids) :]
        answer = answer_side(self.tokenizer, made, "text", prompt.side)
        segments = (Segment("prompt", 0, len(prompt.ids)), Segment("answer", len(prompt.ids), len(answer)))
        row = Encoded(prompt.ids + made, None, Side("text", answer.tokens, segments), None, prompt.cut)
        return self._trace_batch([row], [None])[0]

    def _trace_image(self, image: Any, text: str | None) -> Trace:
        if not self._takes("pixel_values"):
            raise ValueError(f"{self.name} does not read images; pass a text instead")
        pixels, book = image_inputs(image, self.processor, self.config)
        inputs: dict[str, Any] = {"pixel_values": pixels}
        facts: dict[str, Any] = {}
        if text is not None:
            self._need_tokenizer()
            row = encode(self.tokenizer, text, limit=self.limit)
            inputs |= {"input_ids": torch.tensor([row.ids]), "attention_mask": torch.ones(1, len(row.ids)).long()}
            book = Book([{"text": row.side}], {"text": np.ones((1, len(row.ids)), bool)}, book.grid, book.image)
            facts = _text_facts(row)
        return self._record(inputs, book, [facts])[0]

    # -- running -------------------------------------------------------------------------------------------

    def _record(
        self, inputs: Mapping[str, Any], book: Book, facts: list[dict[str, Any]], attribution: bool = False
    ) -> list[Trace]:
        ready = self.ready(inputs)
        with self._lock, embedding_parts(self.module) if attribution else nullcontext() as parts:
            operations, plan = capture(self.module, ready, self._plan)
            self._plan = plan
        if parts is not None:
            with torch.no_grad():
                operations[0].parts = parts.of(operations[0])
        traces = Recorder(book, plan.projections).traces(operations, self.facts)
        self._places |= places_of(traces[0].sites)
        return [
            Trace(trace.sides, trace.sites, {**trace.facts, **own})
            for trace, own in zip(traces, facts, strict=False)  # packed inputs give one trace
        ]

    def ready(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs on the model's device, in its precision, with caches off."""
        dtype = next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)

        def move(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return value.to(self._device, dtype if value.is_floating_point() else None)

        ready = {name: move(value) for name, value in inputs.items()}
        if self._takes("use_cache"):
            ready.setdefault("use_cache", False)
        return ready

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
            "device": str(self._device),
            "kernel": getattr(self.config, "_attn_implementation", None),
            "tier": None if plan is None else plan.tier,
            "captured": None if plan is None else TIERS[plan.tier],
            **({"missed": missed} if missed else {}),
            **ablation_facts(self),
            "regard": __version__,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
        }

    def _need_tokenizer(self) -> None:
        if self.tokenizer is None:
            raise ValueError(
                f"{self.name} has no tokenizer; load it as (model, tokenizer), or call trace_inputs with its inputs"
            )

    def _takes(self, name: str) -> bool:
        return name in inspect.signature(self.module.forward).parameters

    @property
    def _device(self) -> torch.device:
        parameter = next(self.module.parameters(), None)
        return torch.device("cpu") if parameter is None else parameter.device

    @property
    def _pad_id(self) -> int:
        for owner in (self.tokenizer, self.config):
            found = getattr(owner, "pad_token_id", None)
            if found is not None:
                return int(found)
        return 0


def _findings(trace: Callable[[], Any], heads: Heads) -> list[Shows] | None:
    """What the heads do in a plain trace, where some heads are named by a pattern."""
    if not names_patterns(heads):
        return None
    made = trace()
    return [one for single in ([made] if isinstance(made, Trace) else made) for one in single.patterns()]


def _matching(value: str | Sequence[str] | None, count: int, name: str) -> list[str | None]:
    if value is None:
        return [None] * count
    if isinstance(value, str) or len(value) != count:
        raise ValueError(f"there are {count} texts; pass a list of {count} as {name} too")
    return list(value)


def _text_facts(row: Encoded) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "truncated": row.cut,
        "segment_ids": "none" if row.types is None else "as the tokenizer gives",
    }
    if row.types is not None and not any(row.types):
        facts["segment_ids"] = "all 0"
    if row.joined is not None:
        facts["pair"] = row.joined
    return facts
