"""`regard neurons`: which neurons of a head produce its pattern.

Enters: texts, a head. Leaves: each neuron's share in the scores, with intervals over texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.shared import Json, Loading, ModelName, expand_options, out, working


@expand_options
def neurons(
    texts: Annotated[list[str] | None, typer.Argument(help="Texts, each in quotes.", show_default=False)] = None,
    *,
    layer: Annotated[int, typer.Option(help="The head's layer, from 0.", min=0)],
    head: Annotated[int, typer.Option(help="The head, from 0.", min=0)],
    pattern: Annotated[
        str | None, typer.Option(help='Such as "previous token" or "[SEP]".', show_default="the head's strongest")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="encoder, decoder or cross.", show_default="the first")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A corpus file instead of texts: text, TSV, JSONL, CoNLL-U.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Texts to take from the corpus.", min=1)] = 100,
    count: Annotated[int, typer.Option("--count", "-n", help="Neurons to list.", min=1)] = 8,
    model: ModelName = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Show which neurons of a head produce its pattern: how many take part, and each one's share of the scores."""
    from regard.patterns import neurons_of

    chosen = _texts(texts, data, limit)
    loaded = loading.load(model)
    with working(f"running the model on {len(chosen)} texts"):
        first = layer == 0 and kind in (None, "encoder")  # scores of the first layer can be split further
        traces = [loaded.trace(text, truncate=True, attribution=first) for text in chosen]
        found = neurons_of(traces, layer, head, pattern, kind=kind)
    if as_json:
        out.print_json(json.dumps(found.as_record(), ensure_ascii=False))
    else:
        for line in found.lines(count):
            out.print(line, markup=False, soft_wrap=True)


def _texts(texts: list[str] | None, data: Path | None, limit: int) -> list[str]:
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source

    if bool(texts) == (data is not None):
        raise UserError("pass either texts in quotes, or a corpus with --data")
    if data is None:
        return texts or []
    found = [example.text for example in read(Source(str(data), limit=limit)) if example.text.strip()]
    if not found:
        raise UserError(f"{data} contains no text; name another corpus")
    return found
