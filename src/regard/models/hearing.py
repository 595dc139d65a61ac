"""What a speech model hears and writes: a sound, and the transcript beside it.

Enters: a reader, a sound, perhaps a transcript. Leaves: inputs, the `Book` of their positions, and facts of the sound.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers.utils import logging

from regard.base.errors import UserError
from regard.capture import Book
from regard.capture.tiers import undisturbed
from regard.models.audio import Seconds, features_of, rate_of, read_sound, sound_side, step_of
from regard.models.prepare import Encoded, encode, shift_right
from regard.trace.pieces import answer_side

if TYPE_CHECKING:
    from regard.models.base import Reader, Target
    from regard.trace.tokens import Side

_INPUTS = ("input_features", "input_values")


def heard_input(module: torch.nn.Module) -> str | None:
    """What the forward of a speech model calls its sound; None if it reads something else."""
    name = getattr(module, "main_input_name", None)
    return name if name in _INPUTS and name in inspect.signature(module.forward).parameters else None


def sound_inputs(
    reader: Reader, audio: Any, target: Target = None, seconds: Seconds | None = None
) -> tuple[dict[str, Any], Book, dict[str, Any]]:
    """Inputs for a sound, with the transcript that the decoder reads; the `Book` of them, and the sound's facts."""
    name = heard_input(reader.module)
    if name is None:
        raise UserError(f"{reader.name} does not hear; pass it a text, or name a speech model such as whisper-tiny.en")
    sound = read_sound(audio, seconds).at(rate_of(reader.extractor))
    inputs: dict[str, Any] = {name: features_of(reader.extractor, sound, name)}
    facts = {"sound": {"file": sound.name, "seconds": round(sound.seconds, 3), "rate": sound.rate}}

    def frames(count: int) -> Side:
        return sound_side(sound, count, step_of(reader.extractor, reader.config, count))

    if not reader.is_encoder_decoder:
        if target is not None:
            raise UserError(f"{reader.name} has no decoder for a transcript; pass the sound alone")
        return inputs, Book([{}], {}, sound=frames), facts
    written = _transcript(reader, inputs, target)
    inputs["decoder_input_ids"] = torch.tensor([written.ids])
    keep = {"decoder": np.ones((1, len(written.ids)), bool)}
    return inputs, Book([{"decoder": written.side}], keep, sound=frames), facts


def _transcript(reader: Reader, inputs: dict[str, Any], target: Target) -> Encoded:
    """What the decoder reads: a given transcript, or the model's own."""
    tokenizer, config = reader.tokenizer, reader.config
    if tokenizer is None:
        raise UserError(f"{reader.name} has no tokenizer{reader.missing.aside}; load it as (model, processor)")
    start = int(config.decoder_start_token_id)
    name, end = str(tokenizer.convert_ids_to_tokens(start)), tokenizer.eos_token_id
    if isinstance(target, str):
        return shift_right(encode_transcript(reader, target), start, name, end)
    ids = transcribe(reader, inputs) if target is None else [int(token) for token in target]
    ids = ids[1:] if ids[:1] == [start] else ids
    return shift_right(Encoded(ids, None, answer_side(tokenizer, ids, "decoder")), start, name, end)


def encode_transcript(reader: Reader, text: str) -> Encoded:
    """What is said, as the decoder of a speech model writes it."""
    limit = getattr(reader.config, "max_target_positions", None) or reader.limit
    whisper = hasattr(reader.tokenizer, "set_prefix_tokens")  # it writes a space before its first word
    spaced = f" {text}" if whisper and text.strip() and not text[0].isspace() else text
    return encode(reader.tokenizer, spaced, side="decoder", target=True, limit=limit)


def transcribe(reader: Reader, inputs: dict[str, Any]) -> list[int]:
    """The ids that a speech model writes for a sound, greedily, with those that it begins with."""
    module: Any = reader.module
    if not reader.can_generate:
        raise UserError(f"{type(module).__name__} cannot write a transcript itself; pass target='...' for its decoder")
    whole = "force_unique_generate_call"  # Whisper leaves out how it began unless it runs once
    options = {whole: True} if whole in inspect.signature(module.generate).parameters else {}
    given = {name: value for name, value in reader.ready(inputs).items() if name != "use_cache"}
    level = logging.get_verbosity()
    logging.set_verbosity_error()  # Whisper warns of options that it sets itself
    try:
        with undisturbed(module):
            output = module.generate(**given, do_sample=False, num_beams=1, **options)
    finally:
        logging.set_verbosity(level)
    ids: list[int] = [int(token) for token in getattr(output, "sequences", output)[0]]
    end = reader.tokenizer.eos_token_id
    return ids[: ids.index(end, 1) + 1] if end in ids[1:] else ids
