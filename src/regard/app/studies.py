"""Saved studies in one folder: the list, and their files. Nothing outside the folder is read.

Enters: the folder given at the start, and a path from the page. Leaves: records, and files that lie inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.responses import FileResponse

from regard.app.guard import FOREIGN_POLICY
from regard.app.problems import missing

REPORT, META = "report.html", "meta.json"
_LARGEST = 4_000_000  # bytes; a larger meta.json is not read
_FINDINGS = 3  # sentences of a study that the list shows
_BARS = 8  # of the picture of a study
_FILES = 200  # named in the list of one study
# What a browser may open directly; everything else is a download.
_SHOWN = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


def studies(folder: Path | None) -> dict[str, Any]:
    """The studies in a folder and its subfolders, newest first."""
    if folder is None:
        return {"folder": None, "studies": []}
    records = [_record(place, folder) for place in _places(folder)]
    return {"folder": folder.name, "studies": sorted(records, key=lambda record: -record["changed"])}


def study_file(folder: Path | None, path: str) -> FileResponse:
    """A file of a study, to be shown in a separate origin or downloaded."""
    file = inside(folder, path)
    kind = _SHOWN.get(file.suffix.lower())
    return FileResponse(
        file,
        media_type=kind or "application/octet-stream",
        headers={"Content-Security-Policy": FOREIGN_POLICY},
        filename=None if kind else file.name,
    )


def inside(folder: Path | None, path: str) -> Path:
    """A file in the folder; links are resolved first, so that none leads out of it."""
    nothing = missing("there is no such file among the studies")
    parts = path.replace("\\", "/").split("/")
    if folder is None or "\0" in path or any(part in ("", "..") or part.startswith(".") for part in parts):
        raise nothing
    root = folder.resolve()
    try:
        file = root.joinpath(*parts).resolve(strict=True)
        if not file.is_relative_to(root) or not file.is_file():
            raise nothing
    except (OSError, RuntimeError, ValueError):  # not there, a name too long, or links that go in circles
        raise nothing from None
    return file


def _places(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    try:
        candidates = [folder, *sorted(folder.iterdir())]
    except OSError:
        return
    for place in candidates:
        hidden = place.name.startswith(".") and place != folder
        if hidden or not place.is_dir() or not place.resolve().is_relative_to(root):
            continue
        if (place / META).is_file() or (place / REPORT).is_file():
            yield place


def _record(place: Path, folder: Path) -> dict[str, Any]:
    meta = meta_of(place, folder)
    prefix = "" if place == folder else f"{place.name}/"
    files = sorted(file.name for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    corpus, tally = _part(meta, "corpus"), _part(meta, "tally")
    return {
        "name": place.name,
        "study": _text(meta.get("study")),
        "title": _text(meta.get("title")) or place.name,
        "model": _text(meta.get("model")),
        "corpus": _text(corpus.get("name")),
        "inputs": tally.get("inputs") if isinstance(tally.get("inputs"), int) else None,
        "findings": _findings(meta),
        "chart": _chart(meta),
        "changed": place.stat().st_mtime,
        "report": f"/studies/{quote(prefix + REPORT)}" if REPORT in files else None,
        "files": files[:_FILES],
    }


def meta_of(place: Path, folder: Path) -> dict[str, Any]:
    """What a study says about itself; a damaged file says nothing."""
    try:
        file = (place / META).resolve(strict=True)
        if not file.is_relative_to(folder.resolve()) or file.stat().st_size > _LARGEST:
            return {}
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _part(meta: dict[str, Any], name: str) -> dict[str, Any]:
    found = meta.get(name)
    return found if isinstance(found, dict) else {}


def _findings(meta: dict[str, Any]) -> list[str]:
    """The first sentences of what was found."""
    found = meta.get("findings")
    return [one[:300] for one in found if isinstance(one, str)][:_FINDINGS] if isinstance(found, list) else []


def _chart(meta: dict[str, Any]) -> dict[str, Any] | None:
    """The picture of what was found: bars of [name, value, tick, note]; None where a file has no sound one."""
    found = _part(meta, "chart")
    bars = found.get("bars")
    if not isinstance(bars, list) or not bars or not all(map(_is_bar, bars)):
        return None
    cut = [[str(name)[:60], value, tick, str(note)[:40]] for name, value, tick, note in bars[:_BARS]]
    top = found.get("top")
    end = top if isinstance(top, (int, float)) and 0 <= top < inf else 0
    words = {name: (_text(found.get(name)) or "")[:80] for name in ("tick", "bar")}
    return {"about": _text(found.get("about")) or "", "bars": cut, "top": end, **words}


def _is_bar(bar: Any) -> bool:
    """Whether a bar has a finite length that is not negative, and a tick that is a number or nothing."""
    if not isinstance(bar, list) or len(bar) != 4:
        return False
    numbers = [bar[1], *([] if bar[2] is None else [bar[2]])]
    return all(isinstance(one, (int, float)) and 0 <= one < inf for one in numbers)


def _text(value: Any) -> str | None:
    return str(value)[:300] if isinstance(value, (str, int, float)) else None
