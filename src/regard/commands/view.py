"""One text, one model: see it (`view`), keep it (`trace`), say what its heads do (`patterns`).

Enters: a text and a model's name. Leaves: a page, a file, tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.commands.shared import Json, Loading, ModelName, Pair, Text, Tracing, expanded, out, size_of, working
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.trace.tokens import Side
    from regard.trace.trace import Trace


@expanded
def view(
    text: Text = None,
    pair: Pair = None,
    *,
    model: ModelName = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("regard-view.html"),
    tracing: Tracing,
    loading: Loading,
) -> None:
    """Trace a text and write one HTML page that shows its attention; it opens without a network."""
    from regard.views.html import save_html
    from regard.views.report import report_of

    loaded = loading.load(model)
    trace = tracing.trace(loaded, text, pair, attribution=True)
    with working("writing the page"):
        known = report_of(trace)
        path = save_html(trace, output, report=known or False)
    out.print(trace)
    _tell_answer(trace, tracing)
    out.print(f"\npage: [bold]{path.resolve()}[/bold] ({size_of(path)}), open it in a browser")
    for head in known.telling(3) if known else ():
        where = f"{head.kind} " if len(trace.kinds) > 1 else ""
        out.print(f"\n{where}layer {head.layer} head {head.head} {head.sentence}", soft_wrap=True)
        out.print(f"  {path}{head.fragment}", style="dim", soft_wrap=True)


@expanded
def trace(
    text: Text = None,
    pair: Pair = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The trace file to write.")] = None,
    model: ModelName = None,
    tracing: Tracing,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Trace a text and keep it in a file (safetensors) that opens without the model."""
    loaded = loading.load(model)
    made = tracing.trace(loaded, text, pair)
    path = None if output is None else made.save(output)
    if as_json:
        out.print_json(json.dumps(_record(made, path), ensure_ascii=False))
        return
    out.print(made)
    _tell_answer(made, tracing)
    if path is None:
        out.print("\nnot kept: name a file with -o to save the trace")
    else:
        out.print(f"\ntrace: [bold]{path}[/bold] ({size_of(path)}), read it with regard.Trace.load({str(path)!r})")


@expanded
def patterns(
    text: Text = None,
    pair: Pair = None,
    *,
    model: ModelName = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Heads to name for each pattern.", min=1)] = 3,
    threshold: Annotated[
        float | None, typer.Option(help="Lift from which a head gets a name.", min=0.01, max=1, show_default=False)
    ] = None,
    tracing: Tracing,
    loading: Loading,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line per finding.")] = False,
) -> None:
    """Say what each head does with a text: a map of layers and heads, and the strongest heads in words."""
    from regard.printing import patterns as printed

    if as_json and as_csv:
        raise UserError("choose one of --json and --csv")
    loaded = loading.load(model)
    made = tracing.trace(loaded, text, pair)
    with working("measuring the heads"):
        found = made.patterns(threshold=threshold)
    if as_json:
        out.print_json(json.dumps(printed.as_record(made, found), ensure_ascii=False))
    elif as_csv:
        out.out(printed.as_csv(found), end="", highlight=False)
    else:
        for part in printed.report(found, out, count=count):
            out.print(part)


def _tell_answer(trace: Trace, tracing: Tracing) -> None:
    """Print what the model said by itself, where it did."""
    made = [token for side in trace.sides.values() for token in side.tokens if token.segment and _is_answer(side)]
    if not made and tracing.target is None and "decoder" in trace.sides:
        made = [token for token in trace.sides["decoder"].tokens if not token.special]
    if made:
        out.print("\ngenerated:", "".join(token.text for token in made), markup=False, soft_wrap=True)


def _is_answer(side: Side) -> bool:
    return any(segment.name == "answer" for segment in side.segments)


def _record(trace: Trace, path: Path | None) -> dict[str, Any]:
    return {
        "file": None if path is None else str(path),
        "facts": dict(trace.facts),
        "sides": {name: side.texts for name, side in trace.sides.items()},
        "attention": {
            kind: {"layers": len(trace.layers(kind)), "heads": trace.site(trace.layers(kind)[0], kind=kind).heads}
            for kind in trace.kinds
        },
    }
