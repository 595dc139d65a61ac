"""One file with everything in it: the trace and the views, for offline use.

Enters: a Trace. Leaves: an HTML page that opens by double click.
"""

from __future__ import annotations

import base64
import hashlib
import html
import sys
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.trace.showing import Shown
from regard.trace.trace import Trace
from regard.views.arrays import sent_numbers
from regard.views.wire import LONG, encode, header_of, shown_first

# Digits of the payload's text: printable characters without a meaning in HTML.
DIGITS = bytes(code for code in range(0x28, 0x7F) if code not in b"<>")
# Browsers take 1.4 times as long to read a long text in one script as in pieces.
_PIECE = 100_000
LIMIT = 200_000_000  # bytes; browsers hold a page about three times over while they read it
AIM = 60_000_000  # bytes above which the page of a long text holds some layers whole, and of the others pictures

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="regard">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="regard-page">
<div id="regard" data-bytes="{bytes}">
<noscript>This page draws with JavaScript, which is switched off here.</noscript></div>
{payload}
</body>
</html>
"""


def save_html(
    trace: Trace,
    path: str | Path,
    *,
    view: str | None = None,
    kind: str | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    layers: Iterable[int] | None = None,
    title: str | None = None,
    limit: int = LIMIT,
    aim: int = AIM,
    **more: Unpack[Shown],
) -> Path:
    """Write one HTML page with the views of a trace; it needs no network and no server.

    Parameters
    ----------
    trace
        What to show.
    path
        The file to write; an existing one is replaced only when the new one is complete.
    view, kind, layer, heads
        What the page opens with; unless given, heads, or the sound in which words were heard.
    layers
        Layers to put into the page; all unless given.
    title
        The page's title; the model's name unless given.
    limit
        Refuse to write pages with more bytes than this.
    aim
        Above so many bytes, the page of a text of more than 1,024 tokens holds the weights of some layers alone, the
        one it opens with and others spread evenly, and of all heads a small picture, made of every weight. Name
        `layers`, or raise `aim` to `limit`, for others or all.
    **more
        `vectors`, `measures`, `report` and `walk`, as in `regard.views.encode`.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> trace = Trace.from_maps(np.full((1, 2, 3, 3), 1 / 3), ["a", "b", "c"])
    >>> save_html(trace, Path(tempfile.mkdtemp()) / "page.html").name
    'page.html'
    """
    chosen = trace if layers is None else trace.select(layers=layers)
    first = shown_first(chosen, view, kind, layer, heads)
    kind, layer = first.get("kind"), first.get("layer")
    whole = None if layers is not None or not _is_long(chosen) else _fitting(chosen, kind, layer, aim)
    _check_size(_least_size(chosen, whole), limit, chosen)
    if whole is not None and layer is None:  # one of those that are there
        first["layer"] = chosen.layers(kind)[0]
    shown: dict[str, Any] = {"weights": whole, "pictures": _is_long(chosen), **more}
    page = page_of(chosen, title=title, **first, **shown)
    _check_size(len(page), limit, chosen)
    target = Path(path)
    write_atomic(target, lambda temporary: Path(temporary).write_bytes(page))
    return target


def page_of(trace: Trace, *, title: str | None = None, **shown: Any) -> bytes:
    """The bytes of the page that `save_html` writes; options as in `regard.views.encode`."""
    payload = encode(trace, **shown)
    carried = "page" if shown.get("walk") is None else "regard"  # the walk and its words are a tenth of a megabyte
    script, style = _script(bundle(f"{carried}.js")), bundle(f"{carried}.css")
    head, tail = _PAGE.split("{payload}")
    name = title or f"{trace.facts.get('model', 'attention')} · regard"
    policy = policy_of(script, style)
    head = head.format(policy=policy, title=html.escape(str(name)), style=style, bytes=len(payload))
    text, first = _text(payload), _opening(payload) * 5 // 4
    run = f"<script>{script}</script>\n".encode()
    return b"".join([head.encode(), _pieces(text[:first]), run, _pieces(text[first:]), tail.encode()])


def _pieces(text: bytes) -> bytes:
    """Text in inert script elements, which the page's own script reads in order."""
    starts = range(0, len(text), _PIECE)
    return b"".join(b'<script type="text/plain">%b</script>' % text[i : i + _PIECE] for i in starts)


