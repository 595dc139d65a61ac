"""`regard walk`: a model step by step, with real numbers.

Enters: a text. Leaves: a page, and the translation where there is one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.shared import (
    Loading,
    Target,
    Text,
    Truncate,
    err,
    expand_options,
    out,
    read_text,
    size_of,
    working,
)


@expand_options
def walk(
    text: Text = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("regard-walk.html"),
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A model of the BERT family, Marian, BART, T5, GPT-2, Llama, Mistral or Qwen2, or a checkpoint.",
            show_default="the built-in translator",
        ),
    ] = None,
    target: Target = None,
    generate: Annotated[
        int | None, typer.Option(help="Let a decoder go on by so many tokens first.", min=1, max=256)
    ] = None,
    layer: Annotated[int, typer.Option(help="The layer to open.", min=0)] = 0,
    truncate: Truncate = False,
    loading: Loading,
) -> None:
    """Walk through a model step by step with real numbers: embedding, attention, decoder; writes one HTML page."""
    from regard.views.walk import walk as walk_through

    if text is None:
        raise UserError('there is nothing to walk through; pass a text in quotes: regard walk "Hello, how are you?"')
    loaded = loading.load(model or "translator")
    with working("running the model"):
        found = walk_through(
            read_text(text) or "", loaded, target=target, generate=generate, layer=layer, truncate=truncate
        )
        path = found.save(output)
    if found.unknown:
        words = ", ".join(found.unknown)
        err.print(f"regard: not in the vocabulary and read as unknown: {words}", markup=False, soft_wrap=True)
    if found.said is not None:
        out.print(found.said, markup=False)
    out.print(f"\npage: [bold]{path.resolve()}[/bold] ({size_of(path)}), open it in a browser")
