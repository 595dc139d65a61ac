"""How a model is shown pictures: what its processor makes of one, and where every pixel of that comes from.

Enters: a processor and a config; then pictures. Leaves: inputs, and pieces that know their place in the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.models.images import medium_of, read_picture
from regard.models.placing import seen_through
from regard.trace.medium import Medium
from regard.trace.tiles import Followed, Shuffled, Sighting


@dataclass(frozen=True, eq=False)
class Sight:
    """A picture as a model sees it: the inputs it becomes, its pieces, and the copy that pages show."""

    inputs: dict[str, Any]
    seen: list[Sighting]
    medium: Medium


class Eyes:
    """How a model is shown pictures: its processor, and where pixels of pictures of each size end up."""

    def __init__(self, processor: Any, config: Any) -> None:
        self.processor, self.config = processor, config
        self._seen: dict[tuple[int, int], list[Sighting]] = {}
        self.lengths: dict[Any, int] = {}  # how many positions pictures of some shapes have, as far as that is known

    @property
    def pictures(self) -> Any:
        """What prepares pictures alone: of a processor for texts and pictures its part for these."""
        return getattr(self.processor, "image_processor", self.processor)

    def look(self, image: Any) -> Sight:
        """A picture as the model sees it."""
        picture = read_picture(image)
        return Sight(*self.see(picture), medium_of(picture))

    def see(self, picture: Any) -> tuple[dict[str, Any], list[Sighting]]:
        """The inputs that a picture becomes, and where their pixels lie in it."""
        if picture.size not in self._seen:
            if len(self._seen) >= 64:
                self._seen.clear()
            self._seen[picture.size] = self._read(seen_through(self.prepare, picture.size, self._patch))
        return self.prepare(picture), self._seen[picture.size]

    def prepare(self, picture: Any) -> dict[str, Any]:
        """The inputs that a picture becomes."""
        if self.processor is None:
            return {"pixel_values": _default_pixels(picture, self._vision)}
        try:
            return dict(self.pictures(images=[picture], return_tensors="pt"))
        except UserError:
            raise
        except Exception as error:  # processors are third-party code and may raise anything
            raise UserError(
                f"the model's image processor failed on this image: {type(error).__name__}: {error}"
            ) from error

    def _read(self, seen: list[Sighting]) -> list[Sighting]:
        """As the tower reads it: in an order of chance, or with positions of its own behind the patches."""
        if getattr(self.config, "model_type", None) == "vit_mae":  # also with nothing hidden
            return [Shuffled(one) for one in seen]
        count = getattr(self._vision, "num_detection_tokens", 0)
        return [Followed(one, count) for one in seen] if count else seen

    @property
    def _vision(self) -> Any:
        parts = (getattr(self.config, name, None) for name in ("vision_config", "encoder"))
        return next((part for part in parts if part is not None), self.config)

    @property
    def _patch(self) -> tuple[int, int]:
        patch = getattr(self._vision, "patch_size", None) or 1
        stride = getattr(self._vision, "patch_stride", None) or patch
        found = stride[0] if isinstance(stride, (list, tuple)) and len(stride) != 2 else stride
        return (found, found) if isinstance(found, int) else (int(found[0]), int(found[1]))


def _default_pixels(picture: Any, config: Any) -> torch.Tensor:
    """Resized to the model's size and scaled to [-1, 1], as ViT does, if no processor is given."""
    size = getattr(config, "image_size", 224)
    height, width = (size, size) if isinstance(size, int) else size
    array = np.asarray(picture.resize((width, height)), dtype=np.float32) / 127.5 - 1  # (height, width, 3)
    return torch.from_numpy(array).permute(2, 0, 1)[None]
