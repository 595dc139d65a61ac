"""What a model reads: from texts, pairs, targets, images and sounds to the inputs of its forward.

Enters: a module, its tokenizer or processor; then texts, an image or a sound. Leaves: tensors, and a `Book` that says
what each position is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from regard.base.errors import TooLongError, UserError
from regard.capture import Book
from regard.capture.offloaded import device_of
from regard.models.conversation import Conversation, lay_out
from regard.models.eyes import Eyes
from regard.models.generation import generate, generate_all
from regard.models.hearing import heard_input
from regard.models.missing import NoTokenizer
from regard.models.prepare import Encoded, as_prompt, encode, encode_turns, pad, shift_right
from regard.models.sampling import GREEDY, Sampling
from regard.models.speech import Speech
from regard.trace.pieces import answer_side
from regard.trace.tokens import Segment, Side

Device = str | torch.device | None
Text = str | Conversation
Target = str | list[int] | None  # what a decoder reads: a text, or generated ids; None: the model's own answer


class Reader:
    """A module and how to feed it: its tokenizer, its image processor, and its limit."""

    def __init__(self, module: torch.nn.Module, tokenizer: Any = None, *, name: str, device: Device = None) -> None:
        self.module = module if device is None else module.to(device)
        self.name = name
        self.missing = tokenizer if isinstance(tokenizer, NoTokenizer) else NoTokenizer()
        tokenizer = None if isinstance(tokenizer, NoTokenizer) else tokenizer
        is_tokenizer = tokenizer is None or hasattr(tokenizer, "convert_ids_to_tokens")
        self.tokenizer: Any = tokenizer if is_tokenizer else getattr(tokenizer, "tokenizer", None)
        self.processor: Any = None if is_tokenizer else tokenizer
        alone = tokenizer if hasattr(tokenizer, "sampling_rate") else None
        self.extractor: Any = getattr(tokenizer, "feature_extractor", alone)  # of a speech model

    @property
    def config(self) -> Any:
        return getattr(self.module, "config", None)

    @property
    def device(self) -> torch.device:
        parameter = next(self.module.parameters(), None)
        return torch.device("cpu") if parameter is None else device_of(self.module, parameter)

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
        found += [getattr(self.tokenizer, "model_max_length", None), self._places_after_padding]
        lengths = [int(n) for n in found if isinstance(n, (int, float)) and 0 < n < 10**7]
        return min(lengths, default=None)

    @cached_property
    def _places_after_padding(self) -> int | None:
        """How many tokens fit where positions begin after the padding id: RoBERTa's 514 rows hold 512."""
        tables = [module for path, module in self.module.named_modules() if path.endswith("position_embeddings")]
        padded = [(table, table.padding_idx) for table in tables if getattr(table, "padding_idx", None) is not None]
        return min((int(table.weight.shape[0]) - int(first) - 1 for table, first in padded), default=None)

    @cached_property
    def eyes(self) -> Eyes:
        """How it is shown pictures."""
        return Eyes(self.processor, self.config)

    def takes(self, name: str) -> bool:
        """Whether the module's forward has an argument of this name."""
        return name in inspect.signature(self.module.forward).parameters

    def need_tokenizer(self) -> None:
        """Raise if there is no tokenizer, or it is for transcripts alone, and say what to do."""
        if heard_input(self.module) is not None:
            raise UserError(f"{self.name} reads no text but hears; pass audio='a.wav' (--audio a.wav)")
        if self.tokenizer is None:
            raise self.missing.error(self.name)

    def encode(
        self, text: Text, pair: str | None = None, *, truncate: bool = False, segment_ids: bool = True
    ) -> Encoded:
        """A text, pair or conversation as the model reads it: ids, and the tokens they stand for."""
        self.need_tokenizer()
        if isinstance(text, Conversation):
            return self._encode_messages(text, self.limit)
        side = "encoder" if self.is_encoder_decoder else "text"
        return encode(
            self.tokenizer, text, pair, side=side, limit=self.limit, truncate=truncate, segment_ids=segment_ids
        )

    def read(
        self,
        text: Text,
        pair: str | None = None,
        target: Target = None,
        *,
        truncate: bool = False,
        segment_ids: bool = True,
    ) -> tuple[Encoded, Target]:
        """What is read, and what the decoder of an encoder-decoder model reads beside it.

        A causal model reads a target as the answer to the text, after it.
        """
        row = self.encode(text, pair, truncate=truncate, segment_ids=segment_ids)
        if target is None or not self.is_causal:
            return row, target
        if isinstance(text, Conversation) and text.is_answered:
            raise UserError("the conversation ends with an answer; pass no target beside it")
        return self.answered(row, target), None

    @property
    def is_causal(self) -> bool:
        """Whether it continues a text."""
        return self.can_generate and not self.is_encoder_decoder

    def continue_text(
        self, text: Text, count: int, *, truncate: bool = False, sampling: Sampling = GREEDY, stop: Sequence[str] = ()
    ) -> Encoded:
        """A prompt and a causal model's continuation, at most `count` tokens, as one text with an answer at its end."""
        prompt = self.prompt(text, count, truncate=truncate)
        return self.answered(prompt, self.speak(prompt, count, sampling, stop).ids)

    def prompt(self, text: Text, count: int, *, truncate: bool = False) -> Encoded:
        """A text or conversation that a causal model is to continue by `count` tokens, for which there is room."""
        self.need_tokenizer()
        if not self.is_causal:
            raise UserError(f"{self.name} does not continue a text; generate= needs a causal language model")
        if count < 1:
            raise UserError(f"generate must be at least 1 token, not {count}")
        room = None if self.limit is None else self.limit - count
        if not isinstance(text, Conversation):
            return encode(self.tokenizer, text, limit=room, truncate=truncate)
        if text.is_answered:
            raise UserError(
                "the conversation ends with an answer; leave generate out to trace it, or the answer to get another"
            )
        return self._encode_messages(text, room)

    def speak(
        self,
        prompt: Encoded,
        count: int,
        sampling: Sampling = GREEDY,
        stop: Sequence[str] = (),
        each: Callable[[int, str], object] | None = None,
        *,
        interruptible: bool = False,
    ) -> Speech:
        """What a causal model says after a prompt; `each` hears every token, with the text that it completes.

        An `interruptible` answer that Ctrl-C stops is kept as far as it came.
        """
        speech = Speech(self.tokenizer, stop)

        def hear(token: int) -> bool:
            text = speech.hear(token)
            if each is not None:
                each(token, text)
            return speech.stopped

        closing = self.tokenizer.eos_token_id if prompt.chat == "template" else None
        try:
            generate(self.module, prompt.ids, count, self.pad_id, sampling, hear, closing)
        except KeyboardInterrupt:
            if not interruptible:
                raise
            speech.interrupted = True
        return speech

    def answered(self, prompt: Encoded, answer: str | Sequence[int]) -> Encoded:
        """A prompt and an answer to it, from anywhere, as one text; a prompt without turns is one segment."""
        ids = self.answer_ids(answer)
        length = len(prompt.ids) + len(ids)
        if self.limit is not None and length > self.limit:
            raise TooLongError(
                f"text and answer have {length} tokens but the model takes at most {self.limit}; shorten them",
                length,
                self.limit,
            )
        given = prompt.side if prompt.chat is not None else as_prompt(prompt.side)
        tokens = answer_side(self.tokenizer, ids, "text", given).tokens
        segments = (*given.segments, Segment("answer", len(prompt.ids), length))
        return Encoded(prompt.ids + ids, None, Side("text", tokens, segments), None, prompt.cut, prompt.chat)

    def answer_ids(self, answer: str | Sequence[int]) -> list[int]:
        """The ids of an answer from anywhere."""
        if isinstance(answer, str):
            return list(self.tokenizer(answer, add_special_tokens=False, verbose=False)["input_ids"])
        ids = [int(token) for token in answer]
        known = max(len(self.tokenizer), int(getattr(self.config, "vocab_size", None) or 0))
        if not all(0 <= token < known for token in ids):
            raise UserError(f"the answer has ids that {self.name} does not know; they count from 0 to {known - 1}")
        return ids

    def _encode_messages(self, conversation: Conversation, limit: int | None) -> Encoded:
        """A conversation as the model's template lays it out, with its answer if it has one."""
        if not self.is_causal:
            raise UserError(f"{self.name} does not answer messages; a conversation needs a causal language model")
        laid = lay_out(self.tokenizer, conversation)
        row = encode_turns(self.tokenizer, laid.prompt, laid.turns, limit=limit, plain=laid.plain)
        return row if laid.answer is None else self.answered(row, laid.answer)

    def answers(self, rows: Sequence[Encoded], count: int) -> list[list[int]]:
        """Ids of an encoder-decoder model's greedy answers, at most `count` tokens each: targets for `collate`."""
        ids, real = pad([row.ids for row in rows], self.pad_id)
        answers = generate_all(self.module, ids, torch.from_numpy(real).long(), count, self.pad_id)
        end = getattr(self.tokenizer, "eos_token_id", None)
        return [one[: one.index(end, 1) + 1] if end in one[1:] else one for one in answers]  # what follows is padding

    def _target(self, row: Encoded, target: Target) -> Encoded:
        """What the decoder reads: the given target, or what the model generates greedily."""
        if target is None and not self.can_generate:
            raise UserError(
                f"{type(self.module).__name__} cannot generate a target itself; pass target='...' for its decoder"
            )
        output = generate(self.module, row.ids, self.limit or 128, self.pad_id) if target is None else target
        return self.target_row(output)

    def target_row(self, target: str | list[int]) -> Encoded:
        """What the decoder reads of a target: a text, or generated ids."""
        start = getattr(self.config, "decoder_start_token_id", None)
        if start is None:
            start = getattr(self.config, "bos_token_id", None) or self.pad_id
        name = str(self.tokenizer.convert_ids_to_tokens(start))
        end = getattr(self.tokenizer, "eos_token_id", None)
        if isinstance(target, str):
            encoded = encode(self.tokenizer, target, side="decoder", target=True, limit=self.limit)
            return shift_right(encoded, start, name, end)
        ids = target[1:] if target and target[0] == start else target
        return shift_right(Encoded(ids, None, answer_side(self.tokenizer, ids, "decoder")), start, name, end)

    def collate(self, rows: Sequence[Encoded], targets: Sequence[Target] | None = None) -> tuple[dict[str, Any], Book]:
        """Padded inputs of some encoded texts, and the tokens behind them."""
        targets = [None] * len(rows) if targets is None else targets
        ids, real = pad([row.ids for row in rows], self.pad_id)
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.from_numpy(real).long()}
        types = [row.types for row in rows]
        if all(t is not None for t in types) and self.takes("token_type_ids"):
            inputs["token_type_ids"] = pad([t for t in types if t is not None], 0)[0]
        sides = [{row.side.name: row.side} for row in rows]
        keep = {rows[0].side.name: real}
        if self.is_encoder_decoder:
            answers = [self._target(row, target) for row, target in zip(rows, targets, strict=True)]
            decoder_ids, decoder_real = pad([answer.ids for answer in answers], self.pad_id)
            inputs["decoder_input_ids"] = decoder_ids
            if self.takes("decoder_attention_mask"):
                inputs["decoder_attention_mask"] = torch.from_numpy(decoder_real).long()
            for side, answer in zip(sides, answers, strict=True):
                side["decoder"] = answer.side
            keep["decoder"] = decoder_real
        elif any(target is not None for target in targets):
            raise UserError(f"{self.name} has no decoder for a target; pass the text alone, or as a pair")
        return inputs, Book(sides, keep)

    def ready(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs on the model's device, in its precision, with caches off."""
        dtype = next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)
        device = self.device

        def move(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return value.to(device, dtype if value.is_floating_point() else None)

        ready = {name: move(value) for name, value in inputs.items()}
        if self.takes("use_cache"):
            ready.setdefault("use_cache", False)
        return ready

    @property
    def pad_id(self) -> int:
        """The id that fills rows of a batch."""
        for owner in (self.tokenizer, self.config):
            found = getattr(owner, "pad_token_id", None)
            if found is not None:
                return int(found)
        return 0
