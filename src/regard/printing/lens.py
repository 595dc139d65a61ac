"""Next words over the layers, for a terminal.

Enters: a `Lens`. Leaves: rich renderables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from regard.printing.tables import visible_text

if TYPE_CHECKING:
    from regard.models.lens import Lens

PARTS = 8  # heads, MLPs and embeddings that are named


def lens_report(lens: Lens) -> Iterator[Table | Text]:
    """The likeliest words after every layer, where the answer stands among them, and from where on it leads."""
    at, answer = f"{visible_text(lens.token)}@{lens.position}", visible_text(lens.answer.token)
    yield Text.assemble((lens.model, "bold"), (f"  what would come after {at}, read after every layer", ""))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("layers", f"p({answer})", "rank"):
        table.add_column(Text(name), justify="right")
    table.add_column("likeliest words")
    for row in lens.rows:
        words = ", ".join(f"{visible_text(word.token)} {word.probability:.2f}" for word in row.words)
        style = "bold" if row.layers == lens.leads else ""
        table.add_row(str(row.layers), f"{row.probability:.3f}", str(row.rank + 1), Text(words), style=style)
    yield table
    count = len(lens.rows) - 1
    where = f"after {lens.leads} of {count} layers" if lens.leads else "in the embeddings"
    yield Text(f"{answer} leads and stays first from here on: {where}")
    if lens.parts:
        made = ", ".join(f"{name} {logit:+.2f}" for name, logit in lens.parts[:PARTS])
        yield Text(f"most of its logit, against the mean over the vocabulary, comes from {made}")
    yield Text(
        "a lens: the model's last norm and its map to words, applied early; earlier layers may hold more than it shows",
        style="dim",
    )
