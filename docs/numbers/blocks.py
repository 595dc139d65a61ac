"""Figures in the documentation: parts of a page that a script writes.

Enters: a page with lines `<!-- numbers: NAME -->` and `<!-- /numbers -->`. Leaves: the page with what stands between them
replaced. A test compares every block with what its script makes of the figures it last measured.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"<!-- numbers: (\S+) -->\n(.*?)<!-- /numbers -->", re.DOTALL)

Blocks = dict[str, dict[str, str]]  # page, block -> markdown


def read(page: str) -> dict[str, str]:
    """The blocks of a page."""
    return dict(BLOCK.findall((DOCS / page).read_text("utf-8")))


def write(page: str, name: str, markdown: str) -> None:
    """Replace one block of a page."""
    path = DOCS / page
    if name not in read(page):
        raise ValueError(
            f"{page} has no block {name!r}: put the lines <!-- numbers: {name} --> and <!-- /numbers --> there"
        )
    path.write_text(
        BLOCK.sub(lambda found: _block(name, markdown) if found[1] == name else found[0], path.read_text("utf-8")),
        "utf-8",
    )


def _block(name: str, markdown: str) -> str:
    return f"<!-- numbers: {name} -->\n{markdown.strip()}\n<!-- /numbers -->"


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def span(value: float, low: float, high: float, digits: int = 1) -> str:
    """A number with its interval."""
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")


def side_by_side(figures: list[Any], name: str) -> None:
    """Write figures of studies beside each other, as one picture of the documentation."""
    from tempfile import TemporaryDirectory

    from PIL import Image

    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.png" for number in range(len(figures))]
        sides = [Image.open(figure.save(file, dpi=110)) for figure, file in zip(figures, files, strict=True)]
        both = Image.new("RGB", (sum(side.width for side in sides), max(side.height for side in sides)), "white")
        for number, side in enumerate(sides):
            both.paste(side, (sum(other.width for other in sides[:number]), 0))
        both.save(DOCS / "images" / name, optimize=True)
