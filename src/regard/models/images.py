"""From an image to a vision model's inputs.

Enters: a file, a Pillow image or an array. Leaves: pixels, and a `Book` with the grid of patches they are cut into.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.capture.record import Book
from regard.errors import MissingFileError, UserError


def image_inputs(image: Any, processor: Any, config: Any) -> tuple[torch.Tensor, Book]:
    """Pixels for a vision model, and the grid of patches they are cut into."""
    pixels = _pixels(image)
    vision = getattr(config, "vision_config", config)
    values = _default_pixels(pixels, vision) if processor is None else _process(processor, pixels)
    patch = getattr(vision, "patch_size", None)
    if patch is None:
        grid = None
    else:
        height, width = (patch, patch) if isinstance(patch, int) else patch
        grid = (values.shape[-2] // height, values.shape[-1] // width)
    shown = np.asarray(_to_pil(pixels).resize((224, 224)), dtype=np.uint8)
    return values, Book([{}], {}, grid, [shown])


def _process(processor: Any, pixels: Any) -> torch.Tensor:
    try:
        values: torch.Tensor = processor(images=pixels, return_tensors="pt")["pixel_values"]
    except Exception as error:  # processors are third-party code and may raise anything
        raise UserError(f"the model's image processor failed on this image: {type(error).__name__}: {error}") from error
    return values


def _pixels(image: Any) -> Any:
    if isinstance(image, (str, Path)):
        from PIL import Image, UnidentifiedImageError

        if not Path(image).is_file():
            raise MissingFileError(f"there is no image file {image}")
        try:
            with Image.open(image) as opened:
                return opened.convert("RGB")
        except UnidentifiedImageError:
            raise UserError(f"{image} is not an image that Pillow can read") from None
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # raised by damaged files
            raise UserError(f"the image {image} could not be read: {error}") from None
    return _to_pil(image)


def _to_pil(image: Any) -> Any:
    from PIL import Image

    if isinstance(image, Image.Image):
        return image.convert("RGB")
    array = np.asarray(image)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype.kind not in "buif":
        raise UserError(f"an image array must be numbers (height, width, 3), not {array.dtype} {array.shape}")
    if array.dtype != np.uint8:
        array = (np.clip(array, 0, 1) * 255).astype(np.uint8)
    return Image.fromarray(array)


def _default_pixels(image: Any, config: Any) -> torch.Tensor:
    """Resized to the model's size and scaled to [-1, 1], as ViT does, if no processor is given."""
    size = getattr(config, "image_size", 224)
    height, width = (size, size) if isinstance(size, int) else size
    array = np.asarray(image.resize((width, height)), dtype=np.float32) / 127.5 - 1  # (height, width, 3)
    return torch.from_numpy(array).permute(2, 0, 1)[None]
