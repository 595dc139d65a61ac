"""Pictures for a model, alone or with a text: its inputs, and which position is which piece of the picture.

Enters: a reader (a module with its tokenizer and processor), a picture, a text, an answer. Leaves: inputs and a `Book`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import TooLongError, UserError
from regard.capture.record import Book
from regard.models.eyes import Sight
from regard.models.generation import generated
from regard.models.images import read_picture
from regard.models.lines import LineProcessor, read_line
from regard.models.mixing import image_id, mixed_side
from regard.models.outcome import Answering
from regard.models.prepare import encode
from regard.trace.pieces import answer_side
from regard.trace.tiles import Sighting
from regard.trace.tokens import Segment, Side

if TYPE_CHECKING:
    from regard.models.base import Reader

_BESIDE = ("attention_mask", "token_type_ids", "mm_token_type_ids")  # inputs with a number per token of the text


# -- a picture alone, or beside a text ---------------------------------------------------------------------


def picture_inputs(
    reader: Reader, image: Any, text: str | None = None, target: Any = None, answer: Answering | None = None
) -> tuple[dict[str, Any], Book, dict[str, Any]]:
    """Inputs for a picture, with a text if the model reads both; the `Book` of them, and the text's facts."""
    if not (reader.takes("pixel_values") or reader.takes("flattened_patches")):
        raise UserError(f"{reader.name} does not read images; pass a text instead")
    answer, eyes = answer or Answering(), reader.eyes
    if text is not None or reader.is_encoder_decoder:
        reader.need_tokenizer()
    if text is not None and image_id(reader) is not None:
        return _in_text(reader, eyes.look(image), read_picture(image), text, target, answer)
    sight = eyes.look(image)
    book = Book([{}], {}, _tower(reader, sight), [sight.medium])
    inputs = {name: value for name, value in sight.inputs.items() if reader.takes(name)}
    if reader.is_encoder_decoder:
        return _decoded(reader, inputs, book, target, answer)
    if target is not None or answer.count is not None:
        raise UserError(f"{reader.name} answers nothing to a picture alone; pass a text too, and its processor")
    if text is None:
        return read_line(reader, inputs, book) if isinstance(reader.processor, LineProcessor) else (inputs, book, {})
    row = encode(reader.tokenizer, text, limit=reader.limit)
    inputs |= {"input_ids": torch.tensor([row.ids]), "attention_mask": torch.ones(1, len(row.ids)).long()}
    return inputs, replace(book, sides=[{"text": row.side}], keep=_all_of(row.side)), row.facts


def needs_picture(reader: Reader) -> bool:
    """Whether it never runs without a picture: as a vision model, a pair of towers, or one that writes about it."""
    sees = reader.takes("pixel_values") or reader.takes("flattened_patches")
    return sees and image_id(reader) is None


def _tower(reader: Reader, sight: Sight) -> list[list[Sighting]]:
    """What the vision tower sees of one picture; nothing where it sorts patches into windows, as Qwen2.5-VL does.

    Its positions are then not in the order of the picture, and no place is better than a wrong one.
    """
    vision = getattr(reader.config, "vision_config", reader.config)
    return [] if getattr(vision, "fullatt_block_indexes", None) is not None else [sight.seen]


def _all_of(*sides: Side) -> dict[str, Any]:
    return {side.name: np.ones((1, len(side)), bool) for side in sides}


def _decoded(
    reader: Reader, inputs: dict[str, Any], book: Book, target: Any, answer: Answering
) -> tuple[dict[str, Any], Book, dict[str, Any]]:
    """Inputs with what a decoder says of them: the target, or what the model generates."""
    given: Any = target
    if target is None:
        given = _generated(reader, inputs, answer.count or 32, answer)
    row = reader.target_row(given)
    inputs = {**inputs, "decoder_input_ids": torch.tensor([row.ids])}
    sides = {**book.sides[0], row.side.name: row.side}
    return inputs, replace(book, sides=[sides], keep={**book.keep, **_all_of(row.side)}), row.facts


# -- a picture in a text -----------------------------------------------------------------------------------


