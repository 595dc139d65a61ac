"""Lines of text as pictures, drawn with the DejaVu Sans of matplotlib: it is known what they say, and where."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

MARGIN = 10  # pixels to the left and the right of the text
HEIGHT = 48


@cache
def font(size: int = 34) -> ImageFont.FreeTypeFont:
    import matplotlib

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size)


def line(text: str, *, ink: str = "black", paper: str = "white") -> Image.Image:
    """A picture of a line of text."""
    picture = Image.new("RGB", (int(font().getlength(text)) + 2 * MARGIN, HEIGHT), paper)
    ImageDraw.Draw(picture).text((MARGIN, 3), text, font=font(), fill=ink)
    return picture


def ends(text: str, at: int) -> tuple[float, float]:
    """Where a letter of a line begins and ends, as shares of the picture's width."""
    width = line(text).width
    left, right = (MARGIN + font().getlength(text[:end]) for end in (at, at + 1))
    return left / width, right / width