def _opening(payload: bytes) -> int:
    """How many bytes a page needs to show what it opens with: its script stands behind them, before all the others."""
    header = header_of(payload)
    start = 8 + int.from_bytes(payload[:8], "little")
    opened = {name: header["selection"][name] for name in ("kind", "layer", "part")}
    at = next(i for i, site in enumerate(header["sites"]) if opened.items() <= site.items())
    later = [_first_offset(site) for site in header["sites"][at + 1 :]]
    return start + min(later, default=len(payload) - start) // 4 * 4


def _first_offset(record: Any) -> int:
    """Where the first array of a record lies in the buffer."""
    if not isinstance(record, dict):
        return sys.maxsize
    own = record["offset"] if "dtype" in record else sys.maxsize
    return min([own, *map(_first_offset, record.values())])


def _script(module: str) -> str:
    """The front end as a plain script: a module would wait until the whole page is read."""
    body = module.rsplit("export{", 1)[0]
    return f'"use strict";(()=>{{{body}}})();'


def _text(payload: bytes) -> bytes:
    """Bytes as text: 32 bits as five digits in base 85, lowest first. A quarter longer; base64 would be a third."""
    words, digits = np.frombuffer(payload, "<u4"), np.frombuffer(DIGITS, np.uint8)
    text = np.empty((len(words), 5), np.uint8)
    for place in range(5):
        words, digit = np.divmod(words, np.uint32(85))
        text[:, place] = digits[digit]
    return text.tobytes()


def bundle(name: str) -> str:
    """A file of the built front end."""
    text = (files("regard") / "static" / name).read_text("utf-8")
    # Inside a page the only text that could end the script is its own closing tag.
    return text.replace("</script", "<\\/script") if name.endswith(".js") else text


def policy_of(script: str, style: str) -> str:
    """Nothing may be fetched; only our own script and style run."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _is_long(trace: Trace) -> bool:
    """Whether maps are too large for a browser to compute all of them."""
    return any(site.keys > LONG for site in trace.sites)


def _fitting(trace: Trace, kind: str | None, layer: int | None, aim: int) -> set[tuple[str, int]] | None:
    """The layers whose weights fit into a page of `aim` bytes: the opened one, others evenly; None if all do.

    Every kind of attention has one at least.
    """
    share = aim / max(1, _least_size(trace))
    if share >= 1:
        return None
    found = set()
    for each in trace.kinds:
        layers = trace.layers(each)
        count = max(1, int(len(layers) * share))
        if each == (kind or trace.kinds[0]):
            opened = layers[0] if layer is None else layer
            layers, count = tuple(one for one in layers if one != opened), count - 1
            found.add((each, opened))
        found |= {(each, layers[int(len(layers) * (number + 0.5) / count)]) for number in range(count)}
    return found


def _least_size(trace: Trace, whole: Container[tuple[str, int]] | None = None) -> int:
    """The approximate size of the page in bytes: 12 bits per number, as text. Known before anything is computed."""
    sites = [site for site in trace.sites if whole is None or (site.kind, site.layer) in whole]
    return 2 * sent_numbers(replace(trace, sites=tuple(sites)))


def _check_size(size: int, limit: int, trace: Trace) -> None:
    if size <= limit:
        return
    kind = trace.kinds[0]
    layers = trace.layers(kind)
    fitting = max(1, len(layers) * limit // size)
    advice = (
        f"choose layers, for instance layers=range({layers[0]}, {layers[0] + fitting})"
        if fitting < len(layers)
        else "choose heads with trace.select(heads=[...]), a shorter input, or raise limit"
    )
    raise UserError(f"the page would be {size / 1e6:.0f} MB, more than the limit of {limit / 1e6:.0f} MB; {advice}")
