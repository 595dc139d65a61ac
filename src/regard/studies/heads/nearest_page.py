"""What is nearest, as a page in the style of the portraits.

Enters: nearest rows. Leaves: HTML whose texts are escaped.
"""

from __future__ import annotations

import html

from regard.studies.article import page
from regard.studies.head_names import head_name
from regard.studies.heads.examples import drawn
from regard.studies.heads.nearest import Nearest


def nearest_page(found: Nearest, portrait: str) -> str:
    """The row of the text, and those of the corpus; `portrait` is the head's own page."""
    _, layer, head = found.place
    title = f"What else makes head {head_name(layer, head)} do this"
    notes = "".join(f'<p class="quiet">{html.escape(text)}</p>' for text in found.cautions)
    link = html.escape(portrait)
    rows = "".join(map(drawn, found.looks))
    name = "looks like this one" if found.side == "q" else "is looked at like this"
    body = (
        f'<nav class="quiet"><a href="#" data-page="{link}">All about this head</a></nav><h1>{html.escape(title)}</h1>'
        f'<p class="made">{html.escape(found.said)}</p>{notes}<h2>In your text</h2>{drawn(found.own)}'
        f"<h2>What {name} in {html.escape(found.corpus)}</h2>{rows}"
    )
    return page(title, body)
