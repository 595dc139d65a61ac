"""The models that people use: trace a text, a pair, a translation or an image, and switch heads off.

Enters: texts or images. Leaves: Traces.

Long on purpose: two thirds are signatures and the docstrings that people read in their editor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import torch

from regard.base.errors import UserError
from regard.capture import Ablation, EdgeCut, Means
from regard.models.ablated import ablated, ablation_facts, head_means
from regard.models.audio import Seconds
from regard.models.base import Device, Target, Text
from regard.models.conversation import conversation_of
from regard.models.cutting import cutting
from regard.models.engine import Engine
from regard.models.generation import given_book
from regard.models.outcome import Answering
from regard.models.sampling import Sampling
from regard.models.sight import picture_inputs
from regard.models.tracing import trace_sound, trace_texts, traced_in_half
from regard.models.worth import Worth, asked_worth
from regard.trace.edges import Edges, block_name, parse_edges
from regard.trace.heads import Heads, Shows, names_patterns
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.ablation.cutting import Cut
    from regard.ablation.effects import Effect
    from regard.ablation.evidence import Evidence
    from regard.models.lens import Lens
    from regard.models.why import Why
    from regard.models.writes import Writes
    from regard.views.walk import Walked


class Model:
    """A model ready to be traced.

    Threads may share it, and so may several `Model`s: runs of one module wait for each other. It can be pickled.
    """

    def __init__(self, module: torch.nn.Module, tokenizer: Any = None, *, name: str, device: Device = None) -> None:
        self._engine = Engine(module, tokenizer, name=name, device=device)  # for regard's own use
        self._means: dict[tuple[Any, ...], Means] = {}

    def __repr__(self) -> str:
        return f"<Model {self.name}: {type(self.module).__name__}, {self.parameters / 1e6:.1f} M parameters>"

    # -- what it is ----------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        return self._engine.name

    @property
    def module(self) -> torch.nn.Module:
        """The Hugging Face (or torch) model itself, unchanged."""
        return self._engine.module

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer; None if it has none."""
        return self._engine.tokenizer

    @property
    def config(self) -> Any:
        """Its Hugging Face configuration; None if it has none."""
        return self._engine.config

    @property
    def device(self) -> torch.device:
        """The device it runs on."""
        return self._engine.device

    @property
    def parameters(self) -> int:
        """Its number of parameters."""
        return sum(p.numel() for p in self.module.parameters())

    @property
    def limit(self) -> int | None:
        """The most tokens one input may have; None if there is no limit."""
        return self._engine.limit

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether it reads with an encoder and writes with a decoder."""
        return self._engine.is_encoder_decoder

    @property
    def can_generate(self) -> bool:
        """Whether it can generate text."""
        return self._engine.can_generate

    @property
    def facts(self) -> dict[str, Any]:
        """Facts recorded with every result: versions, precision, kernel, how attention is captured."""
        return self._engine.facts

    def layout(self) -> dict[tuple[str, int], int]:
        """How many heads each (kind, layer) has; needs a first run if nothing was traced yet."""
        return self._engine.layout()

    # -- tracing -------------------------------------------------------------------------------------------

    @overload
    def trace(
        self,
        text: Text | None = None,
        pair: str | None = None,
        *,
        messages: Sequence[Mapping[str, Any]] | None = None,
        target: str | Sequence[int] | None = None,
        generate: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: str | Sequence[str] = (),
        image: Any = None,
        audio: Any = None,
        seconds: Seconds | None = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        predictive: bool = False,
        worth: Worth = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
        half: bool = False,
    ) -> Trace: ...

    @overload
    def trace(
        self,
        text: list[str],
        pair: list[str] | None = None,
        *,
        target: list[str] | None = None,
        generate: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: str | Sequence[str] = (),
        image: Any = None,
        audio: Any = None,
        seconds: Seconds | None = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        predictive: bool = False,
        worth: Worth = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
        half: bool = False,
        batch_size: int = 8,
    ) -> list[Trace]: ...

    def trace(  # long because of its arguments and their descriptions
        self,
        text: Text | list[str] | None = None,
        pair: str | list[str] | None = None,
        *,
        messages: Sequence[Mapping[str, Any]] | None = None,
        target: str | Sequence[int] | list[str] | None = None,
        generate: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: str | Sequence[str] = (),
        image: Any = None,
        audio: Any = None,
        seconds: Seconds | None = None,
        truncate: bool = False,
        segment_ids: bool = True,
        attribution: bool = False,
        predictive: bool = False,
        worth: Worth = False,
        ablate: Heads | None = None,
        mode: str = "zero",
        means: Means | None = None,
        half: bool = False,
        batch_size: int = 8,
    ) -> Trace | list[Trace]:
        """Run a text through the model and keep what its attention was made of.

        Parameters
        ----------
        text, pair
            A text, or two sentences; lists of them give a list of traces.
        messages
            A conversation in place of a text, {"role": ..., "content": ...} each: it is laid out by the model's chat
            template, and each turn is a segment. If the last message is the assistant's, it is the answer.
        target
            What the decoder of an encoder-decoder model reads; without it, what the model generates (greedily). A
            causal model reads it after the text: an answer from elsewhere, a text or ids, is replayed in one pass.
        generate
            Let a causal model continue for this many tokens: prompt and answer become segments.
        temperature, seed, stop
            How it continues: the likeliest token at 0, otherwise drawn with the seed; texts at which it stops.
        image
            A file, Pillow image or (height, width, 3) array for a vision model; tokens are its patches.
        audio, seconds
            A wav or flac file, or (samples, rate), for a speech model, and the part of it from and to these seconds;
            tokens are its frames. Whisper reads `target` as what was said; without it, what it hears.
        truncate
            Cut texts that are too long for the model instead of refusing them.
        segment_ids
            False gives both sentences of a pair segment id 0, as Clark et al. (2019) did.
        attribution
            Keep the parts that the first layer's q and k are sums of (word, position, segment embedding), for BERT-type
            models.
        predictive
            Also ask a language model which words predict which: `trace.gains()`, and one more pattern. It takes a run
            of the model per token (causal models, up to 512 tokens) or per pair of tokens (masked ones, up to 128).
        worth
            Also estimate what every line adds to the model's output, by one backward pass: `trace.worth`. True judges
            by the model's own prediction (the next token, the masked word, the likeliest label, the similarity of two
            sentences); a text names the token or label; {"position": ..., "token": ..., "how": ..., "check": ...} says
            more: how lines are cut, and how many are cut for real to check the estimate.
        ablate, mode, means
            Heads to switch off while the text runs, and how; see `Model.ablate`. Names of patterns mean the heads that
            show them on this text.
        half
            Keep q, k and v in 16 bits: half the memory, for long texts. How far scores are off by that is measured and
            said (`trace.facts["half"]`).
        batch_size
            How many texts of a list run at once.
        """
        if ablate is not None or half:
            plain: Callable[..., Any] = partial(
                self.trace, text, pair, messages=messages, target=target, generate=generate, temperature=temperature,
                seed=seed, stop=stop, image=image, audio=audio, seconds=seconds, truncate=truncate,
                segment_ids=segment_ids, attribution=attribution, predictive=predictive, worth=worth,
                batch_size=batch_size,
            )  # fmt: skip
            if half:
                return traced_in_half(lambda: plain(ablate=ablate, mode=mode, means=means))  # type: ignore[no-any-return]
            assert ablate is not None
            with self.ablate(ablate, mode=mode, means=means, patterns=_findings(plain, ablate)):
                return plain()  # type: ignore[no-any-return]
        answer = Answering(generate, Sampling(temperature, seed), (stop,) if isinstance(stop, str) else tuple(stop))
        if image is not None:
            inputs, book, facts = picture_inputs(self._engine, image, _beside(text), target, answer)
            return self._engine.record(inputs, book, [facts])[0]
        if audio is not None:
            others: dict[str, Any] = {
                "a text": text,
                "a pair": pair,
                "messages": messages,
                "generate": generate,
                "image": image,
            }
            others |= {"worth": worth or None, "predictive": predictive or None}
            return trace_sound(self._engine, audio, target, seconds, others)
        return trace_texts(
            self._engine, _to_trace(text, pair, messages), pair, target, worth=asked_worth(worth), answer=answer,
            batch_size=batch_size, truncate=truncate, segment_ids=segment_ids, attribution=attribution,
            predictive=predictive,
        )  # fmt: skip

    # -- switching heads off -------------------------------------------------------------------------------

    def ablate(
        self,
        heads: Heads,
        *,
        mode: str = "zero",
        means: Means | None = None,
        patterns: Iterable[Shows] | None = None,
    ) -> AbstractContextManager[Ablation]:
        """Switch heads off until the block ends: in traces, and in this thread's own runs of `module`.

        Blocks may be nested; for a head in both, the inner block counts.

        Parameters
        ----------
        heads
            (layer, head), (kind, layer, head), "5.4", "2.*", "cross:1.3", names of patterns, or a list of these.
        mode
            "zero" removes the head's output, "uniform" makes its attention 1/L over the visible keys, "mean" replaces
            its output with its mean over a reference corpus.
        means
            Mean outputs for mode "mean", from `head_means`; without them, means over the sentences included in regard.
        patterns
            Where names of patterns are looked up: `trace.patterns()`.

        Examples
        --------
        >>> with model.ablate(["5.4", "2.*"]):  # doctest: +SKIP
        ...     logits = model.module(**inputs).logits
        """
        return ablated(self, heads, mode=mode, means=means, patterns=patterns)

    def cutting(self, edges: Edges, trace: Trace, *, how: str = "mask") -> AbstractContextManager[EdgeCut]:
        """Cut edges until the block ends: in traces, and in this thread's own runs of `module` on the same text.

        Parameters
        ----------
        edges, how
            As in `cut`.
        trace
            The trace of the text, in which the edges are named.
        """
        blocks = parse_edges(edges, trace)
        return cutting(self._engine, [blocks], how, [block_name(block, trace) for block in blocks])

    def head_means(
        self,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None = None,
        *,
        targets: Sequence[str | None] | None = None,
        batch_size: int = 8,
    ) -> Means:
        """(kind, layer) -> (H, e) mean outputs of heads over all positions of some texts; cached.

        The decoder of an encoder-decoder model reads `targets`; without them, the model's own answer to each text.
        """
        texts_of = (None if some is None else tuple(some) for some in (texts, pairs, targets))
        changes = sum(parameter._version for parameter in self.module.parameters())  # counts changes of the weights
        key = (*texts_of, changes, str(ablation_facts(self._engine)))
        if key not in self._means:
            self._means[key] = head_means(self._engine, texts, pairs, targets=targets, batch_size=batch_size)
        return self._means[key]

    # -- what heads are worth, what a layer computes -------------------------------------------------------

    def effect(
        self,
        text: str,
        pair: str | None = None,
        *,
        heads: Heads,
        modes: Sequence[str] | str | None = None,
        means: Means | None = None,
        patterns: Iterable[Shows] | None = None,
        target: str | None = None,
        position: int | None = None,
        top: int = 5,
        truncate: bool = False,
        compared: bool = False,
    ) -> Effect:
        """Compare predictions on a text with and without some heads; see `regard.ablation.effects.effect`.

        Examples
        --------
        >>> model.effect("The capital of France is", heads="5.4").kl["zero"]  # doctest: +SKIP
        """
        from regard.ablation.effects import effect

        return effect(
            self, text, pair, heads=heads, modes=modes, means=means, patterns=patterns, target=target,
            position=position, top=top, truncate=truncate, compared=compared,
        )  # fmt: skip

    def why(
        self,
        text: str,
        head: Heads,
        query: int | str = -1,
        key: int | str | None = None,
        pair: str | None = None,
        *,
        target: str | None = None,
        generate: int | None = None,
        truncate: bool = False,
        check: bool = True,
    ) -> Why:
        """Split a head's score from a query to a key over what made them; see `regard.models.why.why`.

        Examples
        --------
        >>> model.why("The cat sat. The cat sat", "18.6").key.components[0].name  # doctest: +SKIP
        '16.0'
        """
        from regard.models.why import why

        options: dict[str, Any] = {"target": target, "generate": generate, "truncate": truncate, "check": check}
        return why(self, text, head, query, key, pair, **options)

    def cut(
        self,
        text: str,
        pair: str | None = None,
        *,
        edges: Edges,
        how: str = "mask",
        target: str | None = None,
        generate: int | None = None,
        position: int | None = None,
        token: str | int | None = None,
        controls: int = 16,
        top: int = 5,
        truncate: bool = False,
    ) -> Cut:
        """Compare predictions on a text before and after some lines are cut; see `regard.ablation.cutting.cut`.

        Examples
        --------
        >>> model.cut("The animal was tired because it", edges="5.4:it→animal").sentence  # doctest: +SKIP
        """
        from regard.ablation.cutting import cut

        return cut(
            self, text, pair, edges=edges, how=how, target=target, generate=generate, position=position, token=token,
            controls=controls, top=top, truncate=truncate,
        )  # fmt: skip

    def evidence(
        self,
        prompt: str,
        answer: str | None = None,
        *,
        question: str | None = None,
        chat: bool = False,
        heads: Heads | None = None,
        generate: int = 32,
        check: bool = True,
    ) -> Evidence:
        """The sentences of a prompt that an answer came from; see `regard.ablation.evidence.evidence`.

        Examples
        --------
        >>> model.evidence("The code is 7431. It rained.", "7431").ranked()[0].text  # doctest: +SKIP
        'The code is 7431.'
        """
        from regard.ablation.evidence import evidence

        return evidence(self, prompt, answer, question=question, chat=chat, heads=heads, generate=generate, check=check)

    def writes(
        self,
        text: str,
        head: Heads,
        position: int | str = -1,
        *,
        target: str | None = None,
        top: int = 10,
        truncate: bool = False,
    ) -> Writes:
        """The words that a decoder's head promotes and demotes at a position; see `regard.models.writes.writes`."""
        from regard.models.writes import writes

        return writes(self, text, head, position, target=target, top=top, truncate=truncate)

    def lens(
        self,
        text: Text,
        position: int | str | None = None,
        *,
        target: Target = None,
        generate: int | None = None,
        top: int = 5,
        parts: bool = False,
        truncate: bool = False,
    ) -> Lens:
        """What a decoder would say next after each of its layers (a logit lens); see `regard.models.lens.lens`."""
        from regard.models.lens import lens

        return lens(self, text, position, target=target, generate=generate, top=top, parts=parts, truncate=truncate)

    def prune(self, heads: Heads) -> Model:
        """A copy without some heads and with smaller weights; see `regard.ablation.pruning.prune`."""
        from regard.ablation.pruning import prune

        return prune(self, heads)

    def walk(
        self,
        text: str,
        *,
        target: str | None = None,
        generate: int | None = None,
        layer: int = 0,
        truncate: bool = False,
    ) -> Walked:
        """Open one layer on a text; `.save("page.html")` writes the page. See `regard.views.walk.walk`."""
        from regard.views.walk import walk

        return walk(text, self, target=target, generate=generate, layer=layer, truncate=truncate)

    # -- other inputs --------------------------------------------------------------------------------------

    def trace_inputs(self, inputs: Mapping[str, Any], *, tokens: Sequence[str] | None = None) -> list[Trace]:
        """Trace any inputs that the model's forward takes (ids, features, pixels); one trace per example of the batch.

        A vision model that packs its images into one sequence gives one trace of that sequence.
        """
        book = given_book(inputs, tokens, self.tokenizer, self.is_encoder_decoder)
        return self._engine.record(inputs, book, [{} for _ in book.sides])


def _findings(trace: Callable[[], Any], heads: Heads) -> list[Shows] | None:
    """What the heads do in a plain trace, if some heads are named by a pattern."""
    if not names_patterns(heads):
        return None
    traces = trace()
    return [one for single in ([traces] if isinstance(traces, Trace) else traces) for one in single.patterns()]


def _beside(text: Any) -> str | None:
    """The text beside a picture, if there is one."""
    if text is not None and not isinstance(text, str):
        raise UserError("a picture goes with one text; pass a string")
    return text


def _to_trace(text: Text | list[str] | None, pair: Any, messages: Any) -> Text | list[str]:
    """The text or texts, or the messages in their place."""
    if messages is not None and (text is not None or pair is not None):
        raise UserError("pass either a text or messages, not both")
    given = text if messages is None else conversation_of(messages)
    if given is None:
        raise UserError(
            "there is nothing to trace; pass a text, messages, image=... for a vision model or audio=... for speech"
        )
    return given
