"""Print the maps of blind.npz as numbered contact sheets, 20 on each, for readers who see nothing else.

python tests/data/maps/blind_sheets.py FOLDER   # sheet_00.png ... sheet_23.png and the code book
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from draw_blind import Piece, causal, marks
from PIL import Image, ImageDraw

HERE = Path(__file__).parent
ACROSS, DOWN, CELL, GAP = 5, 4, 264, 36


def blind_maps() -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Every row of blind.json with its map; an old one brings the row and the map of the first 300."""
    old = json.loads((HERE / "maps.json").read_text(encoding="utf-8"))
    with np.load(HERE / "maps.npz") as before, np.load(HERE / "blind.npz") as new:
        for row in json.loads((HERE / "blind.json").read_text(encoding="utf-8")):
            if row["why"] == "old":
                was = old[row["old"]]
                fields = zip(was["tokens"], was["special"], was["segment"], strict=True)
                pieces = tuple(Piece(text, bool(special), segment) for text, special, segment in fields)
                yield was | row | {"marks": marks(pieces)}, before[f"{row['old']:03d}"].astype(np.float32)
            else:
                yield row, new[f"{row['map']:03d}"].astype(np.float32)


def sheets(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "CODEBOOK.md", folder / "README.md")
    each = list(blind_maps())
    for start in range(0, len(each), ACROSS * DOWN):
        sheet = Image.new("RGB", (ACROSS * (CELL + GAP), DOWN * (CELL + GAP)), "white")
        for place, (row, attention) in enumerate(each[start : start + ACROSS * DOWN]):
            x, y = (place % ACROSS) * (CELL + GAP) + GAP - 8, (place // ACROSS) * (CELL + GAP) + 22
            paint(sheet, x, y, row, attention)
        sheet.save(folder / f"sheet_{start // (ACROSS * DOWN):02d}.png", optimize=True)


def paint(sheet: Image.Image, x: int, y: int, row: dict[str, Any], attention: np.ndarray) -> None:
    """A map in dark blue on white, square-root scale up to its own maximum; grey is what a causal mask hides."""
    size = len(attention)
    shade = np.sqrt(attention / attention.max())[..., None]
    colour = 255 - shade * (255 - np.array([8, 20, 90]))
    if causal(attention):
        colour[~np.tri(size, dtype=bool)] = 225
    picture = Image.fromarray(colour.astype(np.uint8)).resize((CELL, CELL), Image.Resampling.NEAREST)
    sheet.paste(picture, (x, y))
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((x - 1, y - 1, x + CELL, y + CELL), outline="#999999")
    pen.text((x, y - 18), str(row["map"]), fill="black", font_size=15)
    for mark in row["marks"]:
        middle = round((mark + 0.5) / size * CELL)
        pen.line((x + middle, y + CELL + 1, x + middle, y + CELL + 7), fill="red", width=2)
        pen.line((x - 8, y + middle, x - 2, y + middle), fill="red", width=2)


if __name__ == "__main__":
    sheets(Path(sys.argv[1]))
