"""`regard evidence`: which sentences of a prompt an answer came from.

Enters: a file with a prompt, an answer. Leaves: a table, and a page with tint over the text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.base.errors import MissingFileError, UserError
from regard.commands.shared import Json, Loading, expand_options, out, size_of, working


@expand_options
def evidence(
    prompt: Annotated[
        str | None, typer.Argument(help="A text file with the prompt; - reads standard input.", show_default=False)
    ] = None,
    *,
    answer: Annotated[
        str | None, typer.Option(help="What was answered.", show_default="what the model answers")
    ] = None,
    question: Annotated[str | None, typer.Option(help="Put after the prompt, and not searched.")] = None,
    chat: Annotated[bool, typer.Option("--chat", help="Use the model's chat template.")] = False,
    heads: Annotated[str | None, typer.Option(help="Heads that count: 18.6,17.3.", show_default="all")] = None,
    by: Annotated[
        str | None, typer.Option(help="Rank by worth, contribution or attention.", show_default="worth")
    ] = None,
    generate: Annotated[int, typer.Option(help="Most tokens of the model's own answer.", min=1)] = 32,
    count: Annotated[int, typer.Option("--count", "-n", help="Sentences to print.", min=1)] = 5,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Also cut sentences off for real, and compare.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write a page with tint over the text.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A causal language model: hub name, folder or .gguf file.")
    ] = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Show which sentences of a prompt an answer came from, and which heads fetched them.

    - regard evidence prompt.txt --question "What is the code?" --chat -m SmolLM2-135M-Instruct

    - regard evidence prompt.txt --answer "7431" -m SmolLM2-135M-Instruct -o evidence.html
    """
    from regard.ablation.evidence import evidence as find
    from regard.printing.evidence import evidence_report

    if prompt is None:
        raise UserError("name a text file with the prompt: regard evidence prompt.txt -m SmolLM2-135M-Instruct")
    if model is None:
        raise UserError("name a causal language model: -m SmolLM2-135M-Instruct")
    text = _read(prompt)
    loaded = loading.load(model)
    with working("looking for the evidence"):
        found = find(loaded, text, answer, question=question, chat=chat, heads=heads, generate=generate, check=check)
    if by is not None:
        found.ranked(by)  # a measure that is not there is refused before anything is printed
    if output is not None:
        found.save_html(output)
    if as_json:
        out.print_json(json.dumps(found.as_record(), ensure_ascii=False))
        return
    for one in evidence_report(found, count, by):
        out.print(one)
    if output is not None:
        out.print(f"{output} ({size_of(output)})", markup=False)


def _read(prompt: str) -> str:
    if prompt == "-":
        return sys.stdin.read()
    try:
        return Path(prompt).read_text("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{prompt} is not a text file in UTF-8") from None
    except (FileNotFoundError, IsADirectoryError):
        raise MissingFileError(
            f"there is no file {prompt}; pass a text file with the prompt, or - for standard input"
        ) from None
