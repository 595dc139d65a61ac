"""A film as a page, and as files that the app and other tools read.

Enters: frames. Leaves: report.html, meta.json and result.parquet in the film's folder.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard import __version__
from regard.base.files import write_atomic
from regard.patterns.definitions import THRESHOLDS
from regard.studies.article import pretty
from regard.studies.chart import counted
from regard.studies.film.births import births_of, sentences_of
from regard.studies.film.frames import Frame, Reel
from regard.views.html import bundle, policy_of

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 240  # frames that a page has; files have all
_COLUMNS = ("step", "kind", "layer", "head", "measure", "value", "low", "high", "named")

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="regard">
<title>{title}</title><style>{style}</style></head>
<body class="regard-page"><div id="film">
<noscript>This page draws with JavaScript, which is switched off here.</noscript></div>
<script type="text/plain" id="frames">{frames}</script>
<script>{script}</script></body></html>
"""


def write_film(reel: Reel) -> Path:
    """Write the page of a film, what lists of studies say of it, and its table."""
    births = births_of(reel.frames)
    files = {"report.html": film_page(reel, births), "meta.json": pretty(_meta(reel, births))}
    table = film_table(reel.frames)
    write_atomic(reel.folder / "result.parquet", lambda path: table.to_parquet(path))
    for name, text in files.items():
        write_atomic(reel.folder / name, lambda path, text=text: Path(path).write_text(text, "utf-8"))  # type: ignore[misc]
    return reel.folder / "report.html"


def film_page(reel: Reel, births: Sequence[dict[str, Any]]) -> str:
    """One page that plays the film and needs no network."""
    about = {**reel.about, "thresholds": THRESHOLDS}
    shown = {"about": about, "births": list(births), "frames": [one.record for one in spread(reel.frames)]}
    data = json.dumps(shown, separators=(",", ":")).encode()
    packed = base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()
    script, style = bundle("film.js"), bundle("film.css")
    title = html.escape(f"{reel.about.get('model', 'model')} · regard")
    return _PAGE.format(policy=policy_of(script, style), title=title, style=style, frames=packed, script=script)


def spread(frames: Sequence[Frame], most: int = _SHOWN) -> list[Frame]:
    """So many frames at most, evenly chosen, the first and the last among them."""
    if len(frames) <= most:
        return list(frames)
    return [frames[round(number * (len(frames) - 1) / (most - 1))] for number in range(most)]


def film_table(frames: Sequence[Frame]) -> pd.DataFrame:
    """A row per step, head and pattern."""
    import pandas as pd

    rows = [
        (frame.step, head["kind"], head["layer"], head["head"], name, *lift, name in head["names"])
        for frame in frames
        for head in frame.heads
        for name, lift in head["lifts"].items()
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(dict.fromkeys(("value", "low", "high"), float))


def _meta(reel: Reel, births: Sequence[dict[str, Any]]) -> dict[str, Any]:
    last = reel.frames[-1] if reel.frames else Frame(0, None, [])
    names = [head["names"][0] for head in last.heads if head["names"]]
    chart = counted(f"How many heads have each name at step {last.step:,}.", {one: names.count(one) for one in names})
    return {
        "study": "film",
        "title": f"What the heads of {reel.about.get('model')} learn to do",
        "model": reel.about.get("model"),
        "steps": last.step,
        "frames": len(reel.frames),
        "tally": {"inputs": reel.about.get("texts"), "tokens": reel.about.get("tokens")},
        "findings": sentences_of(births),
        "chart": chart.record,
        "births": list(births),
        "regard": __version__,
    }
