"""`regard replay`: what a model looked at in chats that are over.

Enters: a log and a model's name. Leaves: a page for each answer, and an index of them. Nothing is generated again: one
pass over prompt and answer gives the maps that generation had.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.commands.shared import Loading, err, expand_options, out, working

if TYPE_CHECKING:
    from regard.corpus.readers.chatlog import LoggedAnswer
    from regard.models.model import Model
    from regard.trace.trace import Trace

_SHOWN = 80  # characters of a prompt and an answer in the index


@dataclass(frozen=True)
class _Replayed:
    """A line of the index."""

    line: int
    page: str
    prompt: str
    answer: str
    tokens: int
    why: str = ""  # it was not replayed


@expand_options
def replay(
    log: Annotated[str, typer.Argument(help="Chats as JSON lines; - reads standard input.", show_default=False)],
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="Hub name, folder or .gguf file.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("regard-replay"),
    traces: Annotated[bool, typer.Option("--traces", help="Also write trace files (safetensors).")] = False,
    layers: Annotated[
        str | None, typer.Option(help="Layers to put into the pages, such as 0-5,29.", show_default="all")
    ] = None,
    loading: Loading,
) -> None:
    """Show what a model looked at in logged chats: `regard replay log.jsonl -m SmolLM2-135M-Instruct -o pages`.

    Every line is a JSON object as OpenAI-compatible servers log it: messages; prompt and completion; or a request with
    its response and choices. Prompt and answer run through the model once, nothing is generated, and the maps are those
    that generation had. A line that cannot be read is reported with its number, and the others go on.
    """
    from regard.corpus.readers.chatlog import UnreadLine, read_log

    if log != "-" and not Path(log).is_file():
        raise UserError(f"there is no file {log}; name a log of chats, one JSON object per line")
    chosen = None if layers is None else _numbers(layers)
    loaded = loading.load(model)
    made: list[_Replayed] = []
    for one in read_log(log):
        if isinstance(one, UnreadLine):
            made.append(_unread(one.line, one.why))
            continue
        try:
            with working(f"replaying line {one.line}"):
                made.append(_write(loaded, one, output, traces, chosen))
        except UserError as error:
            made.append(_unread(one.line, str(error)))
    done = [one for one in made if not one.why]
    if not done:
        raise UserError(
            f"{log} has no chat that could be replayed" + (f"; {len(made)} lines were refused" if made else "")
        )
    write_atomic(output / "index.html", lambda path: Path(path).write_text(_index(loaded.name, made), "utf-8"))
    refused = f", {len(made) - len(done)} lines refused" if len(done) < len(made) else ""
    out.print(
        f"{len(done)} answers replayed{refused}: [bold]{(output / 'index.html').resolve()}[/bold]", soft_wrap=True
    )


def _unread(line: int, why: str) -> _Replayed:
    err.print(f"line {line}: {why}", markup=False, soft_wrap=True)
    return _Replayed(line, "", "", "", 0, why)


def _write(model: Model, one: LoggedAnswer, folder: Path, traces: bool, layers: list[int] | None) -> _Replayed:
    """Trace an answer and write its page."""
    trace: Trace = model.trace(one.text, target=one.answer)
    name = f"line-{one.line:04d}" + (f"-{one.choice}" if one.choice else "")
    folder.mkdir(parents=True, exist_ok=True)
    answer = next((part for part in trace.segments if part.name == "answer"), None)
    tokens = [] if answer is None else [token for token in trace.tokens[answer.start :] if not token.special]
    said = "".join(token.text if token.adds is None else token.adds for token in tokens)
    asked = one.text if isinstance(one.text, str) else _last_of_user(one.text.messages)
    trace.save_html(folder / f"{name}.html", view="heads", layers=layers, title=f"line {one.line} · {model.name}")
    if traces:
        trace.save(folder / f"{name}.safetensors")
    return _Replayed(one.line, f"{name}.html", asked, said.strip(), len(trace.tokens))


def _last_of_user(messages: tuple[dict[str, Any], ...]) -> str:
    return next((str(one["content"]) for one in reversed(messages) if one["role"] == "user"), "")


def _index(model: str, made: list[_Replayed]) -> str:
    """The page that leads to the others; texts of the log are escaped."""
    from regard.studies.article import page

    rows = "".join(
        f'<tr><td>{one.line}</td><td class="text">{html.escape(one.why)}</td><td></td><td></td></tr>'
        if one.why
        else f'<tr><td><a href="{one.page}">{one.line}</a></td><td class="text">{html.escape(_short(one.prompt))}</td>'
        f'<td class="text">{html.escape(_short(one.answer))}</td><td>{one.tokens:,}</td></tr>'
        for one in made
    )
    title = f"Replayed with {model}"
    return page(
        title,
        f"<h1>{html.escape(title)}</h1><p>Prompt and answer went through the model once; the maps are those it has "
        "when it generates these tokens.</p><table><thead><tr><th>line</th><th>asked</th><th>answered</th>"
        f"<th>tokens</th></tr></thead><tbody>{rows}</tbody></table>",
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"


def _numbers(layers: str) -> list[int]:
    """Layers written as 0-5,29."""
    found: list[int] = []
    try:
        for part in layers.split(","):
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    except ValueError:
        raise UserError(
            f"--layers {layers} is not a list of layers; write numbers and ranges, such as 0-5,29"
        ) from None
    return found
