"""Planted traces: three words, each listened for at its moment; a picture with a patch that is looked at."""

from __future__ import annotations

import io
import wave

import numpy as np

from regard.models.images import medium_of, read_picture
from regard.trace.mask import Mask
from regard.trace.medium import Medium
from regard.trace.site import Site
from regard.trace.tiles import Tile, picture_side
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace

SIZE, PLACED = 6, (1, 4)  # patches each way, and the one that is looked at
FRAMES, HEARD, STEP = 60, 50, 0.02
PLANTED = {" ever": 5, " tried": 22, ".": 40}  # the frame that each word is listened for at


def silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(bytes(2 * 16_000))
    return file.getvalue()


def spoken() -> Trace:
    """Three words, heard by head 0 in the row before them, each at a frame of its own; head 1 looks at the padding.

    In layer 1 the heads are swapped.
    """
    times = np.arange(FRAMES, dtype=np.float32) * STEP
    frames = tuple(Token(f"{time:.2f} s", segment=int(i >= HEARD)) for i, time in enumerate(times))
    segments = (Segment("sound", 0, HEARD), Segment("padding", HEARD, FRAMES))
    loud = np.tile(np.arange(100, dtype=np.uint8), (8, 1))
    medium = Medium("sound", "audio/wav", silence(), (HEARD * STEP,), loud)
    sound = Side("sound", frames, segments, medium=medium, spans=np.stack([times, times + STEP], axis=1))
    texts = ["<|start|>", "<|quiet|>", *PLANTED]
    text = Side("decoder", tuple(Token(t, i, word=i, special=i < 2) for i, t in enumerate(texts)))
    cross = np.zeros((2, len(texts), FRAMES), np.float32)
    for row, frame in enumerate(PLANTED.values()):
        cross[0, row + 1, frame - 1 : frame + 2] = 0.25, 0.5, 0.25
    cross[0, [0, -1], 0] = 1
    cross[1, :, HEARD + 3] = 1
    own = np.tril(np.ones((2, len(texts), len(texts)), np.float32))
    own /= own.sum(axis=-1, keepdims=True)
    moments = np.roll(np.eye(FRAMES, dtype=np.float32), 7, axis=1)[None].repeat(2, axis=0)
    sites = (
        Site("encoder", 0, "sound", "sound", (0, 1), maps=moments),
        Site("decoder", 0, "decoder", "decoder", (0, 1), maps=own, mask=Mask(right=0)),
        Site("cross", 0, "decoder", "sound", (0, 1), maps=cross),
        Site("cross", 1, "decoder", "sound", (0, 1), maps=cross[::-1]),
    )
    return Trace({"sound": sound, "decoder": text}, sites, {"model": "planted"})


def pictured() -> Trace:
    """Six by six patches and [CLS]; of three heads, 1 looks at one patch."""
    pixels = np.random.default_rng(0).integers(60, 200, (SIZE * 8, SIZE * 8, 3), dtype=np.uint8)
    place = np.array([[1 / pixels.shape[1], 0, 0], [0, 1 / pixels.shape[0], 0]])
    tile = Tile(place, np.ones(pixels.shape[:2], bool), (8, 8))
    side = picture_side([tile], medium_of(read_picture(pixels)), 1 + SIZE * SIZE, 0)
    maps = np.full((3, len(side), len(side)), 1 / len(side), np.float32)
    maps[1] = 0.2 / (len(side) - 1)
    maps[1, :, 1 + SIZE * PLACED[0] + PLACED[1]] = 0.8
    return Trace({"image": side}, (Site("encoder", 0, "image", "image", (0, 1, 2), maps=maps),), {"model": "m"})
