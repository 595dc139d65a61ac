"""`regard models`: the models available locally, and what else can be loaded.

Enters: nothing. Leaves: a table.
"""

from __future__ import annotations

import json
from typing import Any

from regard.commands.shared import Json, out


def models(as_json: Json = False) -> None:
    """List the models available locally, and what else can be loaded."""
    from regard.models.catalogue import known_models
    from regard.printing.tables import models_table

    rows: list[dict[str, Any]] = [
        {
            "model": known.name,
            "where": known.where,
            "what": known.note,
            "installed": known.installed,
            "default": known.default,
        }
        for known in known_models()
    ]
    if as_json:
        out.print_json(json.dumps(rows))
        return
    out.print(models_table(rows))
    out.print(
        "\nLoad any other model by hub name, folder or .gguf file: encoders, decoders, encoder-decoders, vision.\n"
        "Families that are tested, and how exactly: docs/reference/models.md",
        style="dim",
    )
