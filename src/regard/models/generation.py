"""What a model generates, and inputs that did not come from a text: ids back to tokens.

Enters: token ids, from generation or from the caller. Leaves: sides and a `Book`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from transformers import (
    DynamicCache,
    EncoderDecoderCache,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from regard.base.errors import UserError
from regard.capture.finite import require_finite_output
from regard.capture.offloaded import device_of
from regard.capture.record import Book
from regard.capture.tiers import undisturbed
from regard.models.sampling import GREEDY, Sampling
from regard.trace.site import Array
from regard.trace.tokens import Segment, Side, Token

# Names of ids, mask and side, for models with one token list and with two.
_GIVEN = (("input_ids", "attention_mask"), ("decoder_input_ids", "decoder_attention_mask"))


def generate(
    module: Any,
    ids: list[int],
    count: int,
    pad_id: int,
    sampling: Sampling = GREEDY,
    hear: Callable[[int], bool] | None = None,
    closing: int | None = None,
) -> list[int]:
    """What a model generates, including the prompt of a causal model.

    `hear` is given every new token and says whether to stop; `closing` ends an answer beside the model's own tokens.
    """
    given = torch.tensor([ids])
    more: dict[str, Any] = {}
    if hear is not None:
        more["stopping_criteria"] = StoppingCriteriaList([_Heard(hear)])
    if closing is not None:
        own = getattr(getattr(module, "generation_config", None), "eos_token_id", None)
        more["eos_token_id"] = sorted({closing, *(own if isinstance(own, list) else [] if own is None else [own])})
    return generate_all(module, given, torch.ones_like(given), count, pad_id, sampling, **more)[0]


def generate_all(
    module: Any,
    ids: torch.Tensor,
    mask: torch.Tensor,
    count: int,
    pad_id: int,
    sampling: Sampling = GREEDY,
    **more: Any,
) -> list[list[int]]:
    """The same for the rows of a padded batch, (B, T) ids and mask; rows that end early are padded."""
    device = device_of(module, next(module.parameters()))
    given = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    return generated(module, given, count, pad_id, sampling, **more)


def generated(
    module: Any, inputs: Mapping[str, Any], count: int, pad_id: int, sampling: Sampling = GREEDY, **more: Any
) -> list[list[int]]:
    """What a model generates from any inputs, which are on its device."""
    device = device_of(module, next(module.parameters()))
    choosing = [_Finite()] if sampling.temperature == 0 else [_Finite(), *_warpers(sampling), _Drawn(sampling, device)]
    with undisturbed(module):
        output = module.generate(
            **inputs,
            max_new_tokens=count,
            do_sample=False,
            num_beams=1,
            pad_token_id=pad_id,
            logits_processor=LogitsProcessorList(choosing),
            **_room(getattr(module, "config", None)),
            **more,
        )
    return [[int(token) for token in row] for row in output]


class _Finite(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Stops a model whose predictions are not finite; it would repeat one token forever."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        require_finite_output(scores)
        return scores


def _warpers(sampling: Sampling) -> list[LogitsProcessor]:
    """Temperature, and the likeliest tokens that make up `top_p`."""
    found: list[LogitsProcessor] = [TemperatureLogitsWarper(float(sampling.temperature))]
    return found if sampling.top_p == 1 else [*found, TopPLogitsWarper(float(sampling.top_p))]


class _Drawn(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Draws a token: with E exponential, argmax(log p - log E) has the probabilities p.

    The numbers come from a generator of its own, so that other threads neither change them nor are changed.
    """

    def __init__(self, sampling: Sampling, device: torch.device) -> None:
        self._generator = torch.Generator(device)
        if sampling.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(sampling.seed)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        waits = torch.empty_like(scores, dtype=torch.float32).exponential_(generator=self._generator)
        return scores.float() - waits.log()


class _Heard(StoppingCriteria):  # type: ignore[misc,unused-ignore]
    """Tells each new token of one text, and stops where that is asked for."""

    def __init__(self, hear: Callable[[int], bool]) -> None:
        self._hear = hear

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **more: Any) -> torch.Tensor:
        stop = self._hear(int(input_ids[0, -1]))
        return torch.full((input_ids.shape[0],), stop, dtype=torch.bool, device=input_ids.device)


def _room(config: Any) -> dict[str, Any]:
    """A cache that grows as needed, where the one that transformers would make is too small.

    `generate` makes room for `num_hidden_layers`, which in T5 and its kin is the number of encoder layers
    (`get_text_config(decoder=True)` knows decoder_layers, not num_decoder_layers): a deeper decoder has too little.
    """
    if (getattr(config, "num_decoder_layers", None) or 0) <= (getattr(config, "num_hidden_layers", None) or 0):
        return {}
    return {"past_key_values": EncoderDecoderCache(DynamicCache(), DynamicCache())}


def given_book(inputs: Mapping[str, Any], texts: Sequence[str] | None, tokenizer: Any, two_sides: bool) -> Book:
    """Tokens for given inputs: ids as the tokenizer names them, or as numbers."""
    ordered = [inputs.get("input_ids"), inputs.get("decoder_input_ids"), *inputs.values()]
    first = next(value for value in ordered if isinstance(value, torch.Tensor))
    sides: list[dict[str, Side]] = [{} for _ in range(first.shape[0])]
    keep: dict[str, Array] = {}
    names = ("encoder" if two_sides else "text", "decoder")
    for (key, mask_key), name in zip(_GIVEN, names, strict=True):
        ids = inputs.get(key)
        if ids is None or ids.ndim != 2:
            continue
        mask = inputs.get(mask_key)
        if mask is None or mask.ndim != 2:  # or a mask with a row per query, which hides no position as such
            mask = torch.ones_like(ids)
        keep[name] = mask.cpu().numpy().astype(bool)
        for example, (row, present) in enumerate(zip(ids.tolist(), keep[name], strict=True)):
            real = [token for token, here in zip(row, present, strict=True) if here]
            shown = texts if texts is not None and key == "input_ids" else _names(tokenizer, real)
            sides[example][name] = _given_side(name, real, shown)
    return Book(sides, keep)


def _given_side(name: str, ids: list[int], texts: Sequence[str]) -> Side:
    if len(texts) != len(ids):
        raise UserError(f"there are {len(texts)} tokens but {len(ids)} input ids; pass one token text per position")
    tokens = tuple(Token(text, token, word=n) for n, (text, token) in enumerate(zip(texts, ids, strict=True)))
    return Side(name, tokens, (Segment("A", 0, len(tokens)),))


def _names(tokenizer: Any, ids: list[int]) -> list[str]:
    if tokenizer is None:
        return [str(token) for token in ids]
    return [str(piece) for piece in tokenizer.convert_ids_to_tokens(ids)]
