"""Files that are no picture or sound that a model takes: what is wrong with each, and what is said of it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import soundfile
from PIL import Image

RATE = 16_000
PEAK = "next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM'))"  # kB, of this process


def png(width: int = 60, height: int = 40) -> bytes:
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return _stored(Image.fromarray(pixels))


def wav(samples: Any, subtype: str = "PCM_16", kind: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, subtype=subtype, format=kind)
    return file.getvalue()


def _stored(picture: Image.Image, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    picture.save(file, kind)
    return file.getvalue()


_TONE = (0.3 * np.sin(np.arange(RATE) / 10)).astype(np.float32)
_NOT_FINITE = np.where(np.arange(RATE) == 100, np.nan, _TONE)

# Name: what is in the file, and words of the one sentence about it, which end with the way out.
BAD_PICTURES: dict[str, tuple[bytes, str]] = {
    "truncated.png": (png()[:3000], "is damaged (image file is truncated); copy or save it again"),
    "hundred-megapixels.png": (_stored(Image.new("1", (10_000, 10_000))), "has over 64 megapixels; save it smaller"),
    "drawing.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "convert it to PNG, JPEG, WebP, GIF or BMP"),
    "page.tiff": (_stored(Image.new("RGB", (8, 8)), "TIFF"), "convert it to PNG, JPEG, WebP, GIF or BMP"),
    "text.png": (b"hello, I am a text", "convert it to PNG, JPEG, WebP, GIF or BMP"),
}
BAD_SOUNDS: dict[str, tuple[bytes, str]] = {
    "truncated.wav": (wav(_TONE)[:9000], "is cut short, its header speaks of 32000 bytes of sound, and it has 9,000"),
    "truncated.flac": (wav(_TONE, kind="FLAC")[:3000], "(flac decoder lost sync); convert it, or copy it again"),
    "zero-samples.wav": (wav(np.zeros((0, 1))), "has no samples; record it again, or name another file"),
    "eight-channels.wav": (wav(np.stack([_TONE] * 8, axis=1)), "has 8 channels; keep the one or two that speak"),
    "nan.wav": (wav(_NOT_FINITE, "FLOAT"), "not finite (NaN or infinite); write it again without them"),
    "long.wav": (wav(np.tile(_TONE, 31)), "choose a part with seconds=(0, 30) (--seconds 0-30), or cut the file"),
    "text.wav": (b"RIFF\x00\x00\x00\x00WAVEjunk", "convert it, or copy it again"),
}
