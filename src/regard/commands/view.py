"""One text, one model: see it (`view`), save it (`trace`), say what its heads do (`patterns`).

Enters: a text and a model's name. Leaves: a page, a file, tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.errors import UserError
from regard.commands.shared import Json, Loading, ModelName, Pair, Text, Tracing, expand_options, out, size_of, working

if TYPE_CHECKING:
    from regard.trace.tokens import Side, Token
    from regard.trace.trace import Trace

_SAID = 0.005  # the smallest share of a label that is printed


@expand_options
def view(
    text: Text = None,
    pair: Pair = None,
    *,
    model: ModelName = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("regard-view.html"),
    tracing: Tracing,
    loading: Loading,
) -> None:
    """Trace a text and write one HTML page that shows its attention and works offline."""
    from regard.views.html import save_html
    from regard.views.report import report_of

    loaded = loading.load(model)
    trace = tracing.trace(loaded, text, pair, attribution=True)
    with working("writing the page"):
        known = report_of(trace)
        path = save_html(trace, output, report=known or False)
    out.print(trace)
    _print_answer(trace, tracing)
    out.print(f"\npage: [bold]{path.resolve()}[/bold] ({size_of(path)}), open it in a browser")
    for head in known.clearest(3) if known else ():
        where = f"{head.kind} " if len(trace.kinds) > 1 else ""
        out.print(f"\n{where}head {head.layer}.{head.head} {head.sentence}", soft_wrap=True)
        out.print(f"  {path}{head.fragment}", style="dim", soft_wrap=True)


@expand_options
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
    """Trace a text and save it to a file (safetensors) that opens without the model."""
    loaded = loading.load(model)
    trace = tracing.trace(loaded, text, pair)
    path = None if output is None else trace.save(output)
    if as_json:
        out.print_json(json.dumps(_record(trace, path), ensure_ascii=False))
        return
    out.print(trace)
    _print_answer(trace, tracing)
    if path is None:
        out.print("\nnot saved: name a file with -o to save the trace")
    else:
        out.print(f"\ntrace: [bold]{path}[/bold] ({size_of(path)}), read it with regard.Trace.load({str(path)!r})")


@expand_options
def patterns(
    text: Text = None,
    pair: Pair = None,
    *,
    model: ModelName = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Heads to list per pattern.", min=1)] = 3,
    threshold: Annotated[
        float | None,
        typer.Option(help="Lowest lift for which a head gets a name.", min=0.01, max=1, show_default=False),
    ] = None,
    predictive: Annotated[
        bool,
        typer.Option(
            "--predictive",
            help="Also ask a language model which words predict which: a run per token, or per pair if it is masked.",
        ),
    ] = False,
    tracing: Tracing,
    loading: Loading,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line per finding.")] = False,
) -> None:
    """Show what each head does with a text: a map of layers and heads, and the strongest heads in words."""
    from regard.printing import patterns as printed
    from regard.printing.gains import gains_report

    if as_json and as_csv:
        raise UserError("choose either --json or --csv")
    loaded = loading.load(model)
    trace = tracing.trace(loaded, text, pair, predictive=predictive)
    with working("measuring the heads"):
        found = trace.patterns(threshold=threshold)
    if as_json:
        out.print_json(json.dumps(printed.as_record(trace, found), ensure_ascii=False))
    elif as_csv:
        out.out(printed.as_csv(found), end="", highlight=False)
    else:
        for part in (*printed.report(found, out, count=count), *gains_report(trace)):
            out.print(part)


def _print_answer(trace: Trace, tracing: Tracing) -> None:
    """Print what the model generated or which labels it gives, if any, and how exactly the trace is kept."""
    from regard.patterns.cautions import precision_of

    for sentence in precision_of(trace.facts):
        out.print(f"\n{sentence}", soft_wrap=True)
    tokens = [token for side in trace.sides.values() for token in _answer_of(side)]
    if not tokens and tracing.target is None and "decoder" in trace.sides:
        tokens = [token for token in trace.sides["decoder"].tokens if not token.special]
    if tokens:
        out.print("\ngenerated:", "".join(token.text for token in tokens), markup=False, soft_wrap=True)
    if labels := trace.facts.get("labels"):
        said = ", ".join(f"{name} {chance:.2f}" for i, (name, chance) in enumerate(labels) if not i or chance >= _SAID)
        out.print("\nsays:", said, markup=False, soft_wrap=True)


def _answer_of(side: Side) -> list[Token]:
    """The tokens that the model wrote itself; of a picture before them nothing is said."""
    parts = (side.tokens[segment.start : segment.end] for segment in side.segments if segment.name == "answer")
    return [token for part in parts for token in part]


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
