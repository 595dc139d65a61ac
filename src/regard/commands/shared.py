"""What the commands share: where they print, common options, loading and tracing with progress.

Enters: what was typed. Leaves: models, traces; progress on standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console

from regard.base.errors import UserError
from regard.models.progress import err as err
from regard.models.progress import working as working

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.trace.trace import Trace

out = Console(highlight=False)

Text = Annotated[str | None, typer.Argument(help="The text; - reads standard input.", show_default=False)]
Pair = Annotated[str | None, typer.Argument(help="A second sentence, for models that read pairs.", show_default=False)]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Hub name, folder or .gguf file.", show_default="the built-in all-MiniLM-L6-v2"),
]
Truncate = Annotated[bool, typer.Option("--truncate", help="Cut a text that is too long for the model.")]
Target = Annotated[str | None, typer.Option(help="What the decoder of an encoder-decoder model reads.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@dataclass
class Loading:
    """Options that say how a model is loaded."""

    device: Annotated[str | None, typer.Option(help="Device to run on: cpu, cuda, mps.")] = None
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Read weights that exist only as pickle files.")
    ] = False
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code from the model's repository.")
    ] = False
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact the hub; use local files only.")] = False

    def load(self, model: str | None) -> Model:
        """The model of this name, loaded while showing progress."""
        with working("loading the model"):
            from regard.models.load import load

            return load(model, **vars(self))


@dataclass
class Asking:
    """Options of a question about one text: what its decoder reads, of which model, and how the answer is printed."""

    target: Target = None
    truncate: Truncate = False
    model: ModelName = None
    as_json: Json = False

    def answer(self, record: Mapping[str, Any], shown: Iterable[Any]) -> bool:
        """Print the answer, as JSON where that was asked for; says whether it is for people."""
        if self.as_json:
            out.print_json(json.dumps(record, ensure_ascii=False))
        else:
            for one in shown:
                out.print(one, markup=False, emoji=False)  # the brackets are those of tokens
        return not self.as_json


@dataclass
class Tracing:
    """Options that say what is traced besides the text."""

    target: Target = None
    generate: Annotated[int | None, typer.Option(help="Let a causal model continue for this many tokens.", min=1)] = (
        None
    )
    image: Annotated[Path | None, typer.Option(help="An image, for vision models.")] = None
    audio: Annotated[Path | None, typer.Option(help="A wav or flac file, for speech models.")] = None
    seconds: Annotated[str | None, typer.Option(help="The part of a sound: from-to, such as 30-60.")] = None
    truncate: Truncate = False
    half: Annotated[bool, typer.Option("--half", help="Keep q, k and v in 16 bits: half the memory.")] = False

    def __post_init__(self) -> None:
        """Read the files before a model is loaded: a bad one is refused at once."""
        from regard.models.audio import read_sound
        from regard.models.images import read_picture

        seconds = _seconds(self.seconds)
        image = None if self.image is None else read_picture(self.image)
        audio = None if self.audio is None else read_sound(self.audio, seconds)
        self._read = {"image": image, "audio": audio, "seconds": seconds}

    def trace(self, model: Model, text: str | None, pair: str | None, **options: Any) -> Trace:
        """The trace of a text (- is standard input), an image or a sound."""
        if text is None and self.image is None and self.audio is None:
            raise UserError('there is nothing to trace; pass a text in quotes: regard view "The cat sat on the mat."')
        with working("running the model"):
            given = {one.name: getattr(self, one.name) for one in fields(self)} | self._read
            return model.trace(read_text(text), pair, **given, **options)


def _seconds(given: str | None) -> tuple[float, float] | None:
    """The two numbers of "30-60"."""
    if given is None:
        return None
    start, _, end = given.partition("-")
    try:
        return float(start), float(end)
    except ValueError:
        raise UserError(f"--seconds is from-to, such as 0-30, not {given!r}") from None


def expand_options(function: Callable[..., None]) -> Callable[..., None]:
    """A command whose dataclass parameters are replaced by the options they hold."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }
    parameters: list[Parameter] = []
    for name, own in signature(function).parameters.items():
        parameters += _options(groups[name]) if name in groups else [own.replace(annotation=hints[name])]

    @wraps(function)
    def command(**given: Any) -> None:
        filled = {name: group(**{f.name: given.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        function(**given, **filled)

    command.__signature__ = signature(function).replace(  # type: ignore[attr-defined]
        parameters=[p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters]
    )
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _options(group: type) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name]) for f in fields(group)
    ]


def read_text(text: str | None) -> str | None:
    """The text that was typed, or standard input for "-"."""
    return sys.stdin.read() if text == "-" else text


def given_text(text: str | None, example: str) -> str:
    """The same, where there must be one; the example is a command that has it."""
    if text is None:
        raise UserError(f"there is no text; pass one in quotes: regard {example}")
    return read_text(text) or ""


def size_of(path: Path) -> str:
    """A file's size, for people."""
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
