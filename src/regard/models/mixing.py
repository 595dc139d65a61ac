"""A text with a picture in it as tokens: which of them are pieces of the picture, and where these lie in it.

Enters: ids that a processor laid out, and the picture as the model sees it. Leaves: a side with segments and spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.models.eyes import Sight
from regard.trace.pieces import answer_side
from regard.trace.tiles import Grid, Patches, Tile, patch_tokens
from regard.trace.tokens import Segment, Side, Token

if TYPE_CHECKING:
    from regard.models.base import Reader

# Model types whose image tokens stand for equal cells of each tile, row by row, in the order of the tiles.
IN_ROWS = frozenset(
    "llava vipllava paligemma gemma3 idefics3 smolvlm internvl got_ocr2 aya_vision mistral3 florence2".split()
)


def image_id(reader: Reader) -> int | None:
    """The id of the tokens that stand for pieces of a picture in a text; None where pictures are no part of it."""
    if not callable(getattr(reader.eyes.processor, "replace_image_token", None)):
        return None
    names = (reader.config, "image_token_id"), (reader.eyes.processor, "image_token_id")
    found = next((getattr(owner, name, None) for owner, name in names if getattr(owner, name, None) is not None), None)
    return None if found is None else int(found)


def mixed_side(reader: Reader, sight: Sight, ids: Sequence[int], name: str) -> Side:
    """Tokens of a text with a picture in it: those of the picture know their place in it."""
    image = image_id(reader)
    here = np.array([token == image for token in ids])
    grid = _in_words(reader, sight, int(here.sum()))
    tokens: list[Token] = []
    bounds = np.flatnonzero(np.diff(np.r_[-1, here, -1])).tolist()
    done = 0
    pieces = (
        [Token(f"image {n}", image, special=False) for n in range(int(here.sum()))]
        if grid is None
        else (patch_tokens(grid, image))
    )
    for start, end in pairwise(bounds):
        if here[start]:
            tokens += pieces[done : done + end - start]
            done += end - start
        else:
            tokens += answer_side(reader.tokenizer, list(ids[start:end]), name).tokens
    spans = np.full((len(ids), 4), np.nan, np.float32)
    if grid is not None:
        spans[here] = grid.spans
    ends = {getattr(reader.tokenizer, name, None) for name in ("bos_token_id", "eos_token_id")}
    segments = _segments(here, [token.special and token.id not in ends for token in tokens])
    return Side(name, _numbered(tokens, segments), segments, medium=sight.medium, spans=spans)


def _segments(here: np.ndarray, marks: Sequence[bool]) -> tuple[Segment, ...]:
    """The picture with what marks its tiles, rows and ends, and the text before and after it."""
    places = np.flatnonzero(here)
    if not places.size:
        return (Segment("prompt", 0, len(here)),)
    first, last = int(places[0]), int(places[-1]) + 1
    while first and marks[first - 1]:
        first -= 1
    while last < len(here) and marks[last]:
        last += 1
    parts = [("before", 0, first), ("image", first, last), ("question", last, len(here))]
    return tuple(Segment(*part) for part in parts if part[2] > part[1])


def _numbered(tokens: Sequence[Token], segments: Sequence[Segment]) -> tuple[Token, ...]:
    """The tokens with the number of their segment, and words counted along all of them."""
    found: list[Token] = []
    words: dict[tuple[int, int], int] = {}
    run = 0
    for place, token in enumerate(tokens):
        number = next(n for n, segment in enumerate(segments) if place < segment.end)
        before = tokens[place - 1].word if place else None
        run += token.word is not None and before is not None and token.word < before  # words begin at 0 again
        word = None if token.word is None else words.setdefault((run, token.word), len(words))
        found.append(replace(token, segment=number, word=word))
    return tuple(found)


def _in_words(reader: Reader, sight: Sight, count: int) -> Grid | None:
    """Where so many image tokens of a text lie; None if that is not known."""
    if not count or not sight.seen:
        return None
    first = sight.seen[0]
    if isinstance(first, Patches):
        each, left = divmod(len(first.rows), count)
        return None if left else first.merged(each)
    packing = [part for part in reader.module.modules() if hasattr(part, "pack_image_features")]
    if packing:
        return _packed(packing[-1], reader, sight, count)
    if getattr(reader.config, "model_type", "") not in IN_ROWS:
        return None
    each, left = divmod(count, len(sight.seen))
    grids = [tile.evenly(each) for tile in sight.seen if isinstance(tile, Tile)]
    return None if left or None in grids else _chained([grid for grid in grids if grid is not None])


def _chained(grids: Sequence[Grid]) -> Grid:
    """The cells of several tiles, one tile after the other; special positions have no place."""
    none = np.full(1, -1)
    rows = [part for grid in grids for part in (*[none] * grid.special, grid.rows)]
    columns = [part for grid in grids for part in (*[none] * grid.special, grid.columns)]
    lost = np.full((1, 4), np.nan, np.float32)
    spans = [part for grid in grids for part in (*[lost] * grid.special, grid.spans)]
    return Grid(0, np.concatenate(rows), np.concatenate(columns), np.concatenate(spans))


def _packed(module: Any, reader: Reader, sight: Sight, count: int) -> Grid | None:
    """Where tokens lie that the model packs itself: the places of patches go through its own function, as features."""
    tiles = [tile for tile in sight.seen if isinstance(tile, Tile)]
    features = torch.stack([torch.from_numpy(tile.corners()) for tile in tiles])  # (tiles, patches, 4)
    kind = reader.config.vision_feature_select_strategy
    lost = torch.full((4,), torch.nan)
    found, _ = module.pack_image_features(
        [features], sight.inputs["image_sizes"], vision_feature_select_strategy=kind, image_newline=lost
    )
    spans = (found[0] if isinstance(found, (list, tuple)) else found).reshape(-1, 4).numpy()
    if len(spans) != count:
        return None
    high, wide = (np.nanmedian(spans[:, 3] - spans[:, 1]), np.nanmedian(spans[:, 2] - spans[:, 0]))
    known = np.isfinite(spans[:, 0])
    rows = np.where(known, np.floor((spans[:, 1].clip(0) + spans[:, 3].clip(0)) / 2 / high), -1).astype(int)
    columns = np.where(known, np.floor((spans[:, 0].clip(0) + spans[:, 2].clip(0)) / 2 / wide), -1).astype(int)
    return Grid(0, rows, columns, spans.clip(0, 1).astype(np.float32))