def _in_text(
    reader: Reader, sight: Sight, picture: Any, text: str, target: Any, answer: Answering
) -> tuple[dict[str, Any], Book, dict[str, Any]]:
    """A text with a picture in it, as the model's own processor lays it out, and the answer to it."""
    inputs = _laid_out(reader, picture, text)
    ids = inputs["input_ids"][0].tolist()
    name = "encoder" if reader.is_encoder_decoder else "text"
    side = mixed_side(reader, sight, ids, name)
    if reader.limit is not None and len(ids) > reader.limit:
        raise TooLongError(
            f"text and picture have {len(ids)} tokens but the model takes at most {reader.limit}; shorten the text, or "
            "pass a smaller picture",
            len(ids),
            reader.limit,
        )
    book = Book([{name: side}], _all_of(side), _tower(reader, sight), [sight.medium])
    if reader.is_encoder_decoder:
        return _decoded(reader, inputs, book, target, answer)
    if target is not None or answer.count is not None:
        inputs, side = _answered(reader, inputs, side, target, answer)
        book = replace(book, sides=[{name: side}], keep=_all_of(side))
    return inputs, book, {}


def _laid_out(reader: Reader, picture: Any, text: str) -> dict[str, Any]:
    """The text with the picture in it, as the processor lays it out."""
    processor = reader.eyes.processor
    token = str(getattr(processor, "image_token", "<image>"))
    if token in text:
        prompts = [text]
    elif getattr(processor, "chat_template", None):
        content = [{"type": "image"}, {"type": "text", "text": text}]
        prompts = [processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)]
    else:
        prompts = [text, f"{token}{text}"]  # some processors put the picture there themselves
    for prompt in prompts:
        last = prompt == prompts[-1]
        try:
            found = _processed(reader, picture, prompt)
        except Exception as error:  # third-party code, which may raise anything
            if last:
                raise UserError(
                    f"the model's processor failed on this text and image: {type(error).__name__}: {error}"
                ) from error
            continue
        if last or image_id(reader) in found["input_ids"][0].tolist():
            break
    return {name: value for name, value in found.items() if reader.takes(name)}


def _processed(reader: Reader, picture: Any, prompt: str) -> Any:
    begun = getattr(reader.tokenizer, "bos_token", None)
    more = {"add_special_tokens": False} if begun and prompt.startswith(begun) else {}
    return reader.eyes.processor(images=[picture], text=[prompt], return_tensors="pt", **more)


# -- answers -----------------------------------------------------------------------------------------------


def _answered(
    reader: Reader, inputs: dict[str, Any], side: Side, target: Any, answer: Answering
) -> tuple[dict[str, Any], Side]:
    """Inputs and side with an answer at their end: the target, or what the model generates."""
    if target is None:
        new = _generated(reader, inputs, answer.count or 1, answer)[len(side) :]
    else:
        new = reader.answer_ids(target)
    after = answer_side(reader.tokenizer, new, side.name, side).tokens
    segments = (*side.segments, Segment("answer", len(side), len(after)))
    spans = np.concatenate([side.spans, np.full((len(new), 4), np.nan, np.float32)])
    return lengthened(inputs, new), replace(side, tokens=after, segments=segments, spans=spans)


def _generated(reader: Reader, inputs: Mapping[str, Any], count: int, answer: Answering) -> list[int]:
    ready = {name: value for name, value in reader.ready(inputs).items() if name != "use_cache"}
    return generated(reader.module, ready, count, reader.pad_id, answer.sampling)[0]


def lengthened(inputs: Mapping[str, Any], new: Sequence[int]) -> dict[str, Any]:
    """Inputs with more ids at the end of their text."""
    more = torch.tensor([list(new)])
    found = {**inputs, "input_ids": torch.cat([inputs["input_ids"], more], dim=1)}
    for name in (name for name in _BESIDE if name in inputs):
        fill = torch.ones_like(more) if name == "attention_mask" else torch.zeros_like(more)
        found[name] = torch.cat([inputs[name], fill.to(inputs[name].dtype)], dim=1)
    if "cross_attention_mask" in inputs:  # (1, tokens, images, tiles): later tokens see what the last one sees
        mask = inputs["cross_attention_mask"]
        found["cross_attention_mask"] = torch.cat([mask, mask[:, -1:].expand(-1, len(new), -1, -1)], dim=1)
    return found
