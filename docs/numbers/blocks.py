"""Figures in the documentation: parts of a page that a script writes.

Enters: a page with lines `<!-- numbers: NAME -->` and `<!-- /numbers -->`. Leaves: the page with what stands between them
replaced. A test compares every block with what its script makes of the figures it last measured.
"""

from __future__ import annotations

import re
from pathlib import Path

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
