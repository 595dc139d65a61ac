"""Pictures from anywhere: read with limits, upright, without metadata.

Enters: a file, bytes, a Pillow image or an array. Leaves: an RGB picture, the `Medium` that pages embed of it, or one
sentence about what is wrong with it.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import MissingFileError, UserError
from regard.trace.medium import Medium

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "GIF": ".gif", "BMP": ".bmp"}
SUFFIXES = frozenset({*FORMATS.values(), ".jpeg"})
MOST_BYTES = 50_000_000  # of a file
MOST_PIXELS = 64_000_000  # of a picture; decoded, they take 256 MB at most
LONGEST = 4096  # pixels of its longer side that a model is given; larger pictures are reduced
SHOWN = 1024  # pixels of the longer side of the copy in a page
_SMALL = 64_000  # bytes up to which that copy is a PNG, which changes no pixel


def read_picture(image: Any) -> Image:
    """An upright RGB picture without metadata, of `LONGEST` pixels at most."""
    name = f"the image {image}" if isinstance(image, (str, Path)) else "the image"
    if isinstance(image, (str, Path)):
        image = _bytes_of(Path(image))
    if isinstance(image, (bytes, bytearray, memoryview)):
        found = _decoded(bytes(image), name)
    elif hasattr(image, "getbands"):  # Pillow's own
        found = _upright(image, name)
    else:
        found = _reduced(_from_array(image), LONGEST)
    return found


def medium_of(picture: Image) -> Medium:
    """The copy of a picture that pages show: a small PNG, or a JPEG."""
    shown = _reduced(picture, SHOWN)
    png = io.BytesIO()
    shown.save(png, "PNG", optimize=False)
    if png.tell() <= _SMALL:
        return Medium("picture", "image/png", png.getvalue(), shown.size)
    jpeg = io.BytesIO()
    shown.save(jpeg, "JPEG", quality=88)
    return Medium("picture", "image/jpeg", jpeg.getvalue(), shown.size)


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        raise UserError(f"the image {path} is a folder; name one of its files")
    if not path.is_file():
        raise MissingFileError(f"there is no image file {path}")
    if path.stat().st_size > MOST_BYTES:
        raise UserError(f"the image {path} has over {MOST_BYTES / 1e6:.0f} MB; save it smaller")
    return path.read_bytes()


def _decoded(data: bytes, name: str) -> Image:
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise UserError(f"{name} is empty; copy or save it again")
    if len(data) > MOST_BYTES:
        raise UserError(f"{name} has over {MOST_BYTES / 1e6:.0f} MB; save it smaller")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow, about large pictures: ours are refused below
            with Image.open(io.BytesIO(data), formats=list(FORMATS)) as opened:
                _check_size(opened.size, name)
                if opened.format == "JPEG":
                    opened.draft("RGB", (LONGEST, LONGEST))  # decoded at an 8th, 4th or half of its size
                return _upright(opened, name)
    except UnidentifiedImageError:
        raise UserError(
            f"{name} is not a picture that regard reads; convert it to PNG, JPEG, WebP, GIF or BMP"
        ) from None
    except Image.DecompressionBombError:
        raise UserError(_too_large(name)) from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, OverflowError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{name} is damaged ({error}); copy or save it again") from None


def _check_size(size: tuple[int, int], name: str) -> None:
    if min(size) < 1:
        raise UserError(f"{name} has no pixels")
    if size[0] * size[1] > MOST_PIXELS:
        raise UserError(_too_large(name))


def _too_large(name: str) -> str:
    return f"{name} has over {MOST_PIXELS / 1e6:.0f} megapixels; save it smaller"


def _upright(opened: Image, name: str) -> Image:
    """As its camera was held, in RGB, as pixels alone, of `LONGEST` at most."""
    from PIL import Image, ImageOps

    _check_size(opened.size, name)
    if opened.mode.startswith("I"):  # 16 bits; Pillow's own conversion cuts them off at 255
        opened = Image.fromarray((np.asarray(opened).astype(np.uint32) >> 8).clip(0, 255).astype(np.uint8))
    opened.load()
    small = _reduced(opened if opened.mode == "RGB" else opened.convert("RGB"), LONGEST)
    return Image.fromarray(np.asarray(ImageOps.exif_transpose(small)))


def _from_array(image: Any) -> Image:
    from PIL import Image

    try:
        array = np.asarray(image)
    except ValueError:
        raise UserError("an image array must be numbers (height, width, 3)") from None
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype.kind not in "buif":
        raise UserError(f"an image array must be numbers (height, width, 3), not {array.dtype} {array.shape}")
    _check_size((array.shape[1], array.shape[0]), "the image array")
    if array.dtype != np.uint8:
        if not np.isfinite(array).all():
            raise UserError("the image array holds NaN or infinite numbers; pass colours from 0 to 1")
        array = (np.clip(array, 0, 1) * 255).astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(array))


def _reduced(picture: Image, longest: int) -> Image:
    """The picture, its longer side no longer than this."""
    if max(picture.size) <= longest:
        return picture
    scale = longest / max(picture.size)
    return picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
